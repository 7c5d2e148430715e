import { useState } from "preact/hooks";

import { SingleGraph } from "./diff";
import * as api from "./operator_api";
import { Sure } from "./sure";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Graph, Overview } from "./types";
import { words } from "./words";

const said = words.versions;

interface VersionsTabProps {
  overview: Overview;
  onPlanned: () => Promise<void>;
}

/** Every stored version; the deployed ones can come back. */
export function VersionsTab({ overview, onPlanned }: VersionsTabProps) {
  const [graph, setGraph] = useState<Graph | null>(null);
  const [asked, setAsked] = useState<number | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const failed = (error: unknown): void => setTrouble(troubleOf(error));
  const next = Math.max(...overview.versions) + 1;
  const stateOf = (version: number): string =>
    version === overview.active
      ? said.active
      : overview.deployed.includes(version)
        ? said.deployed
        : said.stored;
  const rollBack = (to: number): void => {
    setAsked(null);
    setTrouble(null);
    api.rollback(overview.scenario_id, to).then(onPlanned, failed);
  };
  return (
    <section class="panel" aria-labelledby="versions-title">
      <h3 id="versions-title">{said.title}</h3>
      <Problem trouble={trouble} />
      <ul class="versions">
        {[...overview.versions].reverse().map((version) => (
          <li key={version}>
            <strong>{words.version(version)}</strong>
            <span class={`chip status ${version === overview.active ? "deployed" : ""}`}>
              {stateOf(version)}
            </span>
            <button
              type="button"
              class="button tiny"
              aria-pressed={graph?.version === version}
              onClick={() => {
                api.version(overview.scenario_id, version).then(setGraph, failed);
              }}
            >
              {said.show(version)}
            </button>
            {overview.deployed.includes(version) && version !== overview.active && (
              <button type="button" class="button tiny" onClick={() => setAsked(version)}>
                {said.rollbackTo(version)}
              </button>
            )}
          </li>
        ))}
      </ul>
      {asked !== null && (
        <Sure
          question={said.rollbackSure(asked, next)}
          onNo={() => setAsked(null)}
          onYes={() => rollBack(asked)}
        />
      )}
      {graph && <SingleGraph key={graph.version} graph={graph} />}
    </section>
  );
}
