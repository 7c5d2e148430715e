import { useRef, useState } from "preact/hooks";

import { rowsAsCsv, saveAs, svgOf } from "./chart_export";
import { shownDate } from "./dates";
import { useWidth } from "./line_chart";
import { strings } from "./strings";
import { type Span, showing, type Timeline, type TimelineEvent, zoomed } from "./timeline";

const said = strings.views;
const LANE = 18;
const FOOT = 26;
const EDGE = { left: 158, right: 14, top: 6 };
const LETTERS = 21;
const COLUMNS = ["date", "end", "kind", "name", "value", "unit", "status", "detail"] as const;

interface TimelineChartProps {
  timeline: Timeline;
  title: string;
  /** Whose it is, for what is saved of it. */
  who: string;
}

/** What lasted as bars and what happened as points; the arrow keys go from one to the next, + and - zoom. */
export function TimelineChart({ timeline, title, who }: TimelineChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const { lanes, events, whole } = timeline;
  const [shown, setShown] = useState<Span>(whole);
  const [chosen, setChosen] = useState(events.length - 1);
  const at = Math.min(chosen, events.length - 1);
  const event = events[at] as TimelineEvent;
  const choose = (next: number): void => {
    const place = Math.max(0, Math.min(events.length - 1, next));
    setChosen(place);
    setShown(showing(shown, whole, (events[place] as TimelineEvent).from));
  };
  const zoom = (factor: number): void => setShown(zoomed(shown, whole, event.from, factor));
  const key = (pressed: KeyboardEvent): void => {
    // Ctrl and + is the browser's own.
    if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: events.length - 1 }[pressed.key];
    const factor = { "+": 0.5, "-": 2, "0": Number.POSITIVE_INFINITY }[pressed.key];
    if (next === undefined && factor === undefined) return;
    pressed.preventDefault();
    if (next !== undefined) choose(next);
    else if (factor !== undefined) zoom(factor);
  };
  const x = (time: number): number => {
    const room = width - EDGE.left - EDGE.right;
    return Math.round((EDGE.left + ((time - shown.from) / (shown.to - shown.from)) * room) * 10) / 10;
  };
  const height = EDGE.top + lanes.length * LANE + FOOT;
  const read = readout(event);
  return (
    <figure class="chart">
      <div
        ref={box}
        class="chart-box"
        role="slider"
        tabIndex={0}
        aria-label={said.overTime(title)}
        aria-valuemin={1}
        aria-valuemax={events.length}
        aria-valuenow={at + 1}
        aria-valuetext={read}
        onKeyDown={key}
      >
        <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
          <Lanes lanes={lanes} width={width} />
          {events.map((one, place) => (
            <Mark
              key={place}
              event={one}
              x={x}
              right={width - EDGE.right}
              isChosen={place === at}
              onChoose={() => choose(place)}
            />
          ))}
          <text class="chart-label" x={EDGE.left} y={height - 8}>
            {shownDate(new Date(shown.from).toISOString())}
          </text>
          <text class="chart-label" x={width - EDGE.right} y={height - 8} text-anchor="end">
            {shownDate(new Date(shown.to).toISOString())}
          </text>
        </svg>
      </div>
      <p class="chart-read" aria-hidden="true">
        {read}
      </p>
      <p class="chart-saving">
        <button type="button" class="button tiny" aria-label={said.zoomIn} onClick={() => zoom(0.5)}>
          +
        </button>
        <button type="button" class="button tiny" aria-label={said.zoomOut} onClick={() => zoom(2)}>
          −
        </button>
        <button type="button" class="button tiny" onClick={() => setShown(whole)}>
          {said.wholeTime}
        </button>
        <Saving box={box} timeline={timeline} title={title} who={who} />
      </p>
    </figure>
  );
}

/** The drawing and what is in it as files that say whose they are. */
function Saving({
  box,
  timeline,
  title,
  who,
}: TimelineChartProps & { box: { current: HTMLDivElement | null } }) {
  const picture = (): void => {
    const drawn = box.current?.querySelector("svg");
    if (drawn) saveAs(svgOf(drawn, title, who), "image/svg+xml", `${title}.svg`);
  };
  const rows = timeline.events.map(({ row }) => row);
  const table = (): void =>
    saveAs(`\uFEFF${rowsAsCsv(rows, COLUMNS, who)}`, "text/csv;charset=utf-8", `${title}.csv`);
  return (
    <>
      <button type="button" class="button tiny" aria-label={said.saveSvg(title)} onClick={picture}>
        SVG
      </button>
      <button type="button" class="button tiny" aria-label={said.saveCsv(title)} onClick={table}>
        CSV
      </button>
    </>
  );
}

function Lanes({ lanes, width }: { lanes: string[]; width: number }) {
  return (
    <>
      {lanes.map((name, lane) => (
        <g key={name}>
          <line
            class="chart-grid"
            x1={EDGE.left}
            x2={width - EDGE.right}
            y1={middleOf(lane)}
            y2={middleOf(lane)}
          />
          <text class="chart-label" x={EDGE.left - 6} y={middleOf(lane) + 4} text-anchor="end">
            {name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name}
          </text>
        </g>
      ))}
    </>
  );
}

interface MarkProps {
  event: TimelineEvent;
  x: (time: number) => number;
  right: number;
  isChosen: boolean;
  onChoose: () => void;
}

/** A bar for what lasts, open to the right while it goes on; else a point. What is out of the window is not drawn. */
function Mark({ event, x, right, isChosen, onChoose }: MarkProps) {
  const from = x(event.from);
  const to = event.to === null ? from : Math.min(x(event.to), right);
  if (from > right || to < EDGE.left) return null;
  const y = middleOf(event.lane);
  const left = Math.max(from, EDGE.left);
  const look = isChosen ? "chosen" : "";
  if (to > from)
    return (
      <rect
        class={`timeline-bar ${look}`}
        x={left}
        y={y - 5}
        width={Math.max(to - left, 2)}
        height={10}
        onPointerDown={onChoose}
      />
    );
  if (from < EDGE.left) return null;
  return <circle class={`chart-point ${look}`} cx={from} cy={y} r={5} onPointerDown={onChoose} />;
}

const middleOf = (lane: number): number => EDGE.top + lane * LANE + LANE / 2;

function readout({ row, to }: TimelineEvent): string {
  const goesOn = to === Number.POSITIVE_INFINITY ? said.goesOn : "";
  const isOfADay = row.date.slice(0, 10) === row.end.slice(0, 10);
  const dates = [shownDate(row.date, true), row.end && !isOfADay ? shownDate(row.end) : goesOn]
    .filter(Boolean)
    .join(" – ");
  const value = row.unit && row.value ? `${row.value} ${row.unit}` : row.value;
  return `${dates}: ${[row.name, value, row.status, row.detail].filter(Boolean).join(", ")}`;
}
