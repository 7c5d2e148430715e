/** Dates of the record, as recorded and not to be misread: "2 Dec 2026". Pure. */

import { strings } from "./strings";

const RECORDED = /^(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?(?:T(\d{2}:\d{2}))?/;

/** A date, perhaps partial, in the record's own offset; what is none stays as it is. */
export function shownDate(recorded: string, withTime = false): string {
  const found = RECORDED.exec(recorded);
  if (!found) return recorded;
  const [, year, month, day, time] = found;
  const name = month && strings.months[Number(month) - 1];
  if (!name) return recorded.slice(0, 10);
  const said = day ? `${Number(day)} ${name} ${year}` : `${name} ${year}`;
  return withTime && time ? `${said}, ${time}` : said;
}

/** Where on the axis of time a date lies; null where it is none. */
export function instantOf(recorded: string): number | null {
  const found = RECORDED.exec(recorded);
  if (!found) return null;
  const parsed = Date.parse(recorded);
  if (!Number.isNaN(parsed)) return parsed;
  return Date.UTC(Number(found[1]), Number(found[2] ?? 1) - 1, Number(found[3] ?? 1));
}

const clock = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit" });

/** Day and time where the reader is, such as "2 Dec 2026, 09:12". */
export function shownMoment(timestamp: string): string {
  const at = new Date(timestamp);
  return `${at.getDate()} ${strings.months[at.getMonth()]} ${at.getFullYear()}, ${clock.format(at)}`;
}
