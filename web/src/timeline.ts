/** What of a timeline can be drawn, in which lane, and how the window on it moves. Pure. */

import { instantOf } from "./dates";
import { strings } from "./strings";
import type { ViewRow } from "./types";

/** What lasts has a lane of its own, from its beginning to its end; all else is a point in the lane of its kind. */
const LASTING = ["problem", "medication"];
/** What happened in a moment of a larger day is no less than this wide. */
const LEAST_SPAN_MS = 7 * 24 * 3600 * 1000;

export interface TimelineEvent {
  row: ViewRow;
  from: number;
  /** Where it lasts: its end, or Infinity while it goes on; null where the record names no end. */
  to: number | null;
  lane: number;
}

export interface Span {
  from: number;
  to: number;
}

export interface Timeline {
  lanes: string[];
  /** In order of time. */
  events: TimelineEvent[];
  whole: Span;
}

/** Rows with a date, in lanes; null where there are no two moments to draw. */
export function timelineOf(rows: ViewRow[]): Timeline | null {
  const lanes: string[] = [];
  const events: TimelineEvent[] = [];
  for (const row of rows.toSorted((one, other) => placeOf(one) - placeOf(other))) {
    const from = instantOf(row.date);
    if (from === null) continue;
    const name = LASTING.includes(row.kind) ? row.name : (strings.chart.kinds[row.kind] ?? row.kind);
    if (!lanes.includes(name)) lanes.push(name);
    events.push({ row, from, to: endOf(row, from), lane: lanes.indexOf(name) });
  }
  events.sort((one, other) => one.from - other.from);
  const [first, last] = [events[0], events.at(-1)];
  if (!first || !last || first.from === last.from) return null;
  const ends = events.map(({ to }) => (to === null || to === Number.POSITIVE_INFINITY ? 0 : to));
  return { lanes, events, whole: { from: first.from, to: Math.max(last.from, ...ends) } };
}

/** What lasts stands above what happened. */
function placeOf(row: ViewRow): number {
  const place = LASTING.indexOf(row.kind);
  return place < 0 ? LASTING.length : place;
}

function endOf(row: ViewRow, from: number): number | null {
  if (!LASTING.includes(row.kind)) return from;
  const end = row.end ? instantOf(row.end) : null;
  return end ?? (strings.chart.ongoing.includes(row.status) ? Number.POSITIVE_INFINITY : null);
}

/** The window half or twice as wide around a moment, never beyond all there is. */
export function zoomed(shown: Span, whole: Span, at: number, factor: number): Span {
  const wide = whole.to - whole.from;
  const span = Math.max(Math.min((shown.to - shown.from) * factor, wide), Math.min(LEAST_SPAN_MS, wide));
  return within({ from: at - span / 2, to: at + span / 2 }, whole);
}

/** The window moved so that a moment is in it. */
export function showing(shown: Span, whole: Span, at: number): Span {
  if (at >= shown.from && at <= shown.to) return shown;
  const half = (shown.to - shown.from) / 2;
  return within({ from: at - half, to: at + half }, whole);
}

function within(span: Span, whole: Span): Span {
  const width = span.to - span.from;
  const from = Math.max(whole.from, Math.min(span.from, whole.to - width));
  return { from, to: from + width };
}
