import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

import { AllergyLine } from "./allergy_line";
import * as api from "./api";
import type { People } from "./chat";
import { hueOf, PatientMark, Who } from "./patient_mark";
import { strings } from "./strings";
import type { Demographics, Person, SharedState, Visit } from "./types";
import { PinButton } from "./worklist";

const said = strings.banner;
/** `patient_4` before `patient_15`. */
const byNumber = new Intl.Collator("en", { numeric: true }).compare;
const FORMS: api.ExportForm[] = ["md", "docx", "json"];

interface BannerProps {
  chatId: string;
  state: SharedState;
  people: People;
  /** For which the conversation was launched, if it is of a patient whom a record system opened. */
  visit: Visit | null;
  isOffline: boolean;
  isBusy: boolean;
  onSwitch: (patientId: string) => void;
  onSearch: () => void;
  onMemory: () => void;
  /** Whether the chart stands beside the conversation. */
  hasChart: boolean;
  onChart: () => void;
  onAllergies: () => void;
  /** What stands first, such as the button of the side bar. */
  children: ComponentChildren;
}

/** Who this is about, always in view; each patient of a conversation has a mark of its own. */
export function Banner({
  chatId,
  state,
  people,
  visit,
  isOffline,
  isBusy,
  onSwitch,
  onSearch,
  onMemory,
  hasChart,
  onChart,
  onAllergies,
  children,
}: BannerProps) {
  const active = state.patient_id;
  const colour = active === null ? "no-patient" : hueOf(people, active);
  return (
    <header class={`banner ${colour}`}>
      {/* A new element for every patient, so that the change is seen. */}
      <div class="banner-flash" key={active ?? ""} aria-hidden="true" />
      <div class="banner-top">
        {children}
        <span class="brand" aria-hidden="true">
          {strings.product}
        </span>
        <Identity chatId={chatId} patientId={active} people={people} />
        {visit !== null && visit.patient_id === active && (
          <span class="badge" title={strings.recordSystem.visitHint}>
            {strings.recordSystem.visit(visit.begins, visit.text)}
          </span>
        )}
        {active !== null && <PinButton patientId={active} />}
        <span class="spacer" />
        {isOffline && (
          <span class="badge" title={said.offlineHint}>
            {said.offline}
          </span>
        )}
        <div class="banner-tools">
          <button type="button" class="button subtle" onClick={onSearch}>
            {said.search}
          </button>
          {active !== null && (
            <>
              <button type="button" class="button subtle" aria-expanded={hasChart} onClick={onChart}>
                <span class="of-chart">{strings.chart.show}</span>
                {hasChart && <span class="of-talk">{strings.chart.talk}</span>}
              </button>
              <button type="button" class="button subtle" onClick={onMemory}>
                {said.memory}
              </button>
            </>
          )}
          <ExportMenu chatId={chatId} patientId={active} />
        </div>
      </div>
      {active !== null && <AllergyLine chatId={chatId} patientId={active} onOpen={onAllergies} />}
      <Where state={state} />
      <Files chatId={chatId} state={state} />
      <Roster state={state} people={people} isBusy={isBusy} onSwitch={onSwitch} />
    </header>
  );
}

interface RosterProps {
  state: SharedState;
  people: People;
  isBusy: boolean;
  onSwitch: (patientId: string) => void;
}

function Roster({ state, people, isBusy, onSwitch }: RosterProps) {
  const others = state.all_patient_ids.filter((id) => id !== state.patient_id).sort(byNumber);
  if (others.length === 0) return null;
  return (
    <nav class="roster" aria-label={said.roster}>
      <span class="roster-label">{said.switchTo}</span>
      {others.map((id) => (
        <button type="button" class="chip with-mark" key={id} disabled={isBusy} onClick={() => onSwitch(id)}>
          <PatientMark people={people} patientId={id} person={people.get(id) ?? null} />{" "}
          <span class="visually-hidden">{said.switchTo} </span>
          {[id, people.get(id)?.name].filter(Boolean).join(" ")}
        </button>
      ))}
      {state.patient_count > state.all_patient_ids.length && (
        <span class="roster-label">{said.patientsInAll(state.patient_count)}</span>
      )}
    </nav>
  );
}

/** The step of the patient's scenario. */
function Where({ state }: { state: SharedState }) {
  const place = state.scenario;
  if (!place) return null;
  const done = said.stepsDone(place.done, place.total);
  const needs = place.needs.length > 0 ? ` · ${said.stillNeeded(place.needs.join(", "))}` : "";
  return (
    <section class="roster" aria-label={said.scenario}>
      <strong>
        {place.scenario}: {place.step}
      </strong>
      <progress max={place.total} value={place.done} aria-label={done} />
      <span class="roster-label">
        {done}
        {needs}
      </span>
    </section>
  );
}

interface IdentityProps {
  chatId: string;
  patientId: string | null;
  people: People;
}

function Identity({ chatId, patientId, people }: IdentityProps) {
  const found = useDemographics(chatId, patientId);
  if (patientId === null) {
    return (
      <h1 class="identity" aria-live="polite">
        <span class="patient-name">{said.noPatient}</span>
      </h1>
    );
  }
  return (
    <h1 class="identity" aria-live="polite">
      <span class="visually-hidden">{said.activePatient}</span>
      <Who people={people} patientId={patientId} person={found ?? people.get(patientId) ?? null} />
    </h1>
  );
}

function useDemographics(chatId: string, patientId: string | null): Person | null {
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
  if (person === null || person.patient_id !== patientId) return null;
  return { name: person.name ?? "", birth_date: person.birth_date ?? "", sex: person.sex ?? "" };
}

function Files({ chatId, state }: { chatId: string; state: SharedState }) {
  const patientId = state.patient_id;
  if (patientId === null || state.artifacts.length === 0) return null;
  return (
    <nav class="roster" aria-label={said.files}>
      <span class="roster-label">{said.filesShort}</span>
      {state.artifacts.map((file) => (
        <a
          class="chip"
          key={file.artifact_id}
          href={api.artifactUrl(chatId, patientId, file.artifact_id)}
          download={file.file_name}
          onClick={api.saveWithToken}
        >
          ↓ {file.file_name}
        </a>
      ))}
    </nav>
  );
}

function ExportMenu({ chatId, patientId }: { chatId: string; patientId: string | null }) {
  const close = (menu: Element | null): void => menu?.removeAttribute("open");
  const key = (event: KeyboardEvent): void => {
    const menu = event.currentTarget as HTMLElement;
    if (event.key !== "Escape") return;
    close(menu);
    menu.querySelector("summary")?.focus();
  };
  const leave = (event: FocusEvent): void => {
    const menu = event.currentTarget as HTMLElement;
    if (!menu.contains(event.relatedTarget as Node | null)) close(menu);
  };
  return (
    <details class="menu-holder" onKeyDown={key} onFocusOut={leave}>
      <summary class="button subtle">{said.exportMenu}</summary>
      <ul class="menu">
        {FORMS.map((form) => (
          <li key={form}>
            <a
              class="menu-item"
              href={api.exportUrl(chatId, patientId, form)}
              download={`rounds-${patientId ?? "session"}.${form}`}
              onClick={(event) => {
                api.saveWithToken(event);
                close(event.currentTarget.closest("details"));
              }}
            >
              {said.exportAs[form]}
            </a>
          </li>
        ))}
      </ul>
    </details>
  );
}
