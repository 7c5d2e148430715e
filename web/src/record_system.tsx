import { useState } from "preact/hooks";

import { strings } from "./strings";
import type { RecordSystem } from "./types";

interface RecordSystemStripProps {
  told: RecordSystem;
  /** Whom this screen shows; the offer to open them is over. */
  patientId: string | null;
  isBusy: boolean;
  onOpen: (patientId: string) => void;
}

/** Says whom the record system shows where that is somebody else; only a press opens them. */
export function RecordSystemStrip({ told, patientId, isBusy, onOpen }: RecordSystemStripProps) {
  const [declined, setDeclined] = useState<RecordSystem | null>(null);
  const { kind, patient } = told;
  if (kind === "followed" || declined === told) return null;
  if (kind !== "asks" || patient === null) {
    return (
      <p class="strip warning" role="status">
        {strings.recordSystem[kind === "asks" ? "apart" : kind]}
      </p>
    );
  }
  if (patient.patient_id === patientId) return null;
  const who = `${patient.name}, ${strings.banner.born(patient.birth_date)}`;
  return (
    <p class="strip warning" role="status">
      {strings.recordSystem.asks(who, patient.patient_id)}{" "}
      <button type="button" class="button" disabled={isBusy} onClick={() => onOpen(patient.patient_id)}>
        {strings.recordSystem.open}
      </button>{" "}
      <button type="button" class="button subtle" onClick={() => setDeclined(told)}>
        {strings.recordSystem.stay}
      </button>
    </p>
  );
}
