import type { TargetedKeyboardEvent } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { DeploymentPanel } from "./deployment";
import { HistoryTab } from "./history";
import * as api from "./operator_api";
import { PlanTab } from "./plan";
import { SessionsTab } from "./sessions";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Deployment, Overview } from "./types";
import { VersionsTab } from "./versions";
import { words } from "./words";

export const TABS = ["plan", "sessions", "versions", "history"] as const;
export type Tab = (typeof TABS)[number];
const BUSY_MS = 700;
const CALM_MS = 5_000;

interface ScenarioRoomProps {
  scenarioId: string;
  operator: string;
  needsSecond: boolean;
  tab: Tab;
  onTab: (tab: Tab) => void;
  onChanged: () => Promise<void>;
}

/** One scenario, kept up to date while somebody looks. */
export function ScenarioRoom(props: ScenarioRoomProps) {
  const { scenarioId, operator, needsSecond, tab, onTab, onChanged } = props;
  const [overview, setOverview] = useState<Overview | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [acts, setActs] = useState(0);
  const read = useCallback(async (): Promise<void> => {
    try {
      setOverview(await api.overview(scenarioId));
      setTrouble(null);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  }, [scenarioId]);
  const changed = useCallback(async (): Promise<void> => {
    setActs((count) => count + 1);
    await read();
    await onChanged();
  }, [read, onChanged]);
  const isBusy = overview?.deployment ? isUnderWay(overview.deployment) : false;
  // The list beside shows the same, also where somebody else approves or deploys.
  const standing = overview && `${overview.active} ${overview.plan?.status} ${isBusy}`;
  const before = useRef(standing);
  useEffect(() => {
    if (before.current !== null && before.current !== standing) void onChanged();
    before.current = standing;
  }, [standing]);
  useEffect(() => {
    void read();
    const timer = setInterval(
      () => {
        if (!document.hidden) void read();
      },
      isBusy ? BUSY_MS : CALM_MS,
    );
    return () => clearInterval(timer);
  }, [read, isBusy]);
  if (!overview) {
    return trouble ? <Problem trouble={trouble} /> : <p role="status">{words.loading}</p>;
  }
  const sessions = overview.counts.reduce((sum, row) => sum + row.sessions, 0);
  return (
    <div>
      <Problem trouble={trouble} />
      <div class="room-head">
        <h2 class="room-title">{overview.name}</h2>
        <span class={`chip status ${overview.active === null ? "" : "deployed"}`}>
          {overview.active === null ? words.notActive : words.active(overview.active)}
        </span>
        {overview.withdrawn && <span class="chip status cancelled">{words.withdraw.chip}</span>}
        {overview.share_percent < 100 && (
          <span class="chip status canary">{words.decide.shareOf(overview.share_percent)}</span>
        )}
        <span class="hint">{words.sessions(sessions)}</span>
      </div>
      {overview.deployment && (
        <DeploymentPanel
          key={`${overview.deployment.plan_id}-${overview.deployment.share_percent}`}
          scenarioId={scenarioId}
          deployment={overview.deployment}
          onDone={changed}
        />
      )}
      <Tabs tab={tab} onTab={onTab} />
      <div class="tab-panel" role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === "plan" && (
          <PlanTab
            scenarioId={scenarioId}
            plan={overview.plan}
            operator={operator}
            needsSecond={needsSecond}
            onDone={changed}
          />
        )}
        {tab === "sessions" && <SessionsTab overview={overview} onDone={changed} />}
        {tab === "versions" && (
          <VersionsTab
            overview={overview}
            onPlanned={async () => {
              await changed();
              onTab("plan");
            }}
          />
        )}
        {tab === "history" && <HistoryTab scenarioId={scenarioId} asOf={`${acts} ${standing}`} />}
      </div>
    </div>
  );
}

const isUnderWay = (deployment: Deployment): boolean =>
  deployment.state !== "deployed" && !(deployment.state === "flipped" && deployment.share_percent < 100);

const STEPS: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };

function Tabs({ tab, onTab }: { tab: Tab; onTab: (tab: Tab) => void }) {
  const move = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length] ?? tab;
    onTab(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={words.tabs.label} onKeyDown={move}>
      {TABS.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          class="tab"
          aria-selected={name === tab}
          aria-controls="tab-panel"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => onTab(name)}
        >
          {words.tabs[name]}
        </button>
      ))}
    </div>
  );
}
