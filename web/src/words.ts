/** A program's name in words: `search_record` is "search record". */
export const plain = (name: string): string => name.replaceAll("_", " ");

/** The same at the head of a line: "Search notes". */
export const titled = (name: string): string => name.charAt(0).toUpperCase() + plain(name.slice(1));
