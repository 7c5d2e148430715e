import { strings } from "./strings";

/** A program's name in words: `search_record` is "search record". */
export const plain = (name: string): string => name.replaceAll("_", " ");

/** An agent's name as it is read: "PatientStatus" is "Patient Status". Addressed it is in one word. */
export const spaced = (agent: string): string => agent.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, " ");

/** The text with the agents' names, where they stand in stars, as they are read. */
export const withNamesSpaced = (text: string, agents: readonly string[]): string =>
  agents.reduce((now, name) => now.replaceAll(`*${name}*`, `*${spaced(name)}*`), text);

const HAND_BACK = /\s*(?:^|\n)\s*[*_]*back to you,?\s*[*_@]*([\w -]+?)[*_]*[.!]?[*_]*\s*$/i;

/** The text without a last line that only hands over to another agent. */
export function withoutHandBack(text: string, agents: readonly string[]): string {
  const found = HAND_BACK.exec(text);
  const isHandBack = found !== null && found.index > 0 && agents.includes(found[1] ?? "");
  return isHandBack ? text.slice(0, found.index) : text;
}

/** What a tool is called at the head of a line: "Search notes", "Medikamente". */
export const titled = (name: string): string =>
  strings.tool.names[name] ?? name.charAt(0).toUpperCase() + plain(name.slice(1));
