/** Copying: whole answers, and the code and tables inside them. */

import { useState } from "preact/hooks";

import { strings } from "./strings";

const SHOWN_MS = 2_000;

/** Pages that came by plain http have no clipboard. */
const canCopy = (): boolean => "clipboard" in navigator;

async function copied(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return strings.copy.done;
  } catch {
    return strings.copy.failed;
  }
}

interface CopyButtonProps {
  text: string;
  label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<string | null>(null);
  if (!canCopy()) return null;
  const copy = async (): Promise<void> => {
    setOutcome(await copied(text));
    setTimeout(() => setOutcome(null), SHOWN_MS);
  };
  return (
    <button
      type="button"
      class="button tiny"
      aria-label={outcome ?? label}
      title={label}
      onClick={() => void copy()}
    >
      <span aria-live="polite">{outcome ?? <CopyMark />}</span>
    </button>
  );
}

function CopyMark() {
  return (
    <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
      <path
        d="M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3"
        fill="none"
        stroke="currentColor"
        stroke-width="1.3"
        stroke-linejoin="round"
      />
    </svg>
  );
}

/** Give code and tables of an answer a copy button, and tables a frame that scrolls by keyboard. */
export function equip(answer: HTMLElement): void {
  for (const code of answer.querySelectorAll("pre")) {
    code.tabIndex = 0;
    code.before(copyButton(strings.copy.code, () => code.textContent ?? ""));
  }
  for (const table of answer.querySelectorAll("table")) {
    const frame = document.createElement("div");
    frame.className = "table";
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", strings.copy.tableRegion);
    table.replaceWith(frame);
    frame.append(table);
    frame.before(copyButton(strings.copy.table, () => asTabs(table)));
  }
}

function copyButton(label: string, text: () => string): HTMLElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button tiny part-copy";
  button.textContent = label;
  button.hidden = !canCopy();
  button.addEventListener("click", () => {
    void copied(text()).then((outcome) => {
      button.textContent = outcome;
      setTimeout(() => (button.textContent = label), SHOWN_MS);
    });
  });
  return button;
}

/** What spreadsheets take. */
const asTabs = (table: HTMLTableElement): string =>
  [...table.rows]
    .map((row) => [...row.cells].map((cell) => (cell.textContent ?? "").trim()).join("\t"))
    .join("\n");
