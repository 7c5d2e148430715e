/** RFC 6902, on plain JSON values; the document that goes in is not changed. */

import type { PatchOperation } from "./types";

type Container = Record<string, unknown> | unknown[];

export function applyPatch<T>(document: T, operations: PatchOperation[]): T {
  const root: { value: unknown } = { value: structuredClone(document) };
  for (const operation of operations) apply(root as Record<string, unknown>, operation);
  return root.value as T;
}

function apply(root: Record<string, unknown>, operation: PatchOperation): void {
  switch (operation.op) {
    case "add":
    case "replace":
      put(root, operation.path, operation.value, operation.op === "add");
      return;
    case "remove":
      remove(root, operation.path);
      return;
    case "move": {
      const value = get(root, operation.from ?? "");
      remove(root, operation.from ?? "");
      put(root, operation.path, value, true);
      return;
    }
    case "copy":
      put(root, operation.path, structuredClone(get(root, operation.from ?? "")), true);
      return;
    case "test":
      return;
  }
}

function parts(path: string): string[] {
  // The wrapper's own key first, so that the whole document has a parent too.
  const keys = path.split("/").slice(1);
  return ["value", ...keys.map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))];
}

function parentOf(root: Container, path: string): [Container, string] {
  const keys = parts(path);
  const last = keys.pop() ?? "value";
  let here: Container = root;
  for (const key of keys) {
    const next: unknown = Array.isArray(here) ? here[Number(key)] : here[key];
    if (typeof next !== "object" || next === null) throw new Error("patch does not fit");
    here = next as Container;
  }
  return [here, last];
}

function get(root: Container, path: string): unknown {
  const [parent, key] = parentOf(root, path);
  return Array.isArray(parent) ? parent[Number(key)] : parent[key];
}

function put(root: Container, path: string, value: unknown, inserts: boolean): void {
  const [parent, key] = parentOf(root, path);
  if (!Array.isArray(parent)) parent[key] = value;
  else if (key === "-") parent.push(value);
  else if (inserts) parent.splice(Number(key), 0, value);
  else parent[Number(key)] = value;
}

function remove(root: Container, path: string): void {
  const [parent, key] = parentOf(root, path);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}
