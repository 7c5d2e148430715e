import { useEffect, useLayoutEffect, useState } from "preact/hooks";

import { isComposing } from "./keys";
import { strings } from "./strings";
import { type Suggestion, suggestionsFor } from "./suggestions";
import type { Session } from "./types";

export const LIST = "suggestions";

export interface Suggesting {
  shown: Suggestion[];
  current: Suggestion | undefined;
  take: (one: Suggestion) => void;
  /** Whether a key was for the list. */
  key: (event: KeyboardEvent) => boolean;
}

/** What is offered for a draft, and which of it is marked; Escape puts it away until something else is written. */
export function useSuggestions(
  draft: string,
  agents: Session["agents"],
  onDraft: (draft: string) => void,
): Suggesting {
  const [at, setAt] = useState(0);
  const [putAway, setPutAway] = useState("");
  const shown = draft === putAway ? [] : suggestionsFor(draft, agents);
  const current = shown[Math.min(at, shown.length - 1)];
  useEffect(() => {
    setAt(0);
    setPutAway((before) => (before === draft ? before : ""));
  }, [draft]);
  const take = (one: Suggestion): void => {
    setPutAway(one.draft);
    onDraft(one.draft);
  };
  const key = (event: KeyboardEvent): boolean => {
    if (current === undefined || isComposing(event) || event.shiftKey) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setAt((at + step + shown.length) % shown.length);
    else if (event.key === "Escape") setPutAway(draft);
    else if (event.key === "Enter" || event.key === "Tab") take(current);
    else return false;
    event.preventDefault();
    return true;
  };
  return { shown, current, take, key };
}

/** The list above the message; the focus stays where one writes. */
export function SuggestionList({ shown, current, take }: Suggesting) {
  useLayoutEffect(() => {
    if (current) document.getElementById(current.id)?.scrollIntoView({ block: "nearest" });
  }, [current?.id]);
  return (
    <div id={LIST} class="palette-list suggestions" role="listbox" aria-label={strings.composer.suggestions}>
      {shown.map((one) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the option
        // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
        <div
          key={one.id}
          id={one.id}
          class="palette-option"
          role="option"
          aria-selected={one === current}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => take(one)}
        >
          <span class="side-title">{one.label}</span>
          <span class="side-details">{one.details}</span>
        </div>
      ))}
    </div>
  );
}
