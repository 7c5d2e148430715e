import { useState } from "preact/hooks";

import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Deployment } from "./types";
import { words } from "./words";

const said = words.deployment;
const STATES = ["approved", "archived", "staged", "flipped", "deployed"] as const;

interface DeploymentPanelProps {
  scenarioId: string;
  deployment: Deployment;
  onDone: () => Promise<void>;
}

/** How far the last deployment is, and what can be done about it. */
export function DeploymentPanel({ scenarioId, deployment, onDone }: DeploymentPanelProps) {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [share, setShare] = useState(deployment.share_percent);
  const isCanary = deployment.state === "flipped" && deployment.share_percent < 100;
  const isRunning = deployment.state !== "deployed" && !isCanary;
  const at = STATES.indexOf(deployment.state);
  const does = async (act: Promise<unknown>): Promise<void> => {
    setTrouble(null);
    try {
      await act;
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    await onDone();
  };
  return (
    <section class={`panel deployment ${isRunning ? "running" : ""}`} aria-labelledby="deployment-title">
      <div class="panel-head">
        <h3 id="deployment-title">{said.title(deployment.to_version)}</h3>
        <span class={`chip status ${isCanary ? "canary" : deployment.state}`} role="status">
          {deployment.paused && isRunning ? said.paused : said.states[deployment.state]}
        </span>
        {deployment.started_by && <span class="hint">{said.by(deployment.started_by)}</span>}
      </div>
      <ol class="stages">
        {STATES.map((state, index) => (
          <li
            key={state}
            class={index < at || deployment.state === "deployed" ? "past" : index === at ? "present" : ""}
            {...(index === at ? { "aria-current": "step" as const } : {})}
          >
            {said.states[state]}
          </li>
        ))}
      </ol>
      <div class="progress-line">
        <progress
          aria-label={said.states.staged}
          value={at > 2 ? 1 : deployment.seen}
          max={at > 2 ? 1 : Math.max(deployment.total, deployment.seen, 1)}
        />
        <span>
          {said.progress(deployment.seen, Math.max(deployment.total, deployment.seen))} ·{" "}
          {said.marked(deployment.marked)}
        </span>
      </div>
      <Problem trouble={trouble} />
      {isRunning && (
        <div class="actions">
          {deployment.paused ? (
            <button type="button" class="button primary" onClick={() => void does(api.resume(scenarioId))}>
              {said.resume}
            </button>
          ) : (
            <button type="button" class="button" onClick={() => void does(api.pause(scenarioId))}>
              {said.pause}
            </button>
          )}
        </div>
      )}
      {isCanary && (
        <div class="canary">
          <p>
            {said.canary(deployment.share_percent)}
            {deployment.share_percent === 0 && ` ${said.stopped}`}
          </p>
          <div class="actions">
            <ShareInput id="canary-share" value={share} onChange={setShare} />
            <button
              type="button"
              class="button"
              disabled={share === deployment.share_percent}
              onClick={() => void does(api.setShare(scenarioId, share))}
            >
              {said.widen}
            </button>
            <button
              type="button"
              class="button primary"
              onClick={() => void does(api.setShare(scenarioId, 100))}
            >
              {said.finish}
            </button>
          </div>
        </div>
      )}
    </section>
  );
}

interface ShareInputProps {
  id: string;
  value: number;
  onChange: (share: number) => void;
}

export const ShareInput = ({ id, value, onChange }: ShareInputProps) => (
  <div class="share">
    <label for={id}>{words.decide.share}</label>
    <input
      id={id}
      type="range"
      min="0"
      max="100"
      step="5"
      value={value}
      aria-valuetext={words.decide.shareOf(value)}
      onInput={(event) => onChange(Number(event.currentTarget.value))}
    />
    <output for={id}>{words.decide.shareOf(value)}</output>
  </div>
);
