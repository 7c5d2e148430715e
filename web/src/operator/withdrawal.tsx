import { useState } from "preact/hooks";

import * as api from "./operator_api";
import { Sure } from "./sure";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Overview } from "./types";
import { words } from "./words";

const said = words.withdraw;

interface WithdrawalProps {
  overview: Overview;
  onDone: () => Promise<void>;
}

/** Takes a scenario back, or offers it again. */
export function Withdrawal({ overview, onDone }: WithdrawalProps) {
  const [reason, setReason] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const run = (work: Promise<unknown>): void => {
    setTrouble(null);
    work.then(onDone).catch((error: unknown) => setTrouble(troubleOf(error)));
  };
  return (
    <section class="panel" aria-labelledby="withdraw-title">
      <h3 id="withdraw-title">{said.title}</h3>
      <Problem trouble={trouble} />
      {overview.withdrawn ? (
        <div>
          <p role="status">{said.is(overview.withdrawn)}</p>
          <button type="button" class="button" onClick={() => run(api.offerAgain(overview.scenario_id))}>
            {said.again}
          </button>
        </div>
      ) : (
        <div>
          <p class="hint">{said.hint}</p>
          <div class="field inline">
            <label for="withdraw-reason">{said.reason}</label>
            <input
              id="withdraw-reason"
              value={reason}
              onInput={(event) => setReason(event.currentTarget.value)}
            />
            <button
              type="button"
              class="button"
              disabled={reason.trim().length < 3}
              onClick={() => setAsking(true)}
            >
              {said.button}
            </button>
          </div>
        </div>
      )}
      {isAsking && (
        <Sure
          question={said.sure(overview.name)}
          onYes={() => run(api.withdraw(overview.scenario_id, reason.trim()))}
          onNo={() => setAsking(false)}
        />
      )}
    </section>
  );
}
