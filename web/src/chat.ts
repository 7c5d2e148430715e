/** The state of one conversation on this screen, and how each frame changes it. Pure. */

import { applyPatch } from "./patch";
import { strings } from "./strings";
import type {
  BranchOrigin,
  ChartView,
  Citation,
  Claim,
  Frame,
  HistoryPage,
  LostView,
  MadeBy,
  NoticeValue,
  Opinion,
  Person,
  SharedState,
  ToolRun,
  Turn as StoredTurn,
} from "./types";

export type Item =
  | {
      kind: "agent";
      id: string;
      agent: string;
      text: string;
      isDone: boolean;
      timestamp: string | null;
      citations: Citation[];
      /** Who wrote it; null where that was not noted. */
      madeBy: MadeBy | null;
      claims: Claim[];
      views: (ChartView | LostView)[];
    }
  | {
      kind: "tool";
      id: string;
      agent: string;
      tool: string;
      args: string;
      result: string | null;
      isError: boolean;
      durationMs: number | null;
    }
  | { kind: "notice"; id: string; notice: string; text: string }
  | { kind: "error"; id: string; text: string; code: string; ref: string | null };

export type Status = "sending" | "queued" | "running" | "done" | "stopped" | "failed";

export interface Turn {
  key: string;
  runId: string | null;
  /** Place in the patient's history; null until it was read from there. */
  turnId: number | null;
  /** Whose history it belongs to; undefined until the server has decided. */
  patientId: string | null | undefined;
  user: string;
  text: string;
  status: Status;
  /** What the server answers a message that still waits; our own words for waiting if nothing. */
  meanwhile: string;
  step: string | null;
  seq: number;
  /** Whether asking the same again does nothing but answer. */
  isRepeatable: boolean;
  /** What the user thought of it when the history was read. */
  opinion: Opinion | null;
  items: Item[];
}

/** Who the patients of a conversation are, in the order in which they were first opened. */
export type People = ReadonlyMap<string, Person | null>;

export interface Chat {
  state: SharedState;
  people: People;
  turns: Turn[];
  /** Where each patient's history that was read goes on into the past. */
  earlier: ReadonlyMap<string | null, number>;
  branchedFrom: BranchOrigin | null;
}

/** The code of a turn over which the server died. */
const INTERRUPTED = "interrupted";

export const EMPTY: Chat = {
  state: {
    patient_id: null,
    patient: null,
    all_patient_ids: [],
    patient_count: 0,
    plan: null,
    question: null,
    artifacts: [],
    scenario: null,
  },
  people: new Map(),
  turns: [],
  earlier: new Map(),
  branchedFrom: null,
};

/** Whether the server has said anything of its run, which can then be asked for by its id. */
export const isBegun = (turn: Turn): boolean => turn.seq > 0 && isOpen(turn);

export const isOpen = (turn: Turn): boolean =>
  turn.status === "sending" || turn.status === "queued" || turn.status === "running";

const isVisible = (chat: Chat, turn: Turn): boolean =>
  isOpen(turn) || turn.patientId === undefined || turn.patientId === chat.state.patient_id;

/** What a clinician sees: only turns of the patient in the banner, and those still going on. */
export const visibleTurns = (chat: Chat): Turn[] => chat.turns.filter((turn) => isVisible(chat, turn));

export const newestVisible = (chat: Chat): Turn | undefined =>
  chat.turns.findLast((turn) => isVisible(chat, turn));

export function newTurn(key: string, text: string, runId: string | null = null): Turn {
  return {
    key,
    runId,
    turnId: null,
    patientId: undefined,
    user: strings.transcript.you,
    text,
    status: "sending",
    meanwhile: "",
    step: null,
    seq: 0,
    isRepeatable: false,
    opinion: null,
    items: [],
  };
}

export function withTurn(chat: Chat, turn: Turn): Chat {
  return { ...chat, turns: [...chat.turns, turn] };
}

export function withStopped(chat: Chat, keys: ReadonlySet<string>): Chat {
  const turns = chat.turns.map((turn) =>
    keys.has(turn.key) ? { ...turn, status: "stopped" as const } : turn,
  );
  return { ...chat, turns };
}

