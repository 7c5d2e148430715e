import { useEffect, useRef, useState } from "preact/hooks";

import { csvOf, saveAs, svgOf } from "./chart_export";
import { shownDate } from "./dates";
import { type Point, type Scale, scaleOf, type Series } from "./series";
import { strings } from "./strings";

const said = strings.views;
const HEIGHT = 190;
const EDGE = { left: 48, right: 14, top: 12, bottom: 26 };
const NARROW = 420;

interface LineChartProps {
  series: Series;
  /** Whose values they are, for what is saved of them. */
  who: string;
}

/** One thing over time: values, reference range and flags; the arrow keys go from value to value. */
export function LineChart({ series, who }: LineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const { points } = series;
  const [chosen, choose] = useState(points.length - 1);
  const at = Math.min(chosen, points.length - 1);
  const scale = scaleOf(series);
  const places = placesOf(points, scale, width);
  const key = (event: KeyboardEvent): void => {
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    choose(Math.max(0, Math.min(points.length - 1, next)));
  };
  const point = (event: PointerEvent): void => {
    const x = event.clientX - (box.current?.getBoundingClientRect().left ?? 0);
    choose(
      places.reduce(
        (best, place, index) => (Math.abs(place.x - x) < Math.abs((places[best]?.x ?? 0) - x) ? index : best),
        0,
      ),
    );
  };
  const read = readout(points[at] as Point, series.unit);
  return (
    <figure class="chart">
      <figcaption>
        <strong>{series.unit ? `${series.name} (${series.unit})` : series.name}</strong> {summary(series)}
      </figcaption>
      <div
        ref={box}
        class="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={said.overTime(series.name)}
        aria-valuemin={1}
        aria-valuemax={points.length}
        aria-valuenow={at + 1}
        aria-valuetext={read}
        onKeyDown={key}
        onPointerMove={point}
        onPointerDown={point}
      >
        <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} aria-hidden="true">
          <Axes series={series} scale={scale} width={width} />
          <polyline class="chart-line" points={places.map(({ x, y }) => `${x},${y}`).join(" ")} />
          {places.map(({ x, y }, index) => (
            <path
              key={index}
              class={`chart-point ${points[index]?.row.flag ?? ""} ${index === at ? "chosen" : ""}`}
              d={shapeOf(points[index]?.row.flag ?? "", x, y)}
            />
          ))}
        </svg>
      </div>
      <p class="chart-read" aria-hidden="true">
        {read}
      </p>
      <Saving box={box} series={series} who={who} />
    </figure>
  );
}

interface SavingProps extends LineChartProps {
  box: { current: HTMLDivElement | null };
}

/** The drawing and its values as files that say whose they are. */
function Saving({ box, series, who }: SavingProps) {
  const name = series.name.replace(/[^\p{L}\p{N}]+/gu, "-");
  const picture = (): void => {
    const drawn = box.current?.querySelector("svg");
    if (drawn)
      saveAs(
        svgOf(drawn, `${series.name} (${series.unit}) ${summary(series)}`, who),
        "image/svg+xml",
        `${name}.svg`,
      );
  };
  const table = (): void => saveAs(`\uFEFF${csvOf(series, who)}`, "text/csv;charset=utf-8", `${name}.csv`);
  return (
    <p class="chart-saving">
      <button type="button" class="button tiny" aria-label={said.saveSvg(series.name)} onClick={picture}>
        SVG
      </button>
      <button type="button" class="button tiny" aria-label={said.saveCsv(series.name)} onClick={table}>
        CSV
      </button>
    </p>
  );
}

/** The width that there is, so that letters are as large on a phone as anywhere. */
export function useWidth(box: { current: HTMLDivElement | null }): number {
  const [width, setWidth] = useState(560);
  useEffect(() => {
    if (!box.current) return undefined;
    const watched = new ResizeObserver(([entry]) => {
      const found = Math.floor(entry?.contentRect.width ?? 0);
      if (found > 0) setWidth(Math.max(found, 200));
    });
    watched.observe(box.current);
    return () => watched.disconnect();
  }, [box]);
  return width;
}

