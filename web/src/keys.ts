import { useEffect } from "preact/hooks";

import { hasSingleKeys } from "./appearance";
import type { Shown } from "./shell";

const IS_WRITTEN_IN = "input, textarea, select, [contenteditable]";

/** What the key beside the space bar is called here. */
export const CONTROL = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "\u2318" : null;

/** Whether a key is for what composes letters; Safari says of the Enter that ends it only by its old code. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Ctrl-K anywhere; the keys that are letters alone never while somebody writes or a dialog is in front. */
export function useShortcuts(show: (wanted: Shown) => void): void {
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      const wanted = event.defaultPrevented || isComposing(event) ? null : deedOf(event);
      if (wanted === null) return;
      event.preventDefault();
      if (document.querySelector("dialog:modal")) return;
      if (wanted === "message") document.getElementById("message")?.focus();
      else show(wanted);
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [show]);
}

function deedOf(event: KeyboardEvent): Shown | "message" | null {
  const hasControl = event.ctrlKey || event.metaKey;
  if (event.altKey) return null;
  if (hasControl) return event.key.toLowerCase() === "k" && !event.shiftKey ? "palette" : null;
  const isWriting = event.target instanceof Element && event.target.closest(IS_WRITTEN_IN) !== null;
  if (isWriting || !hasSingleKeys()) return null;
  if (event.key === "/") return "message";
  return event.key === "?" ? "shortcuts" : null;
}
