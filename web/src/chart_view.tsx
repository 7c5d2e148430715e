import { flushSync } from "preact/compat";
import { useContext, useEffect, useState } from "preact/hooks";

import { ChartEntries } from "./chart_entries";
import { LineChart } from "./line_chart";
import { identityText, Known } from "./patient_mark";
import { seriesOf } from "./series";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import { timelineOf } from "./timeline";
import { TimelineChart } from "./timeline_chart";
import type { ChartView, Citation, LostView, ViewRow } from "./types";
import { ViewTable } from "./view_table";

const said = strings.views;
const ROWS_SHOWN = 12;
const CHARTS_SHOWN = 4;

interface ViewProps {
  view: ChartView | LostView;
  onSource: (opened: Opened) => void;
  /** Too narrow for a table. */
  isNarrow?: boolean;
}

/** Rows of the chart that an answer stands on: drawn, in a table, and what is not among them. */
export function View({ view, onSource, isNarrow = false }: ViewProps) {
  const people = useContext(Known);
  if (!("patient_id" in view)) return <p class="view-note">{said.lost(view.rows)}</p>;
  const series = view.kind === "series" ? seriesOf(view.rows).slice(0, CHARTS_SHOWN) : [];
  const timeline = view.kind === "timeline" ? timelineOf(view.rows) : null;
  const open = (citation: Citation, row: ViewRow): void => {
    const statement = [row.name, row.value, row.unit, row.detail].filter(Boolean).join(" ");
    onSource({ citation, statement });
  };
  return (
    <div class="view" role="group" aria-label={view.title}>
      <h3 class="view-title">{view.title}</h3>
      {series.map((one) => (
        <LineChart key={one.name + one.unit} series={one} who={identityText(people, view.patient_id)} />
      ))}
      {timeline && (
        <TimelineChart
          key={view.rows.length}
          timeline={timeline}
          title={view.title}
          who={identityText(people, view.patient_id)}
        />
      )}
      {series.length > 0 ? (
        <Twin view={view} onSource={open} />
      ) : view.rows.length > 0 ? (
        isNarrow ? (
          <ChartEntries view={view} onSource={open} />
        ) : (
          <Rows view={view} onSource={open} />
        )
      ) : (
        <p class="view-note">{view.nothing || said.nothing}</p>
      )}
      <Remarks view={view} />
    </div>
  );
}

interface RowsProps {
  view: ChartView;
  onSource: (citation: Citation, row: ViewRow) => void;
}

/** The values behind a drawing. */
function Twin({ view, onSource }: RowsProps) {
  const [isOpen, setOpen] = useState(false);
  const isPrinted = usePrinting();
  const isShown = isOpen || isPrinted;
  return (
    <>
      <button type="button" class="button tiny" aria-expanded={isShown} onClick={() => setOpen(!isOpen)}>
        {isShown ? said.hideTable : said.asTable}
      </button>
      {isShown && <Rows view={view} onSource={onSource} />}
    </>
  );
}

function Rows({ view, onSource }: RowsProps) {
  const [isOpen, setOpen] = useState(false);
  const isPrinted = usePrinting();
  const all = view.rows.length;
  const isWhole = isOpen || isPrinted || all <= ROWS_SHOWN;
  return (
    <>
      <ViewTable
        view={view}
        rows={isWhole ? view.rows : view.rows.slice(0, ROWS_SHOWN)}
        onSource={onSource}
      />
      {all > ROWS_SHOWN && (
        <button type="button" class="button tiny" aria-expanded={isWhole} onClick={() => setOpen(!isOpen)}>
          {isWhole ? said.fewer(ROWS_SHOWN) : said.all(all)}
        </button>
      )}
    </>
  );
}

/** What is not among the rows, and what the record itself lacks: never left unsaid. */
function Remarks({ view }: { view: ChartView }) {
  const lines = [...view.left_out.map((one) => said.leftOut(one.count, one.what)), ...view.notes];
  if (lines.length === 0) return null;
  return (
    <ul class="view-note">
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

/** Paper has nothing to press: everything is open on it. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false);
  useEffect(() => {
    const before = (): void => flushSync(() => setPrinting(true));
    const after = (): void => setPrinting(false);
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, []);
  return isPrinting;
}
