/** What the palette offers: pure, from what is open and what was found. */

import * as api from "./api";
import { CHART_PARTS } from "./chart_pane";
import { shownDate, shownMoment } from "./dates";
import type { ShellProps } from "./shell";
import { strings } from "./strings";
import type { ChatSummary, FoundPatients, Person } from "./types";

const said = strings.palette;
/** What is offered before anything is written. */
const FIRST = 5;
const FORMS: api.ExportForm[] = ["md", "docx", "json"];

export interface Option {
  id: string;
  label: string;
  /** What tells it from others of the same label. */
  details: string;
  isPossible: boolean;
  run: () => void;
}

export interface Group {
  title: string;
  options: Option[];
}

/** The options that fit, patients first. */
export function groupsOf(
  props: ShellProps,
  query: string,
  chats: ChatSummary[],
  found: FoundPatients | null,
): Group[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (option: Option): boolean => {
    const text = `${option.label} ${option.details}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const conversations = chats.map((chat) => conversation(props, chat)).filter(fits);
  const patients = words.length === 0 ? othersHere(props) : (found?.patients ?? []);
  return [
    { title: said.patients, options: patients.map((one) => patient(props, one)) },
    { title: said.actions, options: actions(props).filter(fits) },
    {
      title: strings.chats.title,
      options: words.length === 0 ? conversations.slice(0, FIRST) : conversations,
    },
  ].filter((group) => group.options.length > 0);
}

type Somebody = Person & { patient_id: string };

function othersHere({ state, people }: ShellProps): Somebody[] {
  return state.all_patient_ids
    .filter((id) => id !== state.patient_id)
    .slice(0, FIRST)
    .map((id) => ({ name: "", birth_date: "", sex: "", ...people.get(id), patient_id: id }));
}

function patient({ isBusy, deeds }: ShellProps, one: Somebody): Option {
  return {
    id: `palette-patient-${one.patient_id}`,
    label: one.name || one.patient_id,
    details: [shownDate(one.birth_date), strings.banner.sex(one.sex), one.patient_id]
      .filter(Boolean)
      .join(" · "),
    isPossible: !isBusy,
    run: () => deeds.openPatient(one.patient_id),
  };
}

function conversation({ deeds }: ShellProps, chat: ChatSummary): Option {
  const names = chat.patients.map((one) => one.name || one.patient_id).join(", ");
  return {
    id: `palette-chat-${chat.chat_id}`,
    label: names || strings.chats.withoutPatient,
    details: [chat.patient_ids.join(", "), strings.chats.lastUsed(shownMoment(chat.updated_at))]
      .filter(Boolean)
      .join(" · "),
    isPossible: true,
    run: () => deeds.openChat(chat.chat_id),
  };
}

function action(id: string, label: string, run: () => void): Option {
  return { id: `palette-${id}`, label, details: "", isPossible: true, run };
}

function actions({ chatId, state, deeds, show }: ShellProps): Option[] {
  const patientId = state.patient_id;
  const ofPatient =
    patientId === null
      ? []
      : [
          ...CHART_PARTS.map((part) =>
            action(`chart-${part}`, said.chart(strings.chart.names[part]), () => deeds.showChart(part)),
          ),
          action("memory", strings.banner.memory, deeds.showMemory),
        ];
  const fileOf = (form: api.ExportForm): string => `rounds-${patientId ?? "session"}.${form}`;
  return [
    action("new", strings.chats.newLong, deeds.newChat),
    action("search", strings.search.label, deeds.search),
    ...ofPatient,
    ...FORMS.map((form) =>
      action(`export-${form}`, said.export(strings.banner.exportAs[form]), () => {
        api.save(api.exportUrl(chatId, patientId, form), fileOf(form)).catch(() => alert(strings.notSaved));
      }),
    ),
    action("print", said.print, () => print()),
    action("rounds", strings.rounds.title, () => {
      location.hash = "#/rounds";
    }),
    action("appearance", strings.appearance.title, () => show("appearance")),
    action("shortcuts", strings.shortcuts.title, () => show("shortcuts")),
    ...(api.hasSignedInHere() ? [action("sign-out", strings.signIn.signOut, () => void api.signOut())] : []),
  ];
}
