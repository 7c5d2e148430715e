import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import type { Turn } from "./chat";
import { strings } from "./strings";

const said = strings.search;
const HIGHLIGHT = "search";
const HIGHLIGHT_LIMIT = 500;

/** The turns that hold the words, in what was asked or answered. */
export function matching(turns: Turn[], query: string): Turn[] {
  const wanted = query.trim().toLowerCase();
  if (wanted === "") return turns;
  return turns.filter((turn) =>
    [turn.text, ...turn.items.map((item) => ("text" in item ? item.text : ""))].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
}

interface SearchBarProps {
  query: string;
  found: number;
  /** Whether older messages are still to be read. */
  isReading: boolean;
  onQuery: (query: string) => void;
  onClose: () => void;
}

export function SearchBar({ query, found, isReading, onQuery, onClose }: SearchBarProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const outcome = found > 0 ? said.found(found) : isReading ? "" : said.nothing;
  return (
    <search class="search-bar">
      <input
        ref={field}
        type="search"
        aria-label={said.label}
        placeholder={said.label}
        value={query}
        onInput={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && onClose()}
      />
      <span class="search-count" role="status">
        {query.trim() !== "" && `${outcome} ${isReading ? said.reading : ""}`}
      </span>
      <button type="button" class="button" aria-label={said.close} onClick={onClose}>
        {strings.close}
      </button>
    </search>
  );
}

/** Marks the words wherever they stand, without touching the text itself. */
export function useHighlight(query: string, turns: Turn[]): void {
  useLayoutEffect(() => {
    if (!("highlights" in CSS)) return undefined;
    const wanted = query.trim().toLowerCase();
    const root = document.querySelector(".transcript");
    if (wanted === "" || !root) return undefined;
    CSS.highlights.set(HIGHLIGHT, new Highlight(...ranges(root, wanted)));
    return () => void CSS.highlights.delete(HIGHLIGHT);
  }, [query, turns]);
}

function ranges(root: Element, wanted: string): Range[] {
  const found: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && found.length < HIGHLIGHT_LIMIT; node = walker.nextNode()) {
    const text = (node.textContent ?? "").toLowerCase();
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + wanted.length, node.textContent?.length ?? 0));
      found.push(range);
    }
  }
  return found;
}
