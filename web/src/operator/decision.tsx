import { useRef, useState } from "preact/hooks";

import { ShareInput } from "./deployment";
import * as api from "./operator_api";
import { Sure } from "./sure";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Plan } from "./types";
import { words } from "./words";

const said = words.decide;

interface DecisionProps {
  plan: Plan;
  operator: string;
  /** Whether somebody else than the proposer must approve. */
  needsSecond: boolean;
  isDirty: boolean;
  onDone: () => Promise<void>;
}

/** Approve, cancel, deploy; what cannot be done now says why. */
export function Decision({ plan, operator, needsSecond, isDirty, onDone }: DecisionProps) {
  const place = useRef<HTMLElement>(null);
  const [asked, setAsked] = useState<"cancel" | "deploy" | null>(null);
  const [share, setShare] = useState(100);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const [isBusy, setBusy] = useState(false);
  const isOwn = needsSecond && plan.created_by === operator;
  const isPending = plan.status === "pending";
  const does = async (act: () => Promise<unknown>): Promise<void> => {
    setAsked(null);
    setTrouble(null);
    setBusy(true);
    try {
      await act();
    } catch (error) {
      setTrouble(troubleOf(error));
    }
    setBusy(false);
    await onDone();
    // The button that was pressed may be gone; whoever has no pointer goes on from here.
    if (document.activeElement === document.body) place.current?.focus();
  };
  const hint = isDirty
    ? said.saveFirst
    : !isPending
      ? null
      : !needsSecond
        ? said.alone
        : isOwn
          ? said.second
          : said.unapproved;
  return (
    <section ref={place} id="decision" class="decision" aria-label={said.label} tabIndex={-1}>
      <Problem trouble={trouble} />
      <div class="actions">
        {isPending && (
          <button
            type="button"
            class="button primary"
            disabled={isDirty || isBusy || isOwn}
            onClick={() => void does(() => api.approve(plan.scenario_id))}
          >
            {said.approve}
          </button>
        )}
        {(!isPending || !needsSecond) && (
          <>
            <ShareInput id="deploy-share" value={share} onChange={setShare} />
            <button
              type="button"
              class="button primary"
              disabled={isDirty || isBusy}
              onClick={() => setAsked("deploy")}
            >
              {said.deploy}
            </button>
          </>
        )}
        <button type="button" class="button danger" disabled={isBusy} onClick={() => setAsked("cancel")}>
          {said.cancel}
        </button>
        {hint && <span class="hint">{hint}</span>}
      </div>
      {asked === "cancel" && (
        <Sure
          question={said.cancelSure}
          onNo={() => setAsked(null)}
          onYes={() => void does(() => api.cancel(plan.scenario_id))}
        />
      )}
      {asked === "deploy" && (
        <Sure
          question={said.deploySure(share)}
          onNo={() => setAsked(null)}
          onYes={() => void does(() => api.deploy(plan.scenario_id, share))}
        />
      )}
    </section>
  );
}
