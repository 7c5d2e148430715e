/** Free times that an answer offers, to be pressed instead of written. Pure. */

import type { Turn } from "./chat";

const OFFERS = "available_slots";
const DAY = /\b\d{4}-\d{2}-\d{2}\b/g;
const TIME = /\b\d{2}:\d{2}\b/g;

/** Those of one day, where the answer asks which suits; none where a time alone would say too little. */
export function timesOffered(turn: Turn): string[] {
  const last = turn.items.at(-1);
  if (last?.kind !== "agent" || !last.text.trimEnd().endsWith("?")) return [];
  const isOffered = turn.items.some((item) => item.kind === "tool" && item.tool === OFFERS && !item.isError);
  const days = new Set(last.text.match(DAY));
  const times = [...new Set(last.text.match(TIME))];
  return isOffered && days.size === 1 && times.length > 1 ? times : [];
}