/** Put a page of one patient's stored turns among those on this screen; nothing appears twice. */
export function withHistory(
  chat: Chat,
  patientId: string | null,
  page: HistoryPage,
  isNewest: boolean,
): Chat {
  const turns = [...chat.turns];
  const lastId = page.turns.at(-1)?.turn_id ?? 0;
  // What was said since the page opened has no place in the history yet: it is newer than the page.
  const isLater = (turn: Turn): boolean =>
    isOpen(turn) || (turn.patientId === patientId && (turn.turnId ?? Infinity) > lastId);
  const next = turns.findIndex(isLater);
  let place = next >= 0 ? next : isNewest ? turns.length : 0;
  for (const stored of page.turns.toReversed()) {
    const index = turns.findIndex((turn) => shows(turn, stored.run_id));
    if (index < 0) turns.splice(place, 0, restored(stored, patientId));
    else place = index;
  }
  // The newest page, read once more, must not forget how far back the others went.
  if (isNewest && reachesKnown(chat, page)) return { ...chat, turns };
  const earlier = new Map(chat.earlier);
  if (page.next_before === null) earlier.delete(patientId);
  else earlier.set(patientId, page.next_before);
  return { ...chat, turns, earlier };
}

/**
 * Show the newest turn of the session if the server died over it: whose it was is not known for certain, and nobody
 * would find it there. A model is never shown it.
 */
export function withInterrupted(chat: Chat, lastRunId: string | null, session: HistoryPage): Chat {
  const last = session.turns.at(-1);
  const isShown = chat.turns.some((turn) => shows(turn, lastRunId));
  if (!last || isShown || last.run_id !== lastRunId || last.error_code !== INTERRUPTED) return chat;
  return withTurn(chat, { ...restored(last, chat.state.patient_id), turnId: null });
}

/** Whether `turn` shows that run: a message sent again after its run died is told of it by a run of its own. */
const shows = (turn: Turn, runId: string | null): boolean =>
  turn.runId === runId || turn.items.some((item) => item.kind === "error" && item.ref === runId);

/** Whether the oldest turn of the page is on the screen already. */
const reachesKnown = (chat: Chat, page: HistoryPage): boolean =>
  chat.turns.some((turn) => turn.runId === page.turns[0]?.run_id);

function restored(turn: StoredTurn, patientId: string | null): Turn {
  const tools = (turn.tools ?? []).map((one, place) => ({ ...one, id: `${turn.run_id}-tool-${place}` }));
  const items = turn.agent_responses.flatMap((one): Item[] => [
    ...tools
      .splice(0, tools.filter((tool) => Date.parse(tool.at) <= Date.parse(one.timestamp)).length)
      .map(ranTool),
    {
      kind: "agent",
      id: one.message_id,
      agent: one.agent,
      text: one.text,
      isDone: true,
      timestamp: one.timestamp,
      citations: one.citations,
      madeBy: one.made_by,
      claims: one.statements,
      views: one.views.filter((view) => isOf(view, patientId)),
    },
  ]);
  items.push(...tools.map(ranTool));
  if (turn.error_code === INTERRUPTED) {
    const text = strings.transcript.interrupted;
    items.push({ kind: "error", id: `error-${items.length}`, text, code: INTERRUPTED, ref: null });
  }
  const status = ({ FAILED: "failed", STOPPED: "stopped" } as const)[turn.turn_status as "FAILED"];
  return {
    ...newTurn(turn.run_id, turn.user_message, turn.run_id),
    turnId: turn.turn_id,
    patientId,
    user: turn.user || strings.transcript.you,
    status: status ?? "done",
    isRepeatable: turn.is_repeatable ?? false,
    opinion: turn.feedback ?? null,
    items,
  };
}

/** A tool that ran before; what it returned stands in the answer, and is not read again. */
const ranTool = (run: ToolRun & { id: string }): Item => ({
  ...toolItem(run.id, run.agent, run.tool),
  args: JSON.stringify(run.parameters),
  isError: run.is_error,
  durationMs: run.duration_ms,
});

