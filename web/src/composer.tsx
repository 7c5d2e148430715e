import { useEffect, useRef } from "preact/hooks";

const LIMIT_CHARS = 16_000;
const WARN_CHARS = 15_000;

interface ComposerProps {
  draft: string;
  onDraft: (draft: string) => void;
  isBusy: boolean;
  canSend: boolean;
  patientId: string | null;
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({ draft, onDraft, isBusy, canSend, patientId, onSend, onStop }: ComposerProps) {
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
      <label class="visually-hidden" for="message">
        Message
      </label>
      <textarea
        id="message"
        ref={field}
        rows={1}
        value={draft}
        placeholder={patientId ? `Ask about ${patientId}` : "Name a patient and ask"}
        aria-describedby="message-hint"
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={key}
      />
      <span id="message-hint" class={length > WARN_CHARS ? "counter" : "visually-hidden"}>
        {length > WARN_CHARS
          ? `${length.toLocaleString()} of ${LIMIT_CHARS.toLocaleString()} characters`
          : "Enter sends, Shift and Enter begin a new line"}
      </span>
      {isBusy && (
        <button type="button" class="button" onClick={onStop}>
          Stop
        </button>
      )}
      <button type="submit" class="button primary" disabled={!isSendable}>
        Send
      </button>
    </form>
  );
}
