import { useRef, useState } from "preact/hooks";

import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { DryRunRow, Graph, Score } from "./types";
import { words } from "./words";

const said = words.dryRun;
const KEPT_ROWS = 1_000;
const SHOWN_ROWS = 50;

interface Found {
  done: number;
  effects: Record<string, number>;
  asked: Record<string, number>;
  rows: DryRunRow[];
}

const NOTHING: Found = { done: 0, effects: {}, asked: {}, rows: [] };

/** What the plan would do to the sessions that are stored now, page by page. */
export function DryRun({ scenarioId, total, graphs, isDirty }: DryRunProps) {
  const [found, setFound] = useState<Found | null>(null);
  const [score, setScore] = useState<Score | null>(null);
  const [isRunning, setRunning] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const stopped = useRef(false);
  const run = async (): Promise<void> => {
    stopped.current = false;
    setRunning(true);
    setTrouble(null);
    let sum = NOTHING;
    let after = "";
    try {
      do {
        const page = await api.dryRun(scenarioId, after);
        if (!after) setScore(page.score);
        sum = added(sum, page.rows);
        setFound(sum);
        after = page.cursor;
      } while (after && !stopped.current);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setRunning(false);
  };
  return (
    <section class="panel" aria-labelledby="dry-run-title">
      <div class="panel-head">
        <h3 id="dry-run-title">{said.title}</h3>
        {isRunning ? (
          <button type="button" class="button" onClick={() => (stopped.current = true)}>
            {said.stop}
          </button>
        ) : (
          <button type="button" class="button" disabled={isDirty} onClick={() => void run()}>
            {said.run}
          </button>
        )}
      </div>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {score && (
        <p class="score">
          {said.score(score.to_version, score.foretold, score.met, score.right)}{" "}
          {Object.entries(score.wrong)
            .map(([what, number]) => `${what}: ${number}`)
            .join("; ")}
        </p>
      )}
      {found && (
        <div>
          <div class="progress-line">
            <progress aria-label={said.title} value={found.done} max={Math.max(total, found.done, 1)} />
            <span role="status">{said.progress(found.done, Math.max(total, found.done))}</span>
          </div>
          {found.done === 0 && !isRunning ? <p>{said.none}</p> : <Outcomes found={found} graphs={graphs} />}
        </div>
      )}
    </section>
  );
}

interface DryRunProps {
  scenarioId: string;
  total: number;
  graphs: Graph[];
  /** Policies are changed and not saved: saving them makes another plan. */
  isDirty: boolean;
}

function added(sum: Found, rows: DryRunRow[]): Found {
  const effects = { ...sum.effects };
  const asked = { ...sum.asked };
  for (const row of rows) {
    effects[row.effect] = (effects[row.effect] ?? 0) + 1;
    for (const field of [...row.collect, ...row.confirm]) asked[field] = (asked[field] ?? 0) + 1;
  }
  const kept = [...sum.rows, ...rows.slice(0, Math.max(0, KEPT_ROWS - sum.rows.length))];
  return { done: sum.done + rows.length, effects, asked, rows: kept };
}

function Outcomes({ found, graphs }: { found: Found; graphs: Graph[] }) {
  const [only, setOnly] = useState("");
  const [shown, setShown] = useState(SHOWN_ROWS);
  const rows = only ? found.rows.filter((row) => row.effect === only) : found.rows;
  const effects = Object.entries(found.effects).sort(([, one], [, two]) => two - one);
  return (
    <div>
      <ul class="outcomes" aria-label={said.outcomes}>
        {effects.map(([effect, number]) => (
          <li key={effect}>
            <span class={`chip outcome ${effect}`}>{said.effects[effect] ?? effect}</span>{" "}
            <strong>{number.toLocaleString("en")}</strong>
          </li>
        ))}
      </ul>
      {Object.keys(found.asked).length > 0 && (
        <p>
          {said.columns.asks}:{" "}
          {Object.entries(found.asked)
            .map(([field, number]) => `${field} (${words.sessions(number)})`)
            .join(", ")}
        </p>
      )}
      <div class="field inline">
        <label for="only-effect">{said.show}</label>
        <select id="only-effect" value={only} onChange={(event) => setOnly(event.currentTarget.value)}>
          <option value="">{said.all}</option>
          {effects.map(([effect]) => (
            <option key={effect} value={effect}>
              {said.effects[effect] ?? effect}
            </option>
          ))}
        </select>
        {found.done > KEPT_ROWS && <span class="hint">{said.kept(KEPT_ROWS)}</span>}
      </div>
      <Rows rows={rows.slice(0, shown)} graphs={graphs} />
      {rows.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + SHOWN_ROWS)}>
          {said.more}
        </button>
      )}
    </div>
  );
}

function Rows({ rows, graphs }: { rows: DryRunRow[]; graphs: Graph[] }) {
  const named = (version: number | null, step: string): string =>
    graphs
      .filter((graph) => version === null || graph.version === version)
      .flatMap((graph) => graph.nodes)
      .find((node) => node.id === step)?.name ?? step;
  const next = graphs[graphs.length - 1]?.version ?? null;
  return (
    <div class="table-frame" role="region" aria-label={words.table(said.title)} tabIndex={0}>
      <table class="grid">
        <thead>
          <tr>
            {Object.entries(said.columns).map(([name, title]) => (
              <th key={name} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.session}>
              <th scope="row">
                <code title={row.session}>{row.session.slice(0, 10)}</code>
              </th>
              <td>
                {named(row.version, row.step_before)} <span class="hint">{words.version(row.version)}</span>
              </td>
              <td>
                <span class={`chip outcome ${row.effect}`}>{said.effects[row.effect] ?? row.effect}</span>
              </td>
              <td>{named(next, row.step_after)}</td>
              <td>
                {said.reasons[row.why] ?? row.why}
                {row.blocked_by && !row.why.includes(row.blocked_by) && (
                  <p class="hint">{words.anchors.blocked(row.blocked_by)}</p>
                )}
              </td>
              <td>{[...row.collect, ...row.confirm.map(said.confirm), ...row.execute].join(", ")}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
