/** Finds in a source what an answer says of it. Pure. */

export interface Span {
  start: number;
  end: number;
  /** Whether these are the quoted words themselves. */
  isQuote: boolean;
}

// A full stop inside a number ends nothing.
const SEGMENT = /(?:[^\n.!?;]|[.!?;](?!\s))+[.!?;]*/g;
const WORD = /[\p{L}\p{N}][\p{L}\p{N}.-]*/gu;
/** Below this share of the statement's words a passage is no more than a guess. */
const ENOUGH = 0.3;

/**
 * Return where `text` holds `quote`, else the passage that shares most with `statement`.
 *
 * A quote that is no more than the beginning of the text tells less than the statement does.
 */
export function findPassage(text: string, quote: string | null, statement: string | null): Span | null {
  const quoted = quote === null ? null : exact(text, quote);
  if (quoted && quoted.start > 0) return quoted;
  const said = statement === null ? null : (exact(text, statement) ?? closest(text, statement));
  return said ?? quoted ?? (quote === null ? null : closest(text, quote));
}

/** Case and runs of white space do not count: quotes were made flat. */
function exact(text: string, quote: string): Span | null {
  const wanted = flat(quote.replace(/…$/, "")).text.trim();
  if (wanted.length < 3) return null;
  const whole = flat(text);
  const found = whole.text.indexOf(wanted);
  if (found < 0) return null;
  const last = whole.places[found + wanted.length - 1] ?? 0;
  return { start: whole.places[found] ?? 0, end: last + 1, isQuote: true };
}

/** The text in lower case with single spaces, and where each of its units stood. */
function flat(text: string): { text: string; places: number[] } {
  const places: number[] = [];
  let made = "";
  for (let place = 0; place < text.length; place += 1) {
    const unit = text[place] as string;
    const isSpace = /\s/.test(unit);
    if (isSpace && (made === "" || made.endsWith(" "))) continue;
    const lower = unit.toLowerCase();
    // A few letters grow in lower case; every place must keep its own.
    made += isSpace ? " " : lower.length === 1 ? lower : unit;
    places.push(place);
  }
  return { text: made, places };
}

function closest(text: string, statement: string): Span | null {
  const wanted = words(statement);
  if (wanted.size < 2) return null;
  let best: Span | null = null;
  let bestScore = 0;
  for (const found of text.matchAll(SEGMENT)) {
    const shared = [...words(found[0])].filter((word) => wanted.has(word)).length;
    if (shared < 2 || shared / wanted.size < ENOUGH || shared <= bestScore) continue;
    const lead = found[0].length - found[0].trimStart().length;
    bestScore = shared;
    best = { start: found.index + lead, end: found.index + found[0].trimEnd().length, isQuote: false };
  }
  return best;
}

const words = (text: string): Set<string> =>
  new Set((text.toLowerCase().match(WORD) ?? []).filter((word) => word.length > 2 || /\d/.test(word)));
