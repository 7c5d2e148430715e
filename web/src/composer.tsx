import { useEffect, useRef } from "preact/hooks";

import { strings } from "./strings";

const said = strings.composer;
const LIMIT_CHARS = 16_000;
const WARN_CHARS = 15_000;
/** A pointer and a keyboard of its own: where there is none, focus would open one on the screen. */
const HAS_KEYBOARD = "(hover: hover) and (pointer: fine)";

const FIELD = "message";

/** Goes to where one writes, without opening a keyboard on a touch screen. */
export function goToMessage(): void {
  if (matchMedia(HAS_KEYBOARD).matches) document.getElementById(FIELD)?.focus();
}

interface ComposerProps {
  draft: string;
  onDraft: (draft: string) => void;
  isBusy: boolean;
  canSend: boolean;
  /** Messages behind the running turn. */
  waiting: number;
  patientId: string | null;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ draft, onDraft, isBusy, canSend, waiting, patientId, onSend, onStop }: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // Code points, as the server counts.
  const length = [...draft].length;
  const isSendable = canSend && draft.trim() !== "" && length <= LIMIT_CHARS;
  useEffect(() => {
    const box = field.current;
    if (!box) return;
    box.rows = Math.min(8, draft.split("\n").length);
    // A draft that a button began is to be finished here.
    if (draft !== "" && document.activeElement !== box) {
      box.focus();
      box.setSelectionRange(draft.length, draft.length);
    }
  }, [draft]);
  useEffect(() => {
    const isFree = document.activeElement === null || document.activeElement === document.body;
    if (isFree) goToMessage();
  }, []);
  const submit = (): void => {
    if (!isSendable) return;
    onSend(draft.trim());
    onDraft("");
  };
  const key = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <label class="visually-hidden" for={FIELD}>
        {said.label}
      </label>
      <textarea
        id={FIELD}
        ref={field}
        rows={1}
        value={draft}
        placeholder={patientId ? said.ask(patientId) : said.askAnyone}
        aria-describedby="message-hint"
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={key}
      />
      <span id="message-hint" class={length > WARN_CHARS ? "counter" : "visually-hidden"}>
        {length > WARN_CHARS
          ? said.used(length, LIMIT_CHARS)
          : said.hint}
      </span>
      {waiting > 0 && <span class="counter">{said.waiting(waiting)}</span>}
      {isBusy && (
        <button type="button" class="button" onClick={onStop}>
          {said.stop}
        </button>
      )}
      <button type="submit" class="button primary" disabled={!isSendable}>
        {said.send}
      </button>
    </form>
  );
}
