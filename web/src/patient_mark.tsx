import { createContext } from "preact";

import type { People } from "./chat";
import { strings } from "./strings";
import type { Person } from "./types";

const said = strings.banner;
const HUES = 12;

/** By the order in which patients were first opened: no two of a conversation's first twelve share one. */
export function hueOf(people: People, patientId: string): string {
  const place = Math.max([...people.keys()].indexOf(patientId), 0);
  return `patient-${place % HUES}${place >= HUES ? " later-patient" : ""}`;
}

/** Of the first and the last name; of who has none, the end of the id. */
export function initialsOf(person: Person | null, patientId: string): string {
  const names = (person?.name ?? "").split(/[\s,]+/).filter((word) => /^\p{L}/u.test(word));
  const letters = [names[0], names.length > 1 ? names.at(-1) : undefined].map(
    (name) => [...(name ?? "")][0] ?? "",
  );
  return (
    letters.join("").toUpperCase() ||
    patientId
      .replace(/[^A-Za-z0-9]/g, " ")
      .trim()
      .split(" ")
      .at(-1)
      ?.slice(-3) ||
    "?"
  );
}

/** Who the patients of this conversation are, for what is drawn deep within it. */
export const Known = createContext<People>(new Map());

/** Name, birth date, sex and id in one line, for files and paper. */
export function identityText(people: People, patientId: string): string {
  const person = people.get(patientId);
  return [person?.name, ...detailsOf(person), patientId].filter(Boolean).join(" · ");
}

function detailsOf(person: Person | null | undefined): string[] {
  const born = person?.birth_date ? [said.born(person.birth_date)] : [];
  return person?.sex ? [...born, said.sex(person.sex)] : born;
}

interface MarkProps {
  people: People;
  patientId: string;
  person: Person | null;
}

/** What a patient is known by at a glance: letters and a hue, never the hue alone. */
export function PatientMark({ people, patientId, person }: MarkProps) {
  return (
    <span class={`patient-mark ${hueOf(people, patientId)}`} aria-hidden="true">
      {initialsOf(person, patientId)}
    </span>
  );
}

/** Mark, name, id, birth date and sex, wherever a patient's texts are. */
export function Who({ people, patientId, person }: MarkProps) {
  const details = detailsOf(person);
  return (
    <>
      <PatientMark people={people} patientId={patientId} person={person} />
      {person?.name && (
        <span class="patient-name" dir="auto">
          {person.name}
        </span>
      )}
      <code class="patient-id">{patientId}</code>
      {details.length > 0 && <span class="patient-details">{details.join(" · ")}</span>}
    </>
  );
}
