/** What of a view can be drawn as lines over time, and where its points lie. Pure. */

import { instantOf } from "./dates";
import type { ViewRow } from "./types";

export interface Point {
  row: ViewRow;
  time: number;
  value: number;
}

export interface Band {
  low: number | null;
  high: number | null;
}

export interface Series {
  name: string;
  unit: string;
  points: Point[];
  /** The reference range, where all values have the same. */
  band: Band | null;
  range: string;
}

const EDGES = /^\s*(\d+(?:\.\d+)?)\s*[-–]\s*(\d+(?:\.\d+)?)\s*$/;
const ONE_EDGE = /^\s*(<=?|>=?)\s*(\d+(?:\.\d+)?)\s*$/;

/** Values of one thing in one unit, the oldest first; what has no two points is not drawn. */
export function seriesOf(rows: ViewRow[]): Series[] {
  const groups = new Map<string, Point[]>();
  for (const row of rows) {
    const time = instantOf(row.date);
    if (row.number === null || time === null) continue;
    const key = JSON.stringify([row.name, row.unit]);
    groups.set(key, [...(groups.get(key) ?? []), { row, time, value: row.number }]);
  }
  return [...groups.values()]
    .filter((points) => new Set(points.map((point) => point.time)).size > 1)
    .map(described);
}

function described(found: Point[]): Series {
  const points = found.toSorted((one, other) => one.time - other.time);
  const { name, unit } = (points[0] as Point).row;
  const ranges = new Set(points.map((point) => point.row.range).filter(Boolean));
  const range = ranges.size === 1 ? ([...ranges][0] as string) : "";
  return { name, unit, points, range, band: bandOf(range) };
}

/** The edges of a range that is written as numbers; a range in words is not drawn. */
export function bandOf(range: string): Band | null {
  const both = EDGES.exec(range);
  if (both) return { low: Number(both[1]), high: Number(both[2]) };
  const one = ONE_EDGE.exec(range);
  if (!one) return null;
  const edge = Number(one[2]);
  return one[1]?.startsWith("<") ? { low: null, high: edge } : { low: edge, high: null };
}

export interface Scale {
  low: number;
  high: number;
  ticks: number[];
}

/** A scale of round steps that holds all values and the range. */
export function scaleOf(series: Series): Scale {
  const edges = [series.band?.low, series.band?.high].filter((edge) => typeof edge === "number");
  const values = [...series.points.map((point) => point.value), ...edges];
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const span = most - least || Math.abs(most) || 1;
  const power = 10 ** Math.floor(Math.log10(span / 3));
  const step = power * ([1, 2, 5, 10].find((one) => one * power * 3 >= span) ?? 10);
  const first = Math.floor((least - span * 0.05) / step);
  const last = Math.ceil((most + span * 0.05) / step);
  // Nothing of which no value is negative is drawn below zero.
  const from = least >= 0 ? Math.max(first, 0) : first;
  const ticks = Array.from({ length: last - from + 1 }, (_, at) =>
    Number(((from + at) * step).toPrecision(12)),
  );
  return { low: ticks[0] as number, high: ticks.at(-1) as number, ticks };
}