export function reduce(chat: Chat, frame: Frame): Chat {
  const index = turnIndex(chat, frame);
  if (index < 0) return frame.type === "RUN_STARTED" ? reduce(adopt(chat, frame), frame) : chat;
  const turn = chat.turns[index] as Turn;
  const seq = frame.metadata?.runId === undefined ? undefined : frame.metadata.seq;
  // After a reconnect the server may say again what we know.
  if (seq !== undefined && seq <= turn.seq) return chat;
  const moved = turnAfter({ ...turn, seq: seq ?? turn.seq }, frame, chat.state);
  return withState({ ...chat, turns: chat.turns.with(index, moved) }, stateAfter(chat.state, frame));
}

/** Take over the server's state; where it knows no patient any more, neither does this screen. */
export function withState(chat: Chat, state: SharedState): Chat {
  const isCleared = chat.state.patient_count > 0 && state.patient_count === 0;
  if (!isCleared) return { ...chat, state, people: peopleAfter(chat.people, state) };
  return {
    state,
    people: new Map(),
    turns: chat.turns.filter(isOpen),
    earlier: new Map(),
    branchedFrom: null,
  };
}

/** Whoever is new comes last, so that the marks of the others stay as they are. */
function peopleAfter(people: People, state: SharedState): People {
  const active = state.patient_id;
  const ids = active === null ? state.all_patient_ids : [active, ...state.all_patient_ids];
  const unknown = ids.filter((id) => !people.has(id));
  const isNamed = active !== null && state.patient !== null && people.get(active) !== state.patient;
  if (unknown.length === 0 && !isNamed) return people;
  const grown = new Map(people);
  for (const id of unknown) grown.set(id, null);
  if (active !== null && state.patient !== null) grown.set(active, state.patient);
  return grown;
}

/** Rows of anybody else's chart are never drawn; two charts that were laid side by side are of nobody alone. */
const isOf = (view: ChartView | LostView, patientId: string | null | undefined): boolean =>
  !("patient_id" in view) ||
  view.patient_id === "" ||
  patientId === undefined ||
  view.patient_id === patientId;

/** A run that this screen did not ask for: another device's, or one from before a reload. */
function adopt(chat: Chat, frame: Frame & { type: "RUN_STARTED" }): Chat {
  const asked = frame.input?.messages.at(-1)?.content ?? "";
  return withTurn(chat, newTurn(frame.runId, asked, frame.runId));
}

function turnIndex(chat: Chat, frame: Frame): number {
  const { runId, clientMessageId } = frame.metadata ?? {};
  return chat.turns.findLastIndex(
    (turn) =>
      (runId !== undefined && turn.runId === runId) ||
      (clientMessageId !== undefined && turn.key === clientMessageId),
  );
}

function stateAfter(state: SharedState, frame: Frame): SharedState {
  if (frame.type === "STATE_SNAPSHOT") return frame.snapshot;
  return frame.type === "STATE_DELTA" ? applyPatch(state, frame.delta) : state;
}

function turnAfter(turn: Turn, frame: Frame, before: SharedState): Turn {
  const runId = frame.metadata?.runId ?? turn.runId;
  const here = { ...turn, runId };
  switch (frame.type) {
    case "RUN_STARTED":
      // What the history said of it meanwhile is now told from the beginning.
      return { ...begun(here, frame.metadata?.notice), items: [] };
    case "RUN_FINISHED":
      return {
        ...closed(here, frame.outcome.type === "cancelled" ? "stopped" : "done"),
        isRepeatable: frame.metadata?.isRepeatable ?? false,
      };
    case "RUN_ERROR":
      return closed(with_(here, errorItem(frame, here.items.length)), "failed");
    case "STEP_STARTED":
      return { ...here, step: frame.stepName };
    case "STEP_FINISHED":
      return { ...here, step: null };
    case "STATE_SNAPSHOT":
    case "STATE_DELTA":
      return { ...here, patientId: stateAfter(before, frame).patient_id };
    case "CUSTOM":
      return customised(here, frame);
    default:
      return { ...here, items: itemsAfter(here.items, frame) };
  }
}

function closed(turn: Turn, status: Status): Turn {
  const items = turn.items.map((item) => (item.kind === "agent" ? { ...item, isDone: true } : item));
  return { ...turn, status, step: null, items };
}

const with_ = (turn: Turn, item: Item): Turn => ({ ...turn, items: [...turn.items, item] });

