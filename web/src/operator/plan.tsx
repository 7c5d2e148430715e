import { useEffect, useState } from "preact/hooks";

import { AnchorTable } from "./anchors";
import { Diff } from "./diff";
import { DryRun } from "./dry_run";
import { Decision } from "./decision";
import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Plan, PlanView, Policies, Warning } from "./types";
import { words } from "./words";

const said = words.plan;
const anchorsSaid = words.anchors;

interface PlanTabProps {
  scenarioId: string;
  plan: Plan | null;
  operator: string;
  needsSecond: boolean;
  onDone: () => Promise<void>;
}

/** Everything about the plan from the active version, top to bottom as one decides about it. */
export function PlanTab({ scenarioId, plan, operator, needsSecond, onDone }: PlanTabProps) {
  const [view, setView] = useState<PlanView | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  useEffect(() => {
    // Saving policies answers with the new plan, which is shown already; a run over its sessions goes on.
    if (plan && view?.plan.id === plan.id) return;
    let isGone = false;
    setView(null);
    if (plan) {
      api
        .plan(scenarioId)
        .then((found) => isGone || setView(found))
        .catch((error: unknown) => isGone || setTrouble(troubleOf(error)));
    }
    return () => {
      isGone = true;
    };
  }, [scenarioId, plan?.id]);
  if (!plan) return <p class="empty">{said.none}</p>;
  if (trouble) return <Problem trouble={trouble} />;
  if (!view) return <p role="status">{words.loading}</p>;
  return (
    <Planned
      key={view.plan.id}
      view={view}
      plan={plan}
      operator={operator}
      needsSecond={needsSecond}
      onView={setView}
      onDone={onDone}
    />
  );
}

/** The drawings have a stop for each step; the address names the scenario and must stay. */
function skipToDecision(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("decision")?.focus();
}

interface PlannedProps {
  view: PlanView;
  plan: Plan;
  operator: string;
  needsSecond: boolean;
  onView: (view: PlanView) => void;
  onDone: () => Promise<void>;
}

function Planned({ view, plan, operator, needsSecond, onView, onDone }: PlannedProps) {
  const [policies, setPolicies] = useState<Policies>(view.plan.anchor_policies);
  const changed = changes(view.plan.anchor_policies, policies);
  const { old, new: next } = view;
  const isOpen = plan.status === "pending" || plan.status === "approved";
  return (
    <div class="plan">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place, and the address must stay */}
      <a class="skip" href="#decision" onClick={skipToDecision}>
        {said.skip}
      </a>
      <div class="panel-head">
        <h2>{said.heading(next.name, old.version, next.version)}</h2>
        <span class={`chip status ${plan.status}`}>{said.statuses[plan.status]}</span>
      </div>
      <p class="hint">
        {said.proposedBy(plan.created_by ?? "?", when(plan.created_at))}
        {plan.approved_by && plan.approved_at && (
          <> · {said.approvedBy(plan.approved_by, when(plan.approved_at))}</>
        )}
      </p>
      <Summary plan={view.plan} />
      <div class="two-panels">
        <Warnings plan={view.plan} />
        <Fields plan={view.plan} />
      </div>
      <section class="panel" aria-labelledby="changes-title">
        <h3 id="changes-title">{said.changes}</h3>
        {view.changes.length === 0 ? (
          <p class="hint">{said.noChanges}</p>
        ) : (
          <ul class="changes">
            {view.changes.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        )}
      </section>
      <Diff old={old} next={next} />
      <section class="panel" aria-labelledby="anchors-title">
        <h3 id="anchors-title">{anchorsSaid.title}</h3>
        <p class="hint">{anchorsSaid.hint}</p>
        <AnchorTable anchors={view.anchors} policies={policies} isEditable={isOpen} onChange={setPolicies} />
        {isOpen && (
          <MapByHand
            view={view}
            onMap={async (mapping) => {
              onView(await api.setMapping(view.plan.scenario_id, mapping));
              await onDone();
            }}
          />
        )}
        {changed > 0 && (
          <SavePolicies
            changed={changed}
            onSave={async () => {
              onView(await api.setPolicies(view.plan.scenario_id, policies));
              await onDone();
            }}
            onReset={() => setPolicies(view.plan.anchor_policies)}
          />
        )}
      </section>
      <DryRun
        scenarioId={view.plan.scenario_id}
        total={view.plan.summary.estimated_sessions_affected}
        graphs={[old, next]}
        isDirty={changed > 0}
      />
      {isOpen && (
        <Decision
          plan={plan}
          operator={operator}
          needsSecond={needsSecond}
          isDirty={changed > 0}
          onDone={onDone}
        />
      )}
    </div>
  );
}

interface MapByHandProps {
  view: PlanView;
  onMap: (mapping: Record<string, string>) => Promise<void>;
}

