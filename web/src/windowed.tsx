/** Draws of a long conversation what is near the window; the rest is its words alone, which the browser finds. */

import { flushSync, memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { isOpen, type Turn } from "./chat";
import type { TurnActions } from "./transcript";
import { TurnView } from "./turn_view";
import type { Session } from "./types";

/** Shorter conversations are drawn whole. */
export const WINDOWED_FROM = 20;
/** The end is drawn at once: it is what is read first. */
const ALWAYS_DRAWN = 2;
const MARGIN = "1000px 0px";
const CHARS_PER_LINE = 80;
const LINE_PIXELS = 24;
const FRAME_PIXELS = 110;

type Noted = (isNear: boolean, height: number) => void;

/** One observer for all turns: each is told when it comes near the window and when it goes. */
class Nearness {
  private readonly noted = new Map<Element, Noted>();
  private readonly observer = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        this.noted.get(entry.target)?.(entry.isIntersecting, entry.boundingClientRect.height);
      }
    },
    // The conversation scrolls inside the page: only the second margin reaches beyond its edges.
    { rootMargin: MARGIN, scrollMargin: MARGIN } as IntersectionObserverInit,
  );

  watch(element: Element, noted: Noted): () => void {
    this.noted.set(element, noted);
    this.observer.observe(element);
    return () => {
      this.noted.delete(element);
      this.observer.unobserve(element);
    };
  }
}

let nearness: Nearness | null = null;

interface WindowedProps {
  turns: Turn[];
  session: Session;
  actions: TurnActions;
}

export function WindowedTurns({ turns, session, actions }: WindowedProps) {
  const isPrinting = usePrinting();
  const firstDrawn = turns.length - ALWAYS_DRAWN;
  if (turns.length < WINDOWED_FROM) {
    return turns.map((turn) => (
      <li class="turn" key={turn.key}>
        <TurnView turn={turn} session={session} actions={actions} />
      </li>
    ));
  }
  return turns.map((turn, at) => (
    <WindowedTurn
      key={turn.key}
      turn={turn}
      session={session}
      actions={actions}
      isKept={isPrinting || at >= firstDrawn || isOpen(turn)}
    />
  ));
}

/** Paper holds everything. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const paper = matchMedia("print");
    // The page is laid out for paper right after this event.
    const before = (): void => flushSync(() => setPrinting(true));
    const after = (): void => setPrinting(false);
    const changed = (): void => (paper.matches ? before() : after());
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    paper.addEventListener("change", changed);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
      paper.removeEventListener("change", changed);
    };
  }, []);
  return isPrinting;
}

interface WindowedTurnProps {
  turn: Turn;
  session: Session;
  actions: TurnActions;
  isKept: boolean;
}

const WindowedTurn = memo(function WindowedTurn({ turn, session, actions, isKept }: WindowedTurnProps) {
  const place = useRef<HTMLLIElement>(null);
  const height = useRef<number | null>(null);
  const [isNear, setNear] = useState(isKept);
  useLayoutEffect(() => {
    const item = place.current;
    if (item === null) return undefined;
    nearness ??= new Nearness();
    // The browser's own search is about to show what it found here.
    const found = (): void => flushSync(() => setNear(true));
    item.addEventListener("beforematch", found);
    const unwatch = nearness.watch(item, (isNowNear, pixels) => {
      if (!isNowNear && isInUse(item)) return;
      if (!isNowNear && !item.classList.contains("away")) height.current = pixels;
      setNear(isNowNear);
    });
    return () => {
      unwatch();
      item.removeEventListener("beforematch", found);
    };
  }, []);
  const isDrawn = isKept || isNear;
  return (
    <li
      ref={place}
      class={isDrawn ? "turn" : "turn away"}
      style={isDrawn ? undefined : { height: `${height.current ?? estimatedHeight(turn)}px` }}
    >
      {isDrawn ? (
        <TurnView turn={turn} session={session} actions={actions} />
      ) : (
        <div hidden="until-found">{wordsOf(turn)}</div>
      )}
    </li>
  );
});

/** What somebody marks, works in or has opened stays as it is. */
function isInUse(element: HTMLElement): boolean {
  const selection = getSelection();
  const isMarked = selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  return (
    isMarked || element.contains(document.activeElement) || element.querySelector("details[open]") !== null
  );
}

/** All that is said in a turn, as it is searched for. */
export function wordsOf(turn: Turn): string {
  return [turn.text, ...turn.items.map((item) => ("text" in item ? item.text : ""))]
    .filter(Boolean)
    .join("\n");
}

/** About how high a turn is that was never drawn, in pixels. */
export function estimatedHeight(turn: Turn): number {
  const lines = wordsOf(turn)
    .split("\n")
    .reduce((sum, line) => sum + Math.ceil(line.length / CHARS_PER_LINE), 0);
  return FRAME_PIXELS + lines * LINE_PIXELS;
}
