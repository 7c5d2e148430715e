import { shownDate } from "./dates";
import { strings } from "./strings";
import type { ChartView, Citation, ViewRow } from "./types";
import { RowSources } from "./view_table";

const said = strings.views;

interface ChartEntriesProps {
  view: ChartView;
  onSource: (citation: Citation, row: ViewRow) => void;
}

/** Rows one under the other, for a pane that is too narrow for a table; by kind where there are several. */
export function ChartEntries({ view, onSource }: ChartEntriesProps) {
  const groups = new Map<string, ViewRow[]>();
  for (const row of view.rows) {
    const kind = view.kind === "timeline" ? "" : row.kind;
    groups.set(kind, [...(groups.get(kind) ?? []), row]);
  }
  return (
    <>
      {[...groups].map(([kind, rows]) => (
        <section key={kind}>
          {groups.size > 1 && <h4 class="entry-kind">{strings.chart.kinds[kind] ?? kind}</h4>}
          <ul class="entry-list">
            {rows.map((row, place) => (
              <Entry key={place} view={view} row={row} onSource={onSource} />
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

interface EntryProps extends ChartEntriesProps {
  row: ViewRow;
}

function Entry({ view, row, onSource }: EntryProps) {
  const value = row.unit && row.value ? `${row.value} ${row.unit}` : row.value;
  // The birth date of a person is told with what it is.
  const from = row.date && row.detail.includes(row.date) ? "" : shownDate(row.date);
  const dates = [from, row.end && shownDate(row.end)].filter(Boolean).join(" – ");
  const about = [dates, row.status, row.range && said.range(row.range), row.detail]
    .filter(Boolean)
    .join(" · ");
  return (
    <li class="entry">
      <p dir="auto">
        <strong>{row.name}</strong>
        {value && ` ${value}`}
        {row.flag && (
          <span class="flag"> {`${said.signs[row.flag] ?? "!"} ${said.flags[row.flag] ?? row.flag}`}</span>
        )}{" "}
        <span class="row-sources">
          <RowSources view={view} row={row} onSource={onSource} />
        </span>
      </p>
      {about && (
        <p class="entry-about" dir="auto">
          {about}
        </p>
      )}
    </li>
  );
}
