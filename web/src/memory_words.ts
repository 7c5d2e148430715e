import { shownMoment } from "./dates";
import { strings } from "./strings";
import { plain } from "./words";

const said = strings.memory;
// What only programs need; the item's own name stands above.
const UNTOLD = new Set(["id", "kind", "title", "name", "slot_id"]);
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** The members of a value that people read. */
export function telling(value: object): [string, unknown][] {
  const rows = Object.entries(value);
  const told = rows.filter(([name, one]) => !UNTOLD.has(name) && one !== null && one !== "");
  return told.length > 0 ? told : rows;
}

/** A remembered value as people read it. */
export function worded(value: unknown): string {
  if (value === null || value === undefined) return said.nothing;
  if (typeof value === "boolean") return value ? said.isSo : said.isNotSo;
  if (typeof value === "string") {
    return MOMENT.test(value) ? shownMoment(value) : value;
  }
  if (Array.isArray(value)) return value.map(worded).join(", ");
  if (typeof value !== "object") return String(value);
  const told = telling(value);
  if (told.length === 1) return worded(told[0]?.[1]);
  return told.map(([name, one]) => `${plain(name)} ${worded(one)}`).join(", ");
}
