/** A drawn series as a file, with whose it is on it. */

import type { Series } from "./series";

const STYLES = ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-family"] as const;
const NAMESPACE = "http://www.w3.org/2000/svg";
const HEAD = 24;
const COLUMNS = ["date", "name", "value", "unit", "range", "flag"] as const;

/** A cell as a spreadsheet reads it: quoted, and never as a formula. */
function cell(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const harmless = !isNumber && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${harmless.replaceAll('"', '""')}"`;
}

/** The values, the oldest first, after a line with whose they are. */
export function csvOf(series: Series, who: string): string {
  return rowsAsCsv(
    series.points.map(({ row }) => row),
    COLUMNS,
    who,
  );
}

/** Some columns of rows, after a line with whose they are. */
export function rowsAsCsv<T extends string>(
  rows: Record<T, string>[],
  columns: readonly T[],
  who: string,
): string {
  const cells = rows.map((row) => columns.map((column) => cell(row[column])));
  return [[cell(who)], columns.map(cell), ...cells].map((row) => `${row.join(",")}\r\n`).join("");
}

/** The drawing as a picture of its own: styles within it, and whose it is above it. */
export function svgOf(drawn: SVGSVGElement, title: string, who: string): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const parts = [...copy.querySelectorAll("*")];
  for (const [at, from] of [...drawn.querySelectorAll("*")].entries()) {
    const style = getComputedStyle(from);
    for (const name of STYLES) parts[at]?.setAttribute(name, style.getPropertyValue(name));
  }
  const [width, height] = [drawn.clientWidth, drawn.clientHeight];
  copy.removeAttribute("aria-hidden");
  copy.setAttribute("xmlns", NAMESPACE);
  copy.setAttribute("viewBox", `0 ${-HEAD * 2} ${width} ${height + HEAD * 2}`);
  copy.setAttribute("height", String(height + HEAD * 2));
  [who, title].forEach((text, line) => {
    const words = document.createElementNS(NAMESPACE, "text");
    words.textContent = text;
    words.setAttribute("x", "4");
    words.setAttribute("y", String(-HEAD * (2 - line) + 16));
    words.setAttribute("font-size", "13");
    words.setAttribute("fill", getComputedStyle(drawn).color);
    copy.append(words);
  });
  return new XMLSerializer().serializeToString(copy);
}

export function saveAs(text: string, type: string, fileName: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}