interface Place {
  x: number;
  y: number;
}

const heightAt = (value: number, scale: Scale): number =>
  HEIGHT - EDGE.bottom - ((value - scale.low) / (scale.high - scale.low)) * (HEIGHT - EDGE.top - EDGE.bottom);

function placesOf(points: Point[], scale: Scale, width: number): Place[] {
  const first = points[0]?.time ?? 0;
  const span = (points.at(-1)?.time ?? first) - first || 1;
  const room = width - EDGE.left - EDGE.right;
  return points.map(({ time, value }) => ({
    x: Math.round((EDGE.left + ((time - first) / span) * room) * 10) / 10,
    y: Math.round(heightAt(value, scale) * 10) / 10,
  }));
}

function Axes({ series, scale, width }: { series: Series; scale: Scale; width: number }) {
  const right = width - EDGE.right;
  const top = heightAt(series.band?.high ?? scale.high, scale);
  const bottom = heightAt(series.band?.low ?? scale.low, scale);
  const [first, last] = [series.points[0] as Point, series.points.at(-1) as Point];
  const middle = series.points[Math.floor(series.points.length / 2)] as Point;
  const [middleAt] = placesOf([first, middle, last], scale, width).slice(1);
  const hasMiddle = width > NARROW && middleAt && middleAt.x > EDGE.left + 110 && middleAt.x < right - 110;
  const y = HEIGHT - 8;
  return (
    <>
      {series.band && (
        <rect class="chart-band" x={EDGE.left} y={top} width={right - EDGE.left} height={bottom - top} />
      )}
      {scale.ticks.map((tick) => (
        <g key={tick}>
          <line
            class="chart-grid"
            x1={EDGE.left}
            x2={right}
            y1={heightAt(tick, scale)}
            y2={heightAt(tick, scale)}
          />
          <text class="chart-label" x={EDGE.left - 6} y={heightAt(tick, scale) + 4} text-anchor="end">
            {tick}
          </text>
        </g>
      ))}
      <text class="chart-label" x={EDGE.left} y={y}>
        {shownDate(first.row.date)}
      </text>
      {hasMiddle && (
        <text class="chart-label" x={middleAt.x} y={y} text-anchor="middle">
          {shownDate(middle.row.date)}
        </text>
      )}
      <text class="chart-label" x={right} y={y} text-anchor="end">
        {shownDate(last.row.date)}
      </text>
    </>
  );
}

/** A form of its own for each flag: colour alone tells not everybody. */
function shapeOf(flag: string, x: number, y: number): string {
  switch (flag) {
    case "high":
      return `M${x - 6},${y + 5}L${x + 6},${y + 5}L${x},${y - 6}Z`;
    case "low":
      return `M${x - 6},${y - 5}L${x + 6},${y - 5}L${x},${y + 6}Z`;
    case "":
      return `M${x - 4},${y}a4,4 0 1,0 8,0a4,4 0 1,0 -8,0Z`;
    default:
      return `M${x},${y - 7}L${x + 7},${y}L${x},${y + 7}L${x - 7},${y}Z`;
  }
}

function readout(point: Point, unit: string): string {
  const { row } = point;
  const value = unit ? `${row.value} ${unit}` : row.value;
  const flag = row.flag && (said.flags[row.flag] ?? row.flag);
  const about = [flag, row.range && said.range(row.range)].filter(Boolean).join(", ");
  return `${shownDate(row.date, true)}: ${value}${about && ` (${about})`}`;
}

function summary(series: Series): string {
  const sorted = series.points.toSorted((one, other) => one.value - other.value);
  const of = (point: Point | undefined): string => point?.row.value ?? "";
  return said.summary(
    series.points.length,
    shownDate(series.points[0]?.row.date ?? ""),
    shownDate(series.points.at(-1)?.row.date ?? ""),
    of(sorted[0]),
    of(sorted.at(-1)),
    series.range && said.range(series.range),
  );
}
