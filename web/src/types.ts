/** What the server says; field names are the wire's. */

export interface PlanStep {
  number: number;
  agent: string;
  text: string;
  status: "pending" | "running" | "done" | "skipped";
}

export interface Plan {
  plan_id: string;
  status: "proposed" | "running" | "done" | "cancelled" | "replaced";
  steps: PlanStep[];
}

export interface Artifact {
  artifact_id: string;
  file_name: string;
  size_bytes: number;
}

export interface Question {
  id: string;
  kind: string;
  text: string;
  /** What its user wrote and waits for the answer; only in a conversation that was read anew. */
  waiting?: string[];
}

/** Where the patient's scenario is. */
export interface ScenarioPlace {
  scenario: string;
  step: string;
  done: number;
  total: number;
  needs: string[];
}

/** Who a patient is, as recorded; "" where the record does not say. */
export interface Person {
  name: string;
  birth_date: string;
  sex: string;
}

export interface SharedState {
  patient_id: string | null;
  /** Who the active patient is, as far as it was noted. */
  patient: Person | null;
  all_patient_ids: string[];
  patient_count: number;
  plan: Plan | null;
  question: Question | null;
  artifacts: Artifact[];
  scenario: ScenarioPlace | null;
  /** After a clear: the words that bring back what was cleared. */
  undo?: { say: string; until: string } | null;
}

interface ReceiptPart {
  url: string;
  valueCode?: string;
  extension?: ReceiptPart[];
}

interface ReceiptAgent {
  who: { display?: string; identifier?: { system: string; value: string } };
  requestor?: boolean;
}

/** What a receipt's resources have of which the page tells. */
interface ReceiptResource {
  resourceType: string;
  agent?: ReceiptAgent[];
  entity?: { what?: { reference?: string }; name?: string }[];
  extension?: ReceiptPart[];
}

/** The receipt of a turn: a FHIR Bundle of an AuditEvent and a Provenance. */
export interface Receipt {
  timestamp: string;
  entry: { resource: ReceiptResource }[];
}

export interface Citation {
  ref: string;
  title: string;
  date?: string | null;
  quote?: string | null;
}

/** One statement of the record, as shown; "" where the record has none. */
export interface ViewRow {
  kind: string;
  name: string;
  value: string;
  number: number | null;
  unit: string;
  range: string;
  flag: string;
  status: string;
  date: string;
  end: string;
  detail: string;
  sources: string[];
}

/** Rows of the chart that a message stands on. */
export interface ChartView {
  view_id: string;
  patient_id: string;
  kind: "facts" | "series" | "table" | "timeline" | "passages";
  title: string;
  columns: string[];
  /** What stands over the columns, where it is not their own names. */
  labels?: string[];
  rows: ViewRow[];
  sources: Citation[];
  left_out: { count: number; what: string; argument: string }[];
  nothing: string;
  notes: string[];
}

/** A view whose rows cannot be read back: how many they were. */
export interface LostView {
  view_id: string;
  rows: number;
}

/** A sentence and what the record says of it; offsets count characters, not units of UTF-16. */
export interface Claim {
  start: number;
  end: number;
  state: "supported" | "unsupported" | "contradicted";
  sources: string[];
  record_says: string;
}

export type MadeBy = "model" | "rules";

export interface AgentMessage {
  message_id: string;
  agent: string;
  text: string;
  timestamp: string;
  citations: Citation[];
  made_by: MadeBy | null;
  statements: Claim[];
  views: (ChartView | LostView)[];
}

export interface Turn {
  turn_id: number;
  run_id: string;
  timestamp: string;
  user: string;
  user_message: string;
  agent_responses: AgentMessage[];
  turn_status: "PENDING" | "IN_PROGRESS" | "COMPLETED" | "FAILED" | "STOPPED";
  error_code?: string | null;
  is_repeatable?: boolean;
  /** What ran for the answer, as far as that is kept. */
  tools?: ToolRun[];
  /** What the user thinks of the answer. */
  feedback?: Opinion;
}

export interface ToolRun {
  tool: string;
  agent: string;
  parameters: Record<string, unknown>;
  is_error: boolean;
  duration_ms: number;
  at: string;
}

export type Reason = "wrong" | "wrong_patient" | "not_supported" | "incomplete" | "other";

/** What the user thinks of an answer. */
export interface Opinion {
  verdict: "up" | "down";
  reason: Reason | null;
  text: string;
}

export interface HistoryPage {
  turns: Turn[];
  next_before: number | null;
}

export interface ChatView {
  chat_id: string;
  patient_id: string | null;
  /** In the order in which they were first opened. */
  patients: (Person & { patient_id: string })[];
  plan: Plan | null;
  question: Question | null;
  artifacts: Artifact[];
  scenario: ScenarioPlace | null;
  running_turn: { run_id: string } | null;
  branched_from?: BranchOrigin | null;
  visit?: Visit | null;
}

/** The visit for which a record system launched the conversation, in its own words. */
export interface Visit {
  patient_id: string;
  text: string;
  begins: string;
}

/** The conversation whose beginning this one has, and the turn before which that ends. */
export interface BranchOrigin {
  conversation_id: string;
  before_turn: number;
}

/** Turns of the caller's conversations in which all words stand that were looked for. */
export interface FoundTurns {
  hits: {
    chat_id: string;
    title: string;
    patient_id: string | null;
    turn_id: number;
    timestamp: string;
    snippet: string;
  }[];
  is_complete: boolean;
}

