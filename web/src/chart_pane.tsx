import { memo } from "preact/compat";
import { useEffect, useId, useState } from "preact/hooks";

import { Papers } from "./papers";
import { View } from "./chart_view";
import { shownDate } from "./dates";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import type { ChartView, ViewRow } from "./types";
import { useChartPart } from "./use_chart_part";

const said = strings.chart;
export const CHART_PARTS = [
  "summary",
  "results",
  "problems",
  "medications",
  "allergies",
  "timeline",
  "encounters",
  "documents",
] as const;
export type ChartPartName = (typeof CHART_PARTS)[number];

/** Where the chart takes the place of the conversation, as in the style sheet. */
const ALONE = "(max-width: 47.99rem)";

interface ChartPaneProps {
  chatId: string;
  patientId: string;
  /** Counts the papers that were given: their list is read anew. */
  papers: number;
  /** What was asked for elsewhere, a new object each time. */
  wanted: { part: ChartPartName } | null;
  onSource: (opened: Opened) => void;
  onClose: () => void;
}

/** The chart of the open patient beside the conversation, part by part; not drawn anew while an answer grows. */
export const ChartPane = memo(function ChartPane({
  chatId,
  patientId,
  papers,
  wanted,
  onSource,
  onClose,
}: ChartPaneProps) {
  const [part, setPart] = useState<ChartPartName>(wanted?.part ?? "summary");
  useEffect(() => {
    if (wanted) setPart(wanted.part);
  }, [wanted]);
  const isAlone = useMedia(ALONE);
  const id = useId();
  const key = (event: KeyboardEvent): void => {
    const at = CHART_PARTS.indexOf(part);
    const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: CHART_PARTS.length - 1 }[event.key];
    const chosen = next === undefined ? undefined : CHART_PARTS.at(next % CHART_PARTS.length);
    if (chosen === undefined) return;
    event.preventDefault();
    setPart(chosen);
    document.getElementById(`${id}${chosen}`)?.focus();
  };
  return (
    <section class="chart-pane" role={isAlone ? "main" : "region"} aria-label={said.label}>
      <h2 class="visually-hidden">{said.label}</h2>
      <header class="chart-head">
        <div class="chart-tabs" role="tablist" aria-label={said.parts} onKeyDown={key}>
          {CHART_PARTS.map((one) => (
            <button
              type="button"
              role="tab"
              class="chart-tab"
              key={one}
              id={id + one}
              aria-selected={one === part}
              aria-controls={`${id}panel`}
              tabIndex={one === part ? 0 : -1}
              onClick={() => setPart(one)}
            >
              {said.names[one]}
            </button>
          ))}
        </div>
        <button type="button" class="button subtle" aria-label={said.hide} onClick={onClose}>
          ×
        </button>
      </header>
      <div class="chart-body" id={`${id}panel`} role="tabpanel" aria-labelledby={id + part} tabIndex={0}>
        {part === "documents" && (
          <Papers key={papers} chatId={chatId} patientId={patientId} onSource={onSource} />
        )}
        <ChartPart key={part} chatId={chatId} patientId={patientId} part={part} onSource={onSource} />
      </div>
    </section>
  );
});

function useMedia(query: string): boolean {
  const [fits, setFits] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const note = (): void => setFits(media.matches);
    media.addEventListener("change", note);
    return () => media.removeEventListener("change", note);
  }, [query]);
  return fits;
}

interface ChartPartProps {
  chatId: string;
  patientId: string;
  part: ChartPartName;
  onSource: (opened: Opened) => void;
}

function ChartPart({ chatId, patientId, part, onSource }: ChartPartProps) {
  const { view, problem, again } = useChartPart(chatId, patientId, part);
  if (problem !== null) return <Unread problem={problem} onAgain={again} />;
  if (view === null) return <p role="status">{said.loading}</p>;
  if (part !== "results" || view.rows.length === 0) return <View view={view} onSource={onSource} isNarrow />;
  return <Results chatId={chatId} patientId={patientId} view={view} onSource={onSource} />;
}

function Unread({ problem, onAgain }: { problem: string; onAgain: () => void }) {
  return (
    <div class="strip error" role="alert">
      {problem}{" "}
      <button type="button" class="button" onClick={onAgain}>
        {strings.tryAgain}
      </button>
    </div>
  );
}

interface ResultsProps {
  chatId: string;
  patientId: string;
  view: ChartView;
  onSource: (opened: Opened) => void;
}

/** The newest value of each thing; one opens to its course over time. */
function Results({ chatId, patientId, view, onSource }: ResultsProps) {
  const [wanted, setWanted] = useState("");
  const [open, setOpen] = useState<string | null>(null);
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean);
  const newest = [...new Map(view.rows.toReversed().map((row) => [row.name, row])).values()].toReversed();
  const shown = newest.filter((row) => words.every((word) => row.name.toLowerCase().includes(word)));
  return (
    <>
      <label class="chart-filter">
        {said.filter}
        <input type="text" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
      </label>
      {shown.length === 0 && <p role="status">{said.noneSuch}</p>}
      <ul class="result-list">
        {shown.map((row) => (
          <li key={row.name}>
            <button
              type="button"
              class="result"
              aria-expanded={open === row.name}
              onClick={() => setOpen(open === row.name ? null : row.name)}
            >
              <Value row={row} />
            </button>
            {open === row.name && (
              <Course chatId={chatId} patientId={patientId} name={row.name} onSource={onSource} />
            )}
          </li>
        ))}
      </ul>
      {view.left_out.map((one) => (
        <p class="view-note" key={one.what}>
          {strings.views.leftOut(one.count, one.what)}
        </p>
      ))}
    </>
  );
}

function Value({ row }: { row: ViewRow }) {
  const { signs, flags } = strings.views;
  return (
    <>
      <span class="result-name" dir="auto">
        {row.name}
      </span>
      <span class={`result-value ${row.flag && "flagged"}`}>
        {row.unit && row.value ? `${row.value} ${row.unit}` : row.value}
        {row.flag && ` ${signs[row.flag] ?? "!"} ${flags[row.flag] ?? row.flag}`}
      </span>
      <span class="result-date">{shownDate(row.date)}</span>
    </>
  );
}

interface CourseProps {
  chatId: string;
  patientId: string;
  name: string;
  onSource: (opened: Opened) => void;
}

function Course({ chatId, patientId, name, onSource }: CourseProps) {
  const { view, problem, again } = useChartPart(chatId, patientId, "results", name);
  if (problem !== null) return <Unread problem={problem} onAgain={again} />;
  if (view === null) return <p role="status">{said.loading}</p>;
  return <View view={view} onSource={onSource} isNarrow />;
}
