import { memo } from "preact/compat";

import { AgentView } from "./agent_view";
import { AnswerActions } from "./answer_actions";
import { type Item, isOpen, type Turn } from "./chat";
import { CopyButton } from "./copy";
import { strings } from "./strings";
import type { TurnActions } from "./transcript";
import type { Session } from "./types";
import { spaced, titled } from "./words";

const said = strings.transcript;
const PROPOSES = "propose_plan";

interface TurnProps {
  turn: Turn;
  session: Session;
  actions: TurnActions;
}

/** One message of the clinician and all that came of it. */
export const TurnView = memo(function TurnView({ turn, session, actions }: TurnProps) {
  return (
    <>
      {turn.text && <UserMessage turn={turn} actions={actions} />}
      {folded(turn.items).map((item) =>
        item.kind === "tools" ? (
          <ToolsView key={item.id} tools={item.tools} isRunning={turn.status === "running"} />
        ) : (
          <ItemView
            key={item.id}
            item={item}
            session={session}
            isRunning={turn.status === "running"}
            actions={actions}
          />
        ),
      )}
      <TurnStatus turn={turn} onResend={actions.onResend} />
      <AnswerActions turn={turn} actions={actions} />
    </>
  );
});

function UserMessage({ turn, actions }: { turn: Turn; actions: TurnActions }) {
  return (
    <div class={turn.status === "queued" ? "user-turn queued" : "user-turn"}>
      <div class="user-message">
        <span class="visually-hidden">{said.said(turn.user)}</span>
        {turn.text}
      </div>
      <div class="message-actions">
        <button
          type="button"
          class="button tiny"
          aria-label={said.editLong}
          aria-description={turn.status === "done" ? said.editHow : undefined}
          onClick={() => actions.onEdit(turn)}
        >
          {said.edit}
        </button>
        <CopyButton text={turn.text} label={strings.copy.message} />
        {turn.status === "queued" && turn.runId !== null && (
          <button
            type="button"
            class="button tiny"
            aria-label={said.withdrawLong}
            onClick={() => actions.onWithdraw(turn.runId as string)}
          >
            {said.withdraw}
          </button>
        )}
      </div>
    </div>
  );
}

function TurnStatus({ turn, onResend }: { turn: Turn; onResend: (text: string) => void }) {
  if (turn.status === "queued") return <p class="status">{turn.meanwhile || said.queued}</p>;
  if (turn.status === "stopped" || turn.status === "failed") {
    const hasError = turn.items.some((item) => item.kind === "error");
    return (
      <p class="status">
        {turn.status === "stopped" ? said.stopped : !hasError && said.failed}{" "}
        {turn.text && (
          <button type="button" class="button tiny" onClick={() => onResend(turn.text)}>
            {said.resend}
          </button>
        )}
      </p>
    );
  }
  const writes = turn.items.some((item) => item.kind === "agent" && !item.isDone);
  if (!isOpen(turn) || writes) return null;
  return (
    <p class="status">
      <span class="dots" aria-hidden="true" /> {said.steps[turn.step ?? ""] ?? said.working}…
    </p>
  );
}

interface ItemProps {
  item: Item;
  session: Session;
  isRunning: boolean;
  actions: TurnActions;
}

const INFORMS = new Set(["restored", "told", "progress"]);

function ItemView({ item, session, isRunning, actions }: ItemProps) {
  switch (item.kind) {
    case "agent":
      return <AgentView item={item} session={session} onSource={actions.onSource} />;
    case "tool":
      return <ToolView item={item} isRunning={isRunning} />;
    case "notice":
      return (
        <p class={`strip ${INFORMS.has(item.notice) ? "info" : "warning"}`} role="note">
          {item.text}
        </p>
      );
    case "error":
      return (
        <p class="strip error" role="alert">
          {item.text}
          {item.ref && <small> {said.reference(item.ref)}</small>}
        </p>
      );
  }
}

interface Tools {
  kind: "tools";
  id: string;
  tools: ItemOf<"tool">[];
}

/** Tools that ran one after the other stand in one line, which opens. */
function folded(items: Item[]): (Item | Tools)[] {
  const shown: (Item | Tools)[] = [];
  for (const item of items) {
    const last = shown.at(-1);
    if (item.kind === "tool" && last?.kind === "tools") last.tools.push(item);
    else if (item.kind === "tool" && last?.kind === "tool") {
      shown[shown.length - 1] = { kind: "tools", id: last.id, tools: [last, item] };
    } else shown.push(item);
  }
  return shown;
}

function ToolsView({ tools, isRunning }: { tools: ItemOf<"tool">[]; isRunning: boolean }) {
  const agents = [...new Set(tools.map((tool) => spaced(tool.agent)))].join(", ");
  const isWaiting = isRunning && tools.some((tool) => tool.result === null);
  const outcome = tools.some((tool) => tool.isError) ? "failed" : isWaiting ? "running" : "done";
  const took = strings.tool.milliseconds(
    Math.round(tools.reduce((sum, tool) => sum + (tool.durationMs ?? 0), 0)),
  );
  return (
    <details class={`tool ${outcome}`}>
      <summary>
        <span class="tool-name">{strings.tool.several(tools.length)}</span>{" "}
        <span class="tool-state">
          {[agents, strings.tool[outcome], !isWaiting && took].filter(Boolean).join(" · ")}
        </span>
      </summary>
      {tools.map((tool) => (
        <ToolView key={tool.id} item={tool} isRunning={isRunning} />
      ))}
    </details>
  );
}

type ItemOf<K extends Item["kind"]> = Extract<Item, { kind: K }>;

function ToolView({ item, isRunning }: { item: ItemOf<"tool">; isRunning: boolean }) {
  const isWaiting = item.result === null && isRunning;
  const took = item.durationMs === null ? null : strings.tool.milliseconds(Math.round(item.durationMs));
  const outcome = item.isError ? "failed" : isWaiting ? "running" : "done";
  return (
    <details class={`tool ${outcome} ${item.tool === PROPOSES ? "proposes" : ""}`}>
      <summary>
        <span class="tool-name">{titled(item.tool)}</span>{" "}
        <span class="tool-state">
          {[spaced(item.agent), strings.tool[outcome], took].filter(Boolean).join(" · ")}
        </span>
      </summary>
      <pre role="group" tabIndex={0} aria-label={strings.tool.arguments}>
        {pretty(item.args || "{}")}
      </pre>
      {item.result !== null && (
        <pre role="group" tabIndex={0} aria-label={strings.tool.result}>
          {pretty(item.result)}
        </pre>
      )}
    </details>
  );
}

/** JSON on lines of its own; what is none stays as it is. */
function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