export interface ChatSummary {
  chat_id: string;
  /** Its user's own, else out of its first question; "" before there is one. */
  title: string;
  patients: (Person & { patient_id: string })[];
  patient_ids: string[];
  created_at: string;
  updated_at: string;
  /** Why nothing of it can be read; its times are none of its own then. */
  problem: string;
}

export interface Session {
  principal: { id: string; name: string };
  agents: { name: string; description: string; is_facilitator: boolean }[];
  model_kind: "language_model" | "offline";
  patient_id_example: string;
  link_hosts: string[];
  /** Who writes dictated words down; "" where nobody does. */
  dictation: "" | "server" | "browser";
}

export interface Demographics {
  patient_id: string;
  name: string | null;
  birth_date: string | null;
  sex: string | null;
}

export type FoundPatient = Person & { patient_id: string };

export interface FoundPatients {
  patients: FoundPatient[];
  /** False where more were found than are shown. */
  is_whole: boolean;
}

export interface SeenToday extends FoundPatient {
  kind: "appointment" | "visit";
  /** Such as "09:30"; "" where none is recorded, or it began on another day. */
  time: string;
  /** The day on which a visit that goes on began, if that is not today. */
  since: string;
  reason: string;
}

export interface WorklistView {
  day: string;
  time_zone: string;
  today: SeenToday[];
  /** Why nobody is listed, where it is not "listed". */
  state: "listed" | "not_searchable" | "too_many" | "unavailable";
  is_whole: boolean;
  pinned: FoundPatient[];
}

/** What another screen has to catch up with. */
export interface Progress {
  running_run_id: string | null;
  last_run_id: string | null;
}

/** What stands behind a citation. */
export interface SourceText {
  ref: string;
  kind: string;
  title: string;
  date: string | null;
  author: string | null;
  text: string | null;
  problem: string | null;
  left_out_chars: number;
}

export interface PatchOperation {
  op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  path: string;
  from?: string;
  value?: unknown;
}

export interface NoticeValue {
  kind?: string;
  text?: string;
  /** Whether the text of a message that waits is its answer already, to be shown at once. */
  details?: { is_answer?: boolean };
}

export interface Metadata {
  /** Place in the run; absent on what is said of a run before its own frames come. */
  seq?: number;
  notice?: NoticeValue;
  runId?: string;
  clientMessageId?: string;
  agent?: string;
  timestamp?: string;
  citations?: Citation[];
  statements?: Claim[];
  madeBy?: MadeBy;
  isError?: boolean;
  /** Of the end of a run. */
  isRepeatable?: boolean;
  durationMs?: number;
  ref?: string;
}

interface Bare<T extends string> {
  type: T;
  metadata?: Metadata;
}

/** The AG-UI events that this server sends. */
export type Frame =
  | (Bare<"RUN_STARTED"> & {
      runId: string;
      input?: { messages: { role: string; content: string }[] };
    })
  | (Bare<"RUN_FINISHED"> & { outcome: { type: "success" | "interrupt" | "cancelled" } })
  | (Bare<"RUN_ERROR"> & { message: string; code: string })
  | (Bare<"STEP_STARTED" | "STEP_FINISHED"> & { stepName: string })
  | (Bare<"STATE_SNAPSHOT"> & { snapshot: SharedState })
  | (Bare<"STATE_DELTA"> & { delta: PatchOperation[] })
  | (Bare<"TEXT_MESSAGE_START"> & { messageId: string; name: string })
  | (Bare<"TEXT_MESSAGE_CONTENT"> & { messageId: string; delta: string })
  | (Bare<"TEXT_MESSAGE_END"> & { messageId: string })
  | (Bare<"TOOL_CALL_START"> & { toolCallId: string; toolCallName: string })
  | (Bare<"TOOL_CALL_ARGS"> & { toolCallId: string; delta: string })
  | (Bare<"TOOL_CALL_END"> & { toolCallId: string })
  | (Bare<"TOOL_CALL_RESULT"> & { toolCallId: string; content: string })
  | (Bare<"CUSTOM"> & { name: "view"; value: ChartView & { message_id: string } })
  | (Bare<"CUSTOM"> & { name: "claims"; value: { message_id: string; claims: Claim[] } })
  | (Bare<"CUSTOM"> & { name: "notice"; value: NoticeValue })
  | (Bare<"CUSTOM"> & { name: "record_system"; value: RecordSystem })
  | (Bare<"CUSTOM"> & { name: "run_unknown"; value: { runId?: string } });

/** What the record system that launched this page shows, seen from this conversation. */
export interface RecordSystem {
  kind: "followed" | "asks" | "unknown" | "apart" | "lost";
  patient: { patient_id: string; name: string; birth_date: string } | null;
}

export interface Press {
  target_id: string;
  answer: string;
  steps?: number[];
  edits?: { number: number; text: string }[];
}

/** A paper that a user gave to the conversation about a patient; not the record. */
export interface Attachment {
  attachment_id: string;
  ref: string;
  file_name: string;
  media_type: string;
  size_bytes: number;
  pages: number;
  gap: string;
  added_at: string;
}

/** What came of a file; `attachment` is null until the user has said yes. */
export interface PaperRead {
  whose: "theirs" | "partly" | "unnamed" | "several" | "unchecked";
  pages: number;
  gap: string;
  attachment: Attachment | null;
}
