/** Marks sentences that the record does not support, in the text that is shown. */

import { strings } from "./strings";
import type { Claim } from "./types";

/** Brackets that Markdown takes for punctuation, so that marks beside them mean what they did. */
const OPEN = "⸢";
const CLOSE = "⸣";
const EITHER = /[⸢⸣]/g;
/** What begins or ends a line of Markdown without being words; brackets there would undo it. */
const LEADS = /^(?:[\s|>#]|[-*+] |\d{1,3}[.)] )*/;
const TRAILS = /[\s|]*$/;

/** The text with brackets around each sentence that nothing supports. */
export function bracketed(text: string, claims: readonly Claim[]): string {
  const marked = claims.filter((claim) => claim.state === "unsupported" && claim.start < claim.end);
  if (marked.length === 0) return text;
  // The server counts characters, not units of UTF-16.
  const chars = [...text.replace(EITHER, " ")];
  for (const { start, end } of marked.toSorted((one, other) => other.start - one.start)) {
    const words = chars.slice(start, end).join("");
    const lead = LEADS.exec(words)?.[0].length ?? 0;
    const trail = Math.min(TRAILS.exec(words)?.[0].length ?? 0, words.length - lead);
    const core = words.slice(lead, words.length - trail);
    if (core === "") continue;
    const whole = `${words.slice(0, lead)}${OPEN}${core}${CLOSE}${words.slice(words.length - trail)}`;
    chars.splice(start, end - start, whole);
  }
  return chars.join("");
}

/** Turn the brackets of shown text into marks that are seen and heard. */
export function markClaims(answer: HTMLElement): void {
  let isInside = false;
  for (const node of textsOf(answer)) {
    if (!isInside && !node.data.includes(OPEN) && !node.data.includes(CLOSE)) continue;
    const parts: Node[] = [];
    for (const part of node.data.split(/([⸢⸣])/)) {
      if (part === OPEN) isInside = true;
      else if (part === CLOSE) {
        if (isInside) parts.push(sign());
        isInside = false;
      } else if (part !== "")
        parts.push(isInside && part.trim() ? marked(part) : document.createTextNode(part));
    }
    node.replaceWith(...parts);
  }
}

function textsOf(answer: HTMLElement): Text[] {
  const walker = document.createTreeWalker(answer, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) found.push(walker.currentNode as Text);
  return found;
}

function marked(words: string): HTMLElement {
  const span = document.createElement("span");
  span.className = "unsupported";
  span.textContent = words;
  return span;
}

function sign(): HTMLElement {
  const span = document.createElement("span");
  span.className = "claim-sign";
  span.title = strings.claims.unsupported;
  const heard = document.createElement("span");
  heard.className = "visually-hidden";
  heard.textContent = ` (${strings.claims.unsupported})`;
  span.append(heard);
  return span;
}

/** What a copy of an answer says at its end of what nothing supports. */
export function claimsInText(text: string, claims: readonly Claim[]): string {
  const chars = [...text];
  const lines = claims
    .filter((claim) => claim.state !== "supported")
    .map((claim) =>
      claim.state === "contradicted"
        ? strings.claims.leftOut(claim.record_says, claim.sources.length > 0)
        : chars.slice(claim.start, claim.end).join("").trim(),
    );
  if (lines.length === 0) return text;
  return [`${text}\n`, `**${strings.claims.heading}**`, ...lines.map((line) => `- ${line}`)].join("\n");
}
