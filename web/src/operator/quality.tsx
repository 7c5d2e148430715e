import { useCallback, useEffect, useState } from "preact/hooks";

import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { QualityRow } from "./types";
import { words } from "./words";

const said = words.quality;
const REFRESH_MS = 15_000;

const share = (part: number, whole: number): string =>
  whole === 0 ? "–" : `${((100 * part) / whole).toFixed(1)} %`;

/** How good the answers are that this server gives, by agent and model. */
export function Quality() {
  const [rows, setRows] = useState<QualityRow[] | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const load = useCallback(async (): Promise<void> => {
    try {
      setRows(await api.quality());
      setTrouble(null);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  }, []);
  useEffect(() => {
    void load();
    const timer = setInterval(() => void load(), REFRESH_MS);
    return () => clearInterval(timer);
  }, [load]);
  return (
    <section class="panel" aria-labelledby="quality-title">
      <h2 id="quality-title">{said.title}</h2>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {rows?.length === 0 && <p>{said.none}</p>}
      {rows !== null && rows.length > 0 && <Table rows={rows} />}
    </section>
  );
}

function Table({ rows }: { rows: QualityRow[] }) {
  return (
    <div class="table-frame" role="region" aria-label={words.table(said.title)} tabIndex={0}>
      <table class="grid">
        <thead>
          <tr>
            {said.heads.map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.agent} ${row.model}`}>
              <th scope="row">{row.agent === "none" ? said.nobody : row.agent}</th>
              <td>{row.model}</td>
              {figures(row).map((one, index) => (
                <td key={said.heads[index + 2]}>{one}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function figures(row: QualityRow): string[] {
  const checked = row.supported + row.unsupported + row.contradicted;
  const turns = row.answered + row.asked + row.refused;
  return [
    String(checked),
    share(row.supported, checked),
    share(row.repaired, checked),
    String(turns),
    share(row.asked, turns),
    share(row.refused, turns),
    `${row.like} / ${row.dislike}`,
  ];
}
