import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import type { Turn } from "./chat";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import type { Session } from "./types";
import { WindowedTurns } from "./windowed";
import { spaced } from "./words";

const NEAR_END_PIXELS = 80;
const ROUNDING_PIXELS = 4;
const SPOKEN_CHARS = 300;

export interface TurnActions {
  /** Goes back to before a message, with its words in the composer. */
  onEdit: (turn: Turn) => void;
  onResend: (text: string) => void;
  /** Takes back a message that waits behind a running turn. */
  onWithdraw: (runId: string) => void;
  /** Asks the same again about the same patient; what is there stays. */
  onRepeat: (text: string, patientId: string) => void;
  onSource: (opened: Opened) => void;
  /** Shows what stands behind the answer of a run. */
  onReceipt: (runId: string) => void;
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
  const list = useFollowed(turns, follows);
  useKeptPlace(turns, list);
  return (
    <>
      <h2 class="visually-hidden">{strings.transcript.label}</h2>
      {onEarlier && (
        <p class="earlier">
          <button type="button" class="button" onClick={onEarlier}>
            {strings.transcript.earlier}
          </button>
        </p>
      )}
      <ol ref={list} class="transcript" aria-label={strings.transcript.label}>
        <WindowedTurns turns={turns} session={session} actions={actions} />
      </ol>
      <Announcer turns={turns} />
    </>
  );
}

/** What scrolls: the middle, or in a low window everything but whom it is about. */
function scrollerOf(middle: Element): Element {
  const isLow = getComputedStyle(middle).overflowY === "visible";
  return (isLow && middle.closest(".room")) || middle;
}

/** How far to scroll so that the newest question stays in view while its answer grows below it; null for not at all. */
export function followedTo(scrollTop: number, questionTop: number, end: number): number | null {
  // Who has read on beyond the question follows the end of the answer.
  const wanted = scrollTop > questionTop + ROUNDING_PIXELS ? end : Math.min(questionTop, end);
  return wanted > scrollTop ? wanted : null;
}

function follow(box: Element, list: Element | null): void {
  const scroller = scrollerOf(box);
  const end = scroller.scrollHeight - scroller.clientHeight;
  const question = list?.lastElementChild;
  const padding = Number.parseFloat(getComputedStyle(scroller).scrollPaddingTop) || 0;
  const inside = (question?.getBoundingClientRect().top ?? 0) - scroller.getBoundingClientRect().top;
  const top = question ? scroller.scrollTop + inside - padding : end;
  const to = followedTo(scroller.scrollTop, top, end);
  if (to !== null) scroller.scrollTop = to;
}

/** Follows new text until its question is at the top of the window, unless the reader has scrolled up. */
function useFollowed(turns: Turn[], isWanted: boolean) {
  const list = useRef<HTMLOListElement>(null);
  const follows = useRef(true);
  const wanted = useRef(isWanted);
  wanted.current = isWanted;
  useEffect(() => {
    const room = list.current?.closest(".room");
    const box = list.current?.closest(".middle");
    if (!room || !box || !list.current) return undefined;
    let before = scrollerOf(box).scrollTop;
    // Text may have grown since the page scrolled itself: only who moves up stops following.
    const note = (): void => {
      const { scrollHeight, scrollTop, clientHeight } = scrollerOf(box);
      const isNear = scrollHeight - scrollTop - clientHeight < NEAR_END_PIXELS;
      if (isNear) follows.current = true;
      else if (scrollTop < before) follows.current = false;
      before = scrollTop;
    };
    // A card below takes room from the end of the text; what is drawn as it comes near changes its height.
    const resized = new ResizeObserver(() => {
      if (follows.current && wanted.current) follow(box, list.current);
    });
    resized.observe(box);
    resized.observe(list.current);
    room.addEventListener("scroll", note, { passive: true, capture: true });
    return () => {
      resized.disconnect();
      room.removeEventListener("scroll", note, { capture: true });
    };
  }, []);
  const newest = turns.at(-1)?.key;
  useEffect(() => {
    follows.current = true;
  }, [newest]);
  // What grows is followed as it is laid out, by the observer: asked here too, it would be laid out twice.
  useEffect(() => {
    const box = list.current?.closest(".middle");
    if (box && follows.current && isWanted) follow(box, list.current);
  }, [newest, isWanted]);
  return list;
}

/** Keeps what is read where it is while older turns are put before it. */
function useKeptPlace(turns: Turn[], list: { current: Element | null }): void {
  const first = turns[0]?.key;
  const seen = useRef<{ first: string | undefined; fromEnd: number | null }>({ first, fromEnd: null });
  const boxOf = (): Element | null => {
    const middle = list.current?.closest(".middle");
    return middle ? scrollerOf(middle) : null;
  };
  if (first !== seen.current.first) {
    // Measured while drawing: afterwards the older turns are there already.
    const box = boxOf();
    const isMore = turns.some((turn) => turn.key === seen.current.first);
    seen.current = { first, fromEnd: box && isMore ? box.scrollHeight - box.scrollTop : null };
  }
  useLayoutEffect(() => {
    const box = boxOf();
    if (box && seen.current.fromEnd !== null) box.scrollTop = box.scrollHeight - seen.current.fromEnd;
    seen.current.fromEnd = null;
  }, [first]);
}

/** An answer as it is read out: without marks, and of a long one how it begins. */
function spoken(text: string): string {
  const plain = text
    .replace(/\[[A-Z]\w+\/[\w.-]+\]/g, "")
    .replace(/[*`#|>]+/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (plain.length <= SPOKEN_CHARS) return plain;
  return strings.transcript.andMore(plain.slice(0, plain.lastIndexOf(" ", SPOKEN_CHARS)));
}

/** Tells screen readers of whole messages, not of every word as it comes. */
function Announcer({ turns }: { turns: Turn[] }) {
  const last = turns.at(-1);
  const done = last?.items.findLast((item) => item.kind !== "tool" && (item.kind !== "agent" || item.isDone));
  const [text, setText] = useState("");
  useEffect(() => {
    if (!last || last.status === "sending") setText("");
    else if (done?.kind === "agent") setText(`${spaced(done.agent)}: ${spoken(done.text)}`);
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
