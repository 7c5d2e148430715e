import { shownDate } from "./dates";
import { strings } from "./strings";
import type { ChartView, Citation, ViewRow } from "./types";

const said = strings.views;
const SOURCES_SHOWN = 3;
const ORDER = ["date", "end", "name", "value", "range", "flag", "status", "detail"] as const;
type Column = (typeof ORDER)[number];

interface ViewTableProps {
  view: ChartView;
  rows: ViewRow[];
  onSource: (citation: Citation, row: ViewRow) => void;
}

/** Rows of the chart as a table; columns without anything in them are left out. */
export function ViewTable({ view, rows, onSource }: ViewTableProps) {
  const columns = columnsOf(view);
  // Two charts side by side: who each column is of is read whole, and no row names a source.
  const isOfTwo = view.patient_id === "" && (view.labels?.length ?? 0) > 0;
  const days = new Map<string, number>();
  for (const row of view.rows) days.set(keyOf(row), (days.get(keyOf(row)) ?? 0) + 1);
  return (
    <div class="table" role="group" tabIndex={0} aria-label={said.table(view.title)}>
      <table class={isOfTwo ? "of-two" : undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" class={column}>
                {labelOf(view, column)}
              </th>
            ))}
            {!isOfTwo && <th scope="col">{strings.sources.name}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={place}>
              {columns.map((column) => (
                <td key={column} class={column} dir="auto">
                  {cellOf(row, column, (days.get(keyOf(row)) ?? 0) > 1)}
                </td>
              ))}
              {!isOfTwo && (
                <td class="row-sources">
                  <RowSources view={view} row={row} onSource={onSource} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The same thing twice on a day: only the time tells them apart. */
const keyOf = (row: ViewRow): string => `${row.name} ${row.date.slice(0, 10)}`;

/** What stands over a column: the view's own words, or the name of what it holds. */
const labelOf = (view: ChartView, column: Column): string => {
  const own = view.labels?.[view.columns.indexOf(column)];
  return own === undefined ? said.columns[column] : own || said.columns.name;
};

function columnsOf(view: ChartView): Column[] {
  const wanted = ORDER.filter((column) => view.columns.length === 0 || view.columns.includes(column));
  const held = wanted.filter((column) => view.rows.some((row) => row[column] !== ""));
  const isTitled = view.rows.every((row) => row.name === view.title);
  return isTitled && held.includes("value") ? held.filter((column) => column !== "name") : held;
}

function cellOf(row: ViewRow, column: Column, withTime: boolean): string {
  switch (column) {
    case "date":
    case "end":
      return shownDate(row[column], withTime);
    case "value":
      return row.unit && row.value ? `${row.value} ${row.unit}` : row.value;
    case "flag":
      return row.flag && `${said.signs[row.flag] ?? "!"} ${said.flags[row.flag] ?? row.flag}`;
    default:
      return row[column];
  }
}

interface RowSourcesProps {
  view: ChartView;
  row: ViewRow;
  onSource: (citation: Citation, row: ViewRow) => void;
}

export function RowSources({ view, row, onSource }: RowSourcesProps) {
  const more = row.sources.length - SOURCES_SHOWN;
  return (
    <>
      {row.sources.slice(0, SOURCES_SHOWN).map((ref, place) => (
        <button
          type="button"
          class="cite"
          key={ref}
          title={ref}
          aria-label={said.sourceOf(row.name, shownDate(row.date), place + 1)}
          onClick={() =>
            onSource(view.sources.find((one) => one.ref === ref) ?? { ref, title: row.name }, row)
          }
        >
          {place + 1}
        </button>
      ))}
      {more > 0 && <small>{said.more(more)}</small>}
    </>
  );
}
