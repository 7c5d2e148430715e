import { useEffect, useState } from "preact/hooks";

import * as api from "./operator_api";
import { when } from "./plan";
import { BulkActs, FindSession, OneSession } from "./one_session";
import { Withdrawal } from "./withdrawal";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Overview, ReviewRow } from "./types";
import { words } from "./words";

interface SessionsTabProps {
  overview: Overview;
  onDone: () => Promise<void>;
}

/** How many sessions are where, those that a person must look at, and what to do about them. */
export function SessionsTab({ overview, onDone }: SessionsTabProps) {
  const [open, setOpen] = useState("");
  return (
    <div>
      <Counts overview={overview} />
      <Review key={overview.scenario_id} overview={overview} onOpen={setOpen} />
      <FindSession onOpen={setOpen} />
      {open && (
        <OneSession
          key={open}
          scenarioId={overview.scenario_id}
          session={open}
          onDone={onDone}
          onClose={() => setOpen("")}
        />
      )}
      <BulkActs scenarioId={overview.scenario_id} versions={overview.deployed} onDone={onDone} />
      <Withdrawal overview={overview} onDone={onDone} />
    </div>
  );
}

function Counts({ overview }: { overview: Overview }) {
  const said = words.counts;
  return (
    <section class="panel" aria-labelledby="counts-title">
      <h3 id="counts-title">{said.title}</h3>
      {overview.counts.length === 0 ? (
        <p class="hint">{said.none}</p>
      ) : (
        <table class="grid numbers">
          <thead>
            <tr>
              <th scope="col">{said.version}</th>
              <th scope="col">{said.sessions}</th>
              <th scope="col">{said.marked}</th>
              <th scope="col">{said.pinned}</th>
              <th scope="col">{said.flagged}</th>
            </tr>
          </thead>
          <tbody>
            {overview.counts.map((row) => (
              <tr key={row.version}>
                <th scope="row">
                  {words.version(row.version)}{" "}
                  {row.version === overview.active && (
                    <span class="chip status deployed">{said.current}</span>
                  )}
                </th>
                <td>{row.sessions.toLocaleString("en")}</td>
                <td>{row.marked.toLocaleString("en")}</td>
                <td>{row.pinned.toLocaleString("en")}</td>
                <td>{row.flagged.toLocaleString("en")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

interface ReviewProps {
  overview: Overview;
  onOpen: (session: string) => void;
}

function Review({ overview, onOpen }: ReviewProps) {
  const said = words.review;
  const [rows, setRows] = useState<ReviewRow[]>([]);
  const [cursor, setCursor] = useState("");
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const flagged = overview.counts.reduce((sum, row) => sum + row.flagged, 0);
  const read = (after: string): void => {
    api
      .review(overview.scenario_id, after)
      .then((page) => {
        setRows((before) => (after ? [...before, ...page.rows] : page.rows));
        setCursor(page.cursor);
      })
      .catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  useEffect(() => read(""), [overview.scenario_id, flagged]);
  return (
    <section class="panel" aria-labelledby="review-title">
      <h3 id="review-title">{said.title}</h3>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {rows.length === 0 ? (
        <p>{said.none}</p>
      ) : (
        <div class="table-frame" role="region" aria-label={words.table(said.title)} tabIndex={0}>
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">{said.session}</th>
                <th scope="col">{said.reason}</th>
                <th scope="col">{said.version}</th>
                <th scope="col">{said.channel}</th>
                <th scope="col">{said.since}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={row.session}>
                  <th scope="row">
                    <button
                      type="button"
                      class="button tiny"
                      title={row.session}
                      onClick={() => onOpen(row.session)}
                    >
                      {said.open} <code>{row.session.slice(0, 10)}</code>
                    </button>
                  </th>
                  <td>{said.reasons[row.reason] ?? row.reason}</td>
                  <td>{words.version(row.version)}</td>
                  <td>{row.channel}</td>
                  <td>{when(row.created_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {cursor && (
        <button type="button" class="button" onClick={() => read(cursor)}>
          {said.more}
        </button>
      )}
    </section>
  );
}