function errorItem(frame: Frame & { type: "RUN_ERROR" }, count: number): Item {
  const ref = frame.metadata?.ref ?? null;
  const text = frame.code === INTERRUPTED ? strings.transcript.interrupted : frame.message;
  return { kind: "error", id: `error-${count}`, text, code: frame.code, ref };
}

/** The turn once its run is told of, be it only that it waits. */
function begun(turn: Turn, notice: NoticeValue | undefined): Turn {
  const meanwhile = (notice?.details?.is_answer && notice.text) || "";
  return { ...turn, status: notice?.kind === "queued" ? "queued" : "running", meanwhile };
}

type Custom = Extract<Frame, { type: "CUSTOM" }>;

function customised(turn: Turn, frame: Custom): Turn {
  switch (frame.name) {
    case "notice":
      return noticed(turn, frame);
    case "claims":
      return spokenOf(turn, frame.value.message_id, (item) => ({ ...item, claims: frame.value.claims }));
    case "view":
      if (!isOf(frame.value, turn.patientId)) return turn;
      return spokenOf(turn, frame.value.message_id, (item) => ({
        ...item,
        views: [...item.views, frame.value],
      }));
    case "record_system":
    case "run_unknown":
      return turn;
  }
}

function spokenOf(turn: Turn, id: string, change: (item: ItemOf<"agent">) => ItemOf<"agent">): Turn {
  return { ...turn, items: changed(turn.items, id, "agent", change) };
}

function noticed(turn: Turn, frame: Custom & { name: "notice" }): Turn {
  const { kind = "", text = "" } = frame.value;
  // Said ahead of the run it means "wait"; as one of the run's own frames, that the wait is over.
  if (kind === "queued") return begun(turn, frame.metadata?.seq ? undefined : frame.value);
  return with_(turn, { kind: "notice", id: `notice-${turn.items.length}`, notice: kind, text });
}

type ItemFrame = Extract<Frame, { messageId: string } | { toolCallId: string }>;

function itemsAfter(items: Item[], frame: ItemFrame): Item[] {
  switch (frame.type) {
    case "TEXT_MESSAGE_START":
      return [...items, agentItem(frame.messageId, frame.name)];
    case "TEXT_MESSAGE_CONTENT":
      return changed(items, frame.messageId, "agent", (item) => ({
        ...item,
        text: item.text + frame.delta,
      }));
    case "TEXT_MESSAGE_END":
      return changed(items, frame.messageId, "agent", (item) => ({
        ...item,
        isDone: true,
        timestamp: frame.metadata?.timestamp ?? null,
        citations: frame.metadata?.citations ?? [],
        madeBy: frame.metadata?.madeBy ?? null,
        claims: frame.metadata?.statements ?? item.claims,
      }));
    case "TOOL_CALL_START":
      return [...items, toolItem(frame.toolCallId, frame.metadata?.agent ?? "", frame.toolCallName)];
    case "TOOL_CALL_ARGS":
      return changed(items, frame.toolCallId, "tool", (item) => ({
        ...item,
        args: item.args + frame.delta,
      }));
    case "TOOL_CALL_END":
      return items;
    case "TOOL_CALL_RESULT":
      return changed(items, frame.toolCallId, "tool", (item) => ({
        ...item,
        result: frame.content,
        isError: frame.metadata?.isError ?? false,
        durationMs: frame.metadata?.durationMs ?? null,
      }));
  }
}

const agentItem = (id: string, agent: string): Item => ({
  kind: "agent",
  id,
  agent,
  text: "",
  isDone: false,
  timestamp: null,
  citations: [],
  madeBy: null,
  claims: [],
  views: [],
});

const toolItem = (id: string, agent: string, tool: string): ItemOf<"tool"> => ({
  kind: "tool",
  id,
  agent,
  tool,
  args: "",
  result: null,
  isError: false,
  durationMs: null,
});

type ItemOf<K extends Item["kind"]> = Extract<Item, { kind: K }>;

function changed<K extends Item["kind"]>(
  items: Item[],
  id: string,
  kind: K,
  change: (item: ItemOf<K>) => Item,
): Item[] {
  return items.map((item) => (item.kind === kind && item.id === id ? change(item as ItemOf<K>) : item));
}
