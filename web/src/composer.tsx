import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { AttachButton, type Attaching } from "./attaching";
import { BrowserDictation } from "./browser_dictation";
import { Dictation } from "./dictation";
import { isComposing } from "./keys";
import { identityText, Known } from "./patient_mark";
import { strings } from "./strings";
import { LIST, SuggestionList, useSuggestions } from "./suggestion_list";
import type { Session } from "./types";
import type { Draft } from "./use_draft";

const said = strings.composer;
const LIMIT_CHARS = 16_000;
const WARN_CHARS = 15_000;
/** A pointer and a keyboard of its own: where there is none, focus would open one on the screen. */
const HAS_KEYBOARD = "(hover: hover) and (pointer: fine)";

const FIELD = "message";
const NAME_CHARS = 40;

/** An empty box says whom it is about in one line or two, whatever the name. */
const shortened = (name: string): string =>
  name.length > NAME_CHARS ? `${name.slice(0, NAME_CHARS).trimEnd()}…` : name;

/** Goes to where one writes, without opening a keyboard on a touch screen. */
export function goToMessage(): void {
  if (matchMedia(HAS_KEYBOARD).matches) document.getElementById(FIELD)?.focus();
}

interface ComposerProps {
  draft: Draft;
  isBusy: boolean;
  canSend: boolean;
  /** Messages behind the running turn. */
  waiting: number;
  patientId: string | null;
  session: Session;
  onFiles: Attaching["take"];
  onSend: (text: string) => void;
  onStop: () => void;
}

export function Composer({
  draft: { text: draft, writtenFor, set: onDraft, hear },
  isBusy,
  canSend,
  waiting,
  patientId,
  session: { dictation, agents },
  onFiles,
  onSend,
  onStop,
}: ComposerProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const people = useContext(Known);
  // Code points, as the server counts.
  const length = [...draft].length;
  const isSendable = canSend && draft.trim() !== "" && length <= LIMIT_CHARS;
  // At once: after the next paint the reader may have left the box, and would be brought back to it.
  useLayoutEffect(() => {
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
  const [isAsked, setAsked] = useState(false);
  useEffect(() => setAsked(false), [patientId, draft === ""]);
  // Another chart was opened meanwhile, perhaps on another screen.
  const other = writtenFor !== patientId ? writtenFor : null;
  const send = (): void => {
    if (!isSendable) return;
    onSend(draft.trim());
    onDraft("");
    goToMessage();
  };
  const submit = (): void => (other !== null && draft.trim() !== "" ? setAsked(true) : send());
  const suggesting = useSuggestions(draft, agents, onDraft);
  const { shown, current } = suggesting;
  const key = (event: KeyboardEvent): void => {
    if (suggesting.key(event)) return;
    if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
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
      {isAsked && other !== null && <OtherPatient writtenFor={other} patientId={patientId} onSend={send} />}
      {shown.length > 0 && <SuggestionList {...suggesting} />}
      <label class="visually-hidden" for={FIELD}>
        {said.label}
      </label>
      <textarea
        id={FIELD}
        ref={field}
        rows={1}
        value={draft}
        placeholder={
          patientId ? said.ask(shortened(people.get(patientId)?.name ?? "") || patientId) : said.askAnyone
        }
        aria-describedby="message-hint"
        aria-autocomplete="list"
        aria-controls={shown.length > 0 ? LIST : undefined}
        aria-activedescendant={current?.id}
        onInput={(event) => onDraft(event.currentTarget.value)}
        onKeyDown={key}
        onPaste={(event) => {
          if (onFiles(event.clipboardData?.files)) event.preventDefault();
        }}
      />
      <span id="message-hint" class={length > WARN_CHARS ? "counter" : "visually-hidden"}>
        {length > WARN_CHARS ? said.used(length, LIMIT_CHARS) : said.hint}
      </span>
      {waiting > 0 && <span class="counter">{said.waiting(waiting)}</span>}
      <AttachButton onFiles={onFiles} />
      {dictation === "server" && <Dictation patientId={patientId} onText={hear} />}
      {/* What is still being said is about whose chart was open: it ends with it. */}
      {dictation === "browser" && (
        <BrowserDictation key={patientId ?? ""} onText={(words) => hear(words, patientId)} />
      )}
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

interface OtherPatientProps {
  writtenFor: string;
  patientId: string | null;
  onSend: () => void;
}

/** A message that was written for somebody else is not sent before a yes. */
function OtherPatient({ writtenFor, patientId, onSend }: OtherPatientProps) {
  const people = useContext(Known);
  const open = patientId === null ? strings.banner.noPatient : identityText(people, patientId);
  return (
    <div class="strip warning written-for" role="alert">
      {said.writtenFor(identityText(people, writtenFor), open)}{" "}
      <button type="button" class="button" onClick={onSend}>
        {said.sendAnyway(open)}
      </button>
    </div>
  );
}
