import { useEffect, useRef, useState } from "preact/hooks";

import type { Turn } from "./chat";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import { TurnView } from "./turn_view";
import type { Session } from "./types";

const NEAR_END_PIXELS = 80;

export interface TurnActions {
  /** Puts the words of a message back into the composer. */
  onEdit: (text: string) => void;
  onResend: (text: string) => void;
  onSource: (opened: Opened) => void;
}

interface TranscriptProps {
  turns: Turn[];
  session: Session;
  actions: TurnActions;
  /** Follows new text to its end; a reader of search results stays where they are. */
  follows: boolean;
  /** Reads further into the past; null at its beginning. */
  onEarlier: (() => void) | null;
}

export function Transcript({ turns, session, actions, follows, onEarlier }: TranscriptProps) {
  const end = useStickyEnd(turns, follows);
  return (
    <>
      {onEarlier && (
        <p class="earlier">
          <button type="button" class="button" onClick={onEarlier}>
            {strings.transcript.earlier}
          </button>
        </p>
      )}
      <ol class="transcript" aria-label={strings.transcript.label}>
        {turns.map((turn) => (
          <TurnView key={turn.key} turn={turn} session={session} actions={actions} />
        ))}
      </ol>
      <div ref={end} />
      <Announcer turns={turns} />
    </>
  );
}

/** Follows new text, unless the reader has scrolled up. */
function useStickyEnd(turns: Turn[], isWanted: boolean) {
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const box = end.current?.closest(".middle");
    if (!box) return undefined;
    const note = (): void => {
      follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PIXELS;
    };
    box.addEventListener("scroll", note, { passive: true });
    return () => box.removeEventListener("scroll", note);
  }, []);
  const newest = turns.at(-1)?.key;
  useEffect(() => {
    follows.current = true;
  }, [newest]);
  useEffect(() => {
    if (follows.current && isWanted) end.current?.scrollIntoView({ block: "end" });
  }, [turns, isWanted]);
  return end;
}

/** Tells screen readers of whole messages, not of every word as it comes. */
function Announcer({ turns }: { turns: Turn[] }) {
  const last = turns.at(-1);
  const done = last?.items.findLast((item) => item.kind !== "tool" && (item.kind !== "agent" || item.isDone));
  const [text, setText] = useState("");
  useEffect(() => {
    if (!last || last.status === "sending") setText("");
    else if (done?.kind === "agent") setText(`${done.agent}: ${done.text}`);
    else if (done && done.kind !== "tool") setText(done.text);
    else if (last.status === "stopped") setText(strings.transcript.stopped);
    else setText(strings.transcript.onItsWay);
  }, [last?.key, last?.status, done?.id]);
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}
