import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import * as api from "./api";
import type { Demographics, SharedState } from "./types";

interface BannerProps {
  chatId: string;
  state: SharedState;
  isOffline: boolean;
  isBusy: boolean;
  onSwitch: (patientId: string) => void;
  children: ComponentChildren;
}

/** Who this is about, always in view. */
export function Banner({ chatId, state, isOffline, isBusy, onSwitch, children }: BannerProps) {
  const active = state.patient_id;
  const others = state.all_patient_ids.filter((id) => id !== active);
  return (
    <header class={active ? "banner" : "banner no-patient"}>
      <div class="banner-top">
        <span class="brand" aria-hidden="true">
          Rounds
        </span>
        <Identity chatId={chatId} patientId={active} />
        <span class="spacer" />
        {isOffline && (
          <span class="badge" title="Answers come from fixed rules over the records.">
            Offline: not a language model
          </span>
        )}
        {children}
      </div>
      <Files chatId={chatId} state={state} />
      {others.length > 0 && (
        <nav class="roster" aria-label="Other patients of this conversation">
          <span class="roster-label">Switch to</span>
          {others.map((id) => (
            <button
              type="button"
              class="chip"
              key={id}
              disabled={isBusy}
              aria-label={`Switch to ${id}`}
              onClick={() => onSwitch(id)}
            >
              {id}
            </button>
          ))}
          {state.patient_count > state.all_patient_ids.length && (
            <span class="roster-label">{state.patient_count} patients in all</span>
          )}
        </nav>
      )}
    </header>
  );
}

function Identity({ chatId, patientId }: { chatId: string; patientId: string | null }) {
  const person = useDemographics(chatId, patientId);
  if (patientId === null) {
    return (
      <h1 class="identity" aria-live="polite">
        <span class="patient-name">No active patient</span>
      </h1>
    );
  }
  const details = [person?.birth_date && `born ${person.birth_date}`, person?.sex].filter(Boolean);
  return (
    <h1 class="identity" aria-live="polite">
      <span class="visually-hidden">Active patient: </span>
      {person?.name && <span class="patient-name">{person.name}</span>}
      <code class="patient-id">{patientId}</code>
      {details.length > 0 && <span class="patient-details">{details.join(" · ")}</span>}
    </h1>
  );
}

function useDemographics(chatId: string, patientId: string | null): Demographics | null {
  const [person, setPerson] = useState<Demographics | null>(null);
  useEffect(() => {
    setPerson(null);
    if (patientId === null) return undefined;
    let isCurrent = true;
    api.demographics(chatId, patientId).then(
      // A late answer must never name another patient's banner.
      (found) => isCurrent && found.patient_id === patientId && setPerson(found),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [chatId, patientId]);
  return person;
}

function Files({ chatId, state }: { chatId: string; state: SharedState }) {
  const patientId = state.patient_id;
  if (patientId === null || state.artifacts.length === 0) return null;
  return (
    <nav class="roster" aria-label="Files of this patient">
      <span class="roster-label">Files</span>
      {state.artifacts.map((file) => (
        <a
          class="chip"
          key={file.artifact_id}
          href={api.artifactUrl(chatId, patientId, file.artifact_id)}
          download={file.file_name}
        >
          ↓ {file.file_name}
        </a>
      ))}
    </nav>
  );
}
