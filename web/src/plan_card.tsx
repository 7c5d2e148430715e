import { useState } from "preact/hooks";

import type { Plan, PlanStep, Press } from "./types";

interface PlanCardProps {
  plan: Plan;
  isBusy: boolean;
  onAnswer: (text: string, press: Press) => void;
  onChange: (draft: string) => void;
}

const MARKS: Record<PlanStep["status"], string> = {
  pending: "○",
  running: "◐",
  done: "●",
  skipped: "–",
};

/** The plan as it stands; while it waits, nothing runs before the clinician has answered. */
export function PlanCard({ plan, isBusy, onAnswer, onChange }: PlanCardProps) {
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set());
  const isProposed = plan.status === "proposed";
  const chosen = plan.steps.filter((step) => !left.has(step.number)).map((step) => step.number);
  const done = plan.steps.filter((step) => step.status === "done" || step.status === "skipped").length;
  const toggle = (number: number): void => {
    const next = new Set(left);
    if (!next.delete(number)) next.add(number);
    setLeft(next);
  };
  const confirm = (): void => {
    const press: Press = { target_id: plan.plan_id, answer: "confirm" };
    onAnswer("Confirm", left.size > 0 ? { ...press, steps: chosen } : press);
  };
  return (
    <section class="card plan" aria-label="Plan">
      <h2>{isProposed ? "Proposed plan" : `Plan: ${done} of ${plan.steps.length} steps done`}</h2>
      <ol class="steps">
        {plan.steps.map((step) => (
          <li key={step.number} class={`step ${step.status}`}>
            <label>
              {isProposed ? (
                <input
                  type="checkbox"
                  checked={!left.has(step.number)}
                  disabled={isBusy}
                  onChange={() => toggle(step.number)}
                />
              ) : (
                <span class="mark" aria-hidden="true">
                  {MARKS[step.status]}
                </span>
              )}
              <span class="step-text">
                <strong>{step.agent}</strong> {step.text}
                {!isProposed && <span class="visually-hidden"> ({step.status})</span>}
              </span>
            </label>
          </li>
        ))}
      </ol>
      {isProposed && (
        <div class="actions">
          <button
            type="button"
            class="button primary"
            disabled={isBusy || chosen.length === 0}
            onClick={confirm}
          >
            Confirm
          </button>
          <button type="button" class="button" disabled={isBusy} onClick={() => onChange("Change the plan: ")}>
            Change
          </button>
          <button
            type="button"
            class="button"
            disabled={isBusy}
            onClick={() => onAnswer("Cancel", { target_id: plan.plan_id, answer: "cancel" })}
          >
            Cancel
          </button>
        </div>
      )}
    </section>
  );
}
