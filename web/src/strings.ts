/** Every word that the page says, in one place, so that another language is another object. */

import { german } from "./strings_de";

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

const english = {
  product: "Rounds",
  opening: "Opening Rounds…",
  tryAgain: "Try again",
  close: "Close",
  unreachable: "Rounds cannot be reached. Please check the connection and try again.",
  elsewhere: "Another server is answering. Its answer is shown here once it is complete.",
  notSaved: "The file could not be saved. Please try again.",
  skipToMessage: "Skip to the message box",

  signIn: {
    title: "Sign in to Rounds",
    organisation: "Sign in with your organisation",
    signOut: "Sign out",
    label: "Access key or token",
    hint: "It is kept until this page is closed and stored nowhere.",
    submit: "Sign in",
    refused: "That key was not accepted. Please check it and try again.",
    unsendable: "That key holds characters that a browser cannot send.",
    again: "You were signed out.",
    againButton: "Sign in again",
  },

  banner: {
    activePatient: "Active patient: ",
    noPatient: "No active patient",
    born: (date: string) => `born ${date}`,
    offline: "Offline: not a language model",
    offlineHint: "Answers come from fixed rules over the records.",
    roster: "Other patients of this conversation",
    switchTo: "Switch to",
    patientsInAll: (number: number) => `${number} patients in all`,
    files: "Files of this patient",
    filesShort: "Files",
    scenario: "Scenario",
    stepsDone: (done: number, total: number) => `${done} of ${total} steps done`,
    stillNeeded: (names: string) => `still needed: ${names}`,
    search: "Search",
    memory: "Memory",
    exportMenu: "Export",
    exportAs: { md: "Markdown", docx: "Word", json: "JSON" },
  },

  chats: {
    title: "Conversations",
    new: "New",
    newLong: "New conversation",
    show: "Show conversations",
    hide: "Hide conversations",
    loading: "Loading…",
    none: "None yet",
    unreadable: "The list cannot be read now.",
    withoutPatient: "No patient yet",
    lastUsed: (when: string) => `last ${when}`,
  },

  finder: {
    label: "Find a patient",
    hint: "Name, birth date or number",
    found: (number: number) =>
      number === 0 ? "Nobody found." : count(number, "patient found", "patients found"),
    more: "Many are found: write more of the name, or the birth date.",
  },

  chart: {
    label: "Chart",
    show: "Chart",
    talk: "Talk",
    hide: "Hide the chart",
    parts: "Parts of the chart",
    loading: "Reading the chart…",
    filter: "Show only",
    noneSuch: "No result of that name is shown here.",
    names: {
      summary: "Summary",
      results: "Results",
      problems: "Problems",
      medications: "Medications",
      allergies: "Allergies",
      timeline: "Timeline",
      encounters: "Visits",
      documents: "Documents",
    },
    kinds: {
      patient: "Patient",
      person: "Patient",
      allergy: "Allergies",
      problem: "Problems",
      medication: "Medications",
      laboratory: "Laboratory",
      "vital sign": "Vital signs",
      biomarker: "Biomarkers",
      "": "Other",
    } as Record<string, string>,
  },

  memory: {
    title: (patientId: string) => `Memory of ${patientId}`,
    loading: "Reading the memory…",
    hint: "What agents know from this conversation. You can put it right; every change is noted.",
    content: "What is remembered",
    topic: "Topic",
    understood: "What was understood",
    noneUnderstood: "Nothing yet.",
    found: "What tools found",
    noneFound: "Nothing yet.",
    ran: "What ran",
    noneRan: "No tool has run yet.",
    summary: "Summary as agents see it",
    changes: "Changes by people",
    noChanges: "Nobody has changed anything.",
    storing: "Storing… a running turn is waited for.",
    status: { active: "active", retired: "retired", expired: "out of date", deleted: "gone" },
    origin: {
      user_stated: "said by the user",
      extracted: "read in a message",
      inferred: "concluded by an agent",
      model: "concluded by a model",
      rules: "read by rules",
      tool: "found by a tool",
      person: "put right by a person",
    } as Record<string, string>,
    correct: "Correct",
    correctLong: (label: string) => `Correct ${label}`,
    retire: "Retire",
    retireLong: (label: string) => `Retire ${label}`,
    restore: "Restore",
    restoreLong: (label: string) => `Restore ${label}`,
    undo: "Undo",
    undoLong: (label: string) => `Undo the change of ${label}`,
    save: "Save",
    cancel: "Cancel",
    yes: "Yes",
    no: "No",
    newValue: (label: string) => `New value of ${label}`,
    notAValue: "That is no value: write a text, or JSON where there was JSON.",
    askRetire: (label: string) => `Retire ${label}? Agents will not be shown it any more.`,
    askUndo: (label: string) => `Put ${label} back as it was?`,
    corrected: (label: string) => `${label} was corrected.`,
    retired: (label: string) => `${label} was retired.`,
    restored: (label: string) => `${label} was restored.`,
    undone: (label: string) => `The change of ${label} was undone.`,
    did: { correct: "corrected", retire: "retired", restore: "restored", undo: "undid a change of" },
    changed: (by: string, did: string, label: string) => `${by} ${did} ${label}.`,
    takenBack: "undone",
    nothing: "nothing",
    isSo: "yes",
    isNotSo: "no",
    givenTo: (text: string) => `with ${text}`,
    turn: (number: number) => `Turn ${number}`,
    noTurn: "That turn cannot be read.",
    user: "User",
    failed: "failed",
    asked: (text: string) => `for “${text}”`,
    allRuns: (number: number) => `Show all ${number} runs`,
  },

  search: {
    label: "Search this patient's conversation",
    found: (number: number) => count(number, "turn found", "turns found"),
    reading: "Reading older messages…",
    nothing: "Nothing found.",
    close: "Close search",
  },

  transcript: {
    label: "Conversation",
    earlier: "Show earlier messages",
    said: (user: string) => `${user} said: `,
    you: "You",
    queued: "Waiting for the running turn…",
    stopped: "Stopped.",
    failed: "This answer failed.",
    onItsWay: "An answer is on its way.",
    andMore: (beginning: string) => `${beginning}… The rest is in the conversation.`,
    working: "Working",
    steps: {
      load: "Opening the chart",
      decide: "Checking which patient",
      restore: "Restoring the chart",
      enrich: "Reading the context",
      ground: "Preparing",
      chat: "Thinking",
      save: "Saving",
    } as Record<string, string>,
    reference: (ref: string) => `Reference ${ref}.`,
    edit: "Edit",
    editLong: "Edit this message",
    resend: "Ask again",
    byModel: "AI-generated",
    byRules: "Rule-based",
    byUnknown: "Origin not noted",
  },

  months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],

  views: {
    columns: {
      date: "Date",
      end: "Until",
      name: "What",
      value: "Value",
      range: "Range",
      flag: "Flag",
      status: "Status",
      detail: "Details",
    },
    flags: { high: "high", low: "low", critical: "critical", abnormal: "abnormal" } as Record<string, string>,
    signs: { high: "▲", low: "▼", critical: "◆", abnormal: "◆" } as Record<string, string>,
    range: (range: string) => `range ${range}`,
    overTime: (name: string) => `${name} over time`,
    summary: (number: number, first: string, last: string, low: string, high: string, range: string) =>
      `${number} values, ${first} to ${last}; lowest ${low}, highest ${high}${range && `; ${range}`}`,
    table: (title: string) => `Table: ${title}`,
    saveSvg: (name: string) => `SVG: save ${name} as a picture`,
    saveCsv: (name: string) => `CSV: save ${name} as a table`,
    asTable: "Show as table",
    hideTable: "Hide table",
    all: (number: number) => `Show all ${number.toLocaleString("en")} rows`,
    fewer: (number: number) => `Show the first ${number} rows`,
    more: (number: number) => ` and ${number} more`,
    leftOut: (number: number, what: string) => `Not shown: ${number.toLocaleString("en")} ${what}`,
    nothing: "Nothing is recorded.",
    lost: (number: number) => `Rows that were shown here (${number}) cannot be read now.`,
    sourceOf: (name: string, date: string, number: number) =>
      `Source ${number} of ${name}${date && `, ${date}`}`,
  },

  claims: {
    unsupported: "not supported by the record",
    heading: "Not supported by the record:",
    supported: (number: number, all: number) =>
      `${number} of ${all} ${all === 1 ? "statement" : "statements"} supported`,
    leftOutTitle: (number: number) => count(number, "statement was left out", "statements were left out"),
    leftOut: (says: string) => (says ? `The record says: ${says}` : "The record does not agree with it."),
  },

  copy: {
    answer: "Copy",
    answerLong: "Copy this answer",
    code: "Copy code",
    table: "Copy table",
    message: "Copy this message",
    done: "Copied",
    failed: "Not copied",
    tableRegion: "Table",
  },

  tool: {
    failed: "failed",
    running: "running",
    done: "done",
    milliseconds: (ms: number) => `${ms.toLocaleString("en")} ms`,
    arguments: "Arguments",
    result: "Result",
    several: (number: number) => `${number} tools`,
  },

  sources: {
    count: (number: number) => count(number, "source", "sources"),
    name: "Source",
    number: (number: number) => `Source ${number}`,
    loading: "Opening the source…",
    quoted: "Highlighted: the words that the answer quotes.",
    closest: "Highlighted: the passage closest to what the answer says.",
    unmarked: "The answer names this source as a whole.",
    leftOut: (number: number) => `${number.toLocaleString("en")} more characters are not shown.`,
    passage: "Cited passage",
    text: "Text of the source",
  },

  plan: {
    label: "Plan",
    proposed: "Proposed plan",
    hint: "Nothing runs before you confirm.",
    progress: (done: number, all: number) => `Plan: ${done} of ${all} steps done`,
    current: (number: number, all: number, agent: string) => `Step ${number} of ${all}: ${agent}`,
    showSteps: "All steps",
    include: (agent: string) => `Include ${agent}`,
    words: (agent: string) => `What ${agent} does`,
    up: (agent: string) => `Move ${agent} up`,
    down: (agent: string) => `Move ${agent} down`,
    moved: (agent: string, place: number, all: number) => `${agent} is now step ${place} of ${all}.`,
    edit: "Edit steps",
    editDone: "Done editing",
    reset: "As proposed",
    confirm: "Confirm",
    confirmChanged: "Confirm with changes",
    change: "Change",
    changeDraft: "Change the plan: ",
    cancel: "Cancel",
    statuses: { pending: "to do", running: "running", done: "done", skipped: "left out" },
  },

  question: { label: "Open question", yes: "Yes", no: "No", noneOfThese: "None of these" },

  link: {
    lost: (when: string) =>
      `No connection: you can read but not send. What you see was last verified at ${when}. ` +
      "Running answers are kept.",
  },

  composer: {
    label: "Message",
    ask: (patient: string) => `Ask about ${patient}`,
    askAnyone: "Name a patient and ask",
    hint: "Enter sends, Shift and Enter begin a new line",
    used: (length: number, limit: number) =>
      `${length.toLocaleString("en")} of ${limit.toLocaleString("en")} characters` +
      (length > limit ? ": shorten it to send it" : ""),
    waiting: (number: number) => count(number, "message waits", "messages wait"),
    stop: "Stop",
    send: "Send",
    writtenFor: (written: string, open: string) =>
      `Not sent: you began this for ${written}. Open now: ${open}.`,
    sendAnyway: (open: string) => `Send it about ${open}`,
  },

  welcome: {
    label: "Getting started",
    title: "Ask about a patient",
    text:
      "Name a patient to open that chart. Each patient's history stays apart; the bar above " +
      "always shows whose chart is open.",
    examples: (patient: string) => [
      `start tumor board for ${patient}`,
      `What is the current status of ${patient}?`,
      `Show the treatment timeline of ${patient}`,
    ],
    team: "Who answers here",
  },
};

export type Strings = typeof english;

/** By language tag; what is not there is said in English. */
const LANGUAGES: Record<string, Strings> = { en: english, de: german };
const spoken = navigator.language.split("-")[0] ?? "en";

/** What the page is read out in. */
export const language = spoken in LANGUAGES ? spoken : "en";
export const strings: Strings = LANGUAGES[language] ?? english;