/** Pairs a step of the old version with one of the new, where the server did it wrong or not. */
function MapByHand({ view, onMap }: MapByHandProps) {
  const [step, setStep] = useState(view.old.nodes[0]?.id ?? "");
  const [target, setTarget] = useState("");
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const map = (): void => {
    setTrouble(null);
    onMap({ [step]: target }).catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <details class="map-by-hand">
      <summary class="button tiny">{said.map}</summary>
      <Problem trouble={trouble} />
      <div class="field">
        <label for="map-step">{said.mapFrom}</label>
        <select id="map-step" value={step} onChange={(event) => setStep(event.currentTarget.value)}>
          {view.old.nodes.map((node) => (
            <option key={node.id} value={node.id}>
              {node.name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="map-target">{said.mapTo}</label>
        <select id="map-target" value={target} onChange={(event) => setTarget(event.currentTarget.value)}>
          <option value="">{said.mapAutomatic}</option>
          {view.new.nodes.map((node) => (
            <option key={node.id} value={node.id}>
              {node.name}
            </option>
          ))}
        </select>
      </div>
      <button type="button" class="button" onClick={map}>
        {said.mapSave}
      </button>
    </details>
  );
}

export const when = (time: string): string =>
  new Date(time).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });

function changes(before: Policies, after: Policies): number {
  const steps = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...steps].filter((step) => JSON.stringify(before[step]) !== JSON.stringify(after[step])).length;
}

interface SavePoliciesProps {
  changed: number;
  onSave: () => Promise<void>;
  onReset: () => void;
}

function SavePolicies({ changed, onSave, onReset }: SavePoliciesProps) {
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const save = (): void => {
    setTrouble(null);
    onSave().catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <div class="save-policies">
      <p role="status">{anchorsSaid.unsaved(changed)}</p>
      <Problem trouble={trouble} />
      <div class="actions">
        <button type="button" class="button primary" onClick={save}>
          {anchorsSaid.save}
        </button>
        <button type="button" class="button" onClick={onReset}>
          {anchorsSaid.reset}
        </button>
        <span class="hint">{anchorsSaid.saveHint}</span>
      </div>
    </div>
  );
}

const TILES = [
  "total_anchors",
  "anchors_with_clean_graft",
  "anchors_with_gap_fill",
  "anchors_with_re_route",
  "nodes_deleted",
  "estimated_sessions_affected",
] as const;

const Summary = ({ plan }: { plan: Plan }) => (
  <dl class="tiles" aria-label={said.summary}>
    {TILES.map((name) => (
      <div key={name} class={`tile ${name}`}>
        <dt>{said.tiles[name]}</dt>
        <dd>{plan.summary[name].toLocaleString("en")}</dd>
      </div>
    ))}
  </dl>
);

const WARNINGS_SHOWN = 4;
const SIGNS = { info: "i", warning: "!", critical: "✕" } as const;

const Warnings = ({ plan }: { plan: Plan }) => (
  <section class="panel" aria-labelledby="warnings-title">
    <h3 id="warnings-title">{said.warnings}</h3>
    {plan.summary.warnings.length === 0 ? (
      <p class="hint">{said.noWarnings}</p>
    ) : (
      <div>
        <WarningList warnings={plan.summary.warnings.slice(0, WARNINGS_SHOWN)} />
        {plan.summary.warnings.length > WARNINGS_SHOWN && (
          <details>
            <summary>{words.more(plan.summary.warnings.length - WARNINGS_SHOWN)}</summary>
            <WarningList warnings={plan.summary.warnings.slice(WARNINGS_SHOWN)} />
          </details>
        )}
      </div>
    )}
  </section>
);

const WarningList = ({ warnings }: { warnings: Warning[] }) => (
  <ul class="warnings">
    {warnings.map((warning) => (
      <li key={warning.message} class={`warning-row ${warning.severity}`}>
        <span class="warning-sign" aria-hidden="true">
          {SIGNS[warning.severity]}
        </span>
        <span>
          <strong>{said.severities[warning.severity]}.</strong> {warning.message}
        </span>
      </li>
    ))}
  </ul>
);

const Fields = ({ plan }: { plan: Plan }) => (
  <section class="panel" aria-labelledby="fields-title">
    <h3 id="fields-title">{said.fields}</h3>
    {plan.summary.fields_to_collect.length === 0 ? (
      <p class="hint">{said.noFields}</p>
    ) : (
      <ul class="fields">
        {plan.summary.fields_to_collect.map((field) => (
          <li key={field.field_name}>
            <strong>{field.display_name}</strong> {said.field(field.affected_anchors.join(", "))}
            <span class="hint"> · {field.reason}</span>
          </li>
        ))}
      </ul>
    )}
  </section>
);
