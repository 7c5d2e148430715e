/** What is offered while one writes: `/` at the beginning for a template, `@` for who is to answer. */

import { strings } from "./strings";
import type { Session } from "./types";

const SHOWN = 8;

export interface Suggestion {
  id: string;
  label: string;
  details: string;
  /** The draft once it is taken. */
  draft: string;
}

/** Those that fit what stands before the caret at the end of a draft; none for any other text. */
export function suggestionsFor(draft: string, agents: Session["agents"]): Suggestion[] {
  if (draft.startsWith("/")) return templates(draft.slice(1).toLowerCase());
  const at = draft.lastIndexOf("@");
  const isWord = at >= 0 && (at === 0 || /\s/.test(draft.charAt(at - 1)));
  return isWord ? names(draft.slice(0, at), draft.slice(at + 1).toLowerCase(), agents) : [];
}

function templates(begun: string): Suggestion[] {
  return strings.composer.templates
    .filter(([name]) => name.startsWith(begun))
    .slice(0, SHOWN)
    .map(([name, text]) => ({ id: `template-${name}`, label: `/${name}`, details: text, draft: text }));
}

function names(before: string, begun: string, agents: Session["agents"]): Suggestion[] {
  return (
    agents
      // A name that is whole is offered nothing: Enter sends.
      .filter(({ name }) => name.toLowerCase().startsWith(begun) && name.length > begun.length)
      .slice(0, SHOWN)
      .map(({ name, description }) => ({
        id: `agent-${name}`,
        label: `@${name}`,
        details: description,
        draft: `${before}@${name} `,
      }))
  );
}
