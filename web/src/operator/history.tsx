import { useEffect, useState } from "preact/hooks";

import * as api from "./operator_api";
import { when } from "./plan";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { HistoryEntry } from "./types";
import { words } from "./words";

const said = words.history;

interface HistoryTabProps {
  scenarioId: string;
  /** Changes with each act, also with one that ends after this tab was opened. */
  asOf: string;
}

/** Who did what to this scenario. */
export function HistoryTab({ scenarioId, asOf }: HistoryTabProps) {
  const [entries, setEntries] = useState<HistoryEntry[]>([]);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  useEffect(() => {
    let isOld = false;
    api.history(scenarioId).then(
      (found) => {
        if (isOld) return;
        setEntries(found);
        setTrouble(null);
      },
      (error: unknown) => isOld || setTrouble(troubleOf(error)),
    );
    return () => {
      isOld = true;
    };
  }, [scenarioId, asOf]);
  return (
    <section class="panel" aria-labelledby="history-title">
      <h3 id="history-title">{said.title}</h3>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {entries.length === 0 ? (
        <p>{said.none}</p>
      ) : (
        <div class="table-frame" role="region" aria-label={words.table(said.title)} tabIndex={0}>
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">{said.when}</th>
                <th scope="col">{said.who}</th>
                <th scope="col">{said.what}</th>
                <th scope="col">{said.note}</th>
                <th scope="col">{said.outcome}</th>
              </tr>
            </thead>
            <tbody>
              {entries.map((entry) => (
                <tr key={entry.time + entry.action + entry.note}>
                  <td>
                    <time dateTime={entry.time}>{when(entry.time)}</time>
                  </td>
                  <td>{entry.operator}</td>
                  <td>{said.actions[entry.action] ?? entry.action}</td>
                  <td>{entry.note}</td>
                  <td>
                    <span class={`chip status ${entry.outcome}`}>{said[entry.outcome]}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
