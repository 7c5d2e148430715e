import { useCallback, useEffect, useState } from "preact/hooks";

import { shownMoment } from "../dates";
import * as api from "./operator_api";
import { Problem, type Trouble, troubleOf } from "./trouble";
import type { Emergency } from "./types";
import { words } from "./words";

const said = words.emergencies;
const NOTE_LIMIT_CHARS = 500;

/** Charts that were opened in an emergency, and what somebody else found of each. */
export function Emergencies() {
  const [rows, setRows] = useState<Emergency[] | null>(null);
  const [trouble, setTrouble] = useState<Trouble | null>(null);
  const load = useCallback(async (): Promise<void> => {
    try {
      setRows(await api.emergencies());
      setTrouble(null);
    } catch (error) {
      setTrouble(troubleOf(error));
    }
  }, []);
  useEffect(() => void load(), [load]);
  const review = (row: Emergency, isJustified: boolean, note: string): void => {
    api.reviewEmergency(row.grant_id, isJustified, note).then(load, (error: unknown) => {
      setTrouble(troubleOf(error));
    });
  };
  return (
    <section class="panel" aria-labelledby="emergencies-title">
      <h2 id="emergencies-title">{said.title}</h2>
      <p class="hint">{said.hint}</p>
      <Problem trouble={trouble} />
      {rows?.length === 0 && <p>{said.none}</p>}
      {rows?.map((row) => (
        <Row key={row.grant_id} row={row} onReview={(is, note) => review(row, is, note)} />
      ))}
    </section>
  );
}

interface RowProps {
  row: Emergency;
  onReview: (isJustified: boolean, note: string) => void;
}

function Row({ row, onReview }: RowProps) {
  const [note, setNote] = useState("");
  const title = said.opened(row.principal, row.patient_id);
  return (
    <article class="emergency" aria-label={title}>
      <h3>{title}</h3>
      <p>
        {said.when(shownMoment(row.granted_at), shownMoment(row.expires_at))} <q>{row.reason}</q>
      </p>
      {row.review ? (
        <p>
          <strong>{row.review.is_justified ? said.justified : said.unjustified}</strong>{" "}
          {said.by(row.review.by, shownMoment(row.review.at))} {row.review.note && <q>{row.review.note}</q>}
        </p>
      ) : (
        <div class="field inline">
          <label>
            {said.note}{" "}
            <input
              value={note}
              maxLength={NOTE_LIMIT_CHARS}
              onInput={(event) => setNote(event.currentTarget.value)}
            />
          </label>
          {[true, false].map((isJustified) => (
            <button
              key={String(isJustified)}
              type="button"
              class="button"
              onClick={() => onReview(isJustified, note.trim())}
            >
              {isJustified ? said.justified : said.unjustified}
            </button>
          ))}
        </div>
      )}
    </article>
  );
}
