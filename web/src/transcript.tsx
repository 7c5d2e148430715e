import { memo } from "preact/compat";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";

import type { Item, Turn } from "./chat";
import { toHtml } from "./markdown";

const NEAR_END_PIXELS = 80;
const COLOURS = 8;
const STEPS: Record<string, string> = {
  load: "Opening the chart",
  decide: "Checking which patient",
  restore: "Restoring the chart",
  enrich: "Reading the context",
  ground: "Preparing",
  chat: "Thinking",
  save: "Saving",
};

interface TranscriptProps {
  turns: Turn[];
  agents: string[];
  /** What made the answers. */
  origin: string;
  /** Reads further into the past; null at its beginning. */
  onEarlier: (() => void) | null;
}

export function Transcript({ turns, agents, origin, onEarlier }: TranscriptProps) {
  const end = useStickyEnd(turns);
  return (
    <>
      {onEarlier && (
        <p class="earlier">
          <button type="button" class="button" onClick={onEarlier}>
            Show earlier messages
          </button>
        </p>
      )}
      <ol class="transcript" aria-label="Conversation">
        {turns.map((turn) => (
          <TurnView key={turn.key} turn={turn} agents={agents} origin={origin} />
        ))}
      </ol>
      <div ref={end} />
      <Announcer turns={turns} />
    </>
  );
}

/** Follows new text, unless the reader has scrolled up. */
function useStickyEnd(turns: Turn[]) {
  const end = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    const box = end.current?.closest(".middle");
    if (!box) return undefined;
    const note = (): void => {
      follows.current = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END_PIXELS;
    };
    box.addEventListener("scroll", note, { passive: true });
    return () => box.removeEventListener("scroll", note);
  }, []);
  const newest = turns.at(-1)?.key;
  useEffect(() => {
    follows.current = true;
  }, [newest]);
  useEffect(() => {
    if (follows.current) end.current?.scrollIntoView({ block: "end" });
  }, [turns]);
  return end;
}

/** Tells screen readers of whole messages, not of every word as it comes. */
function Announcer({ turns }: { turns: Turn[] }) {
  const last = turns.at(-1);
  const done = last?.items.findLast((item) => item.kind !== "tool" && (item.kind !== "agent" || item.isDone));
  const [text, setText] = useState("");
  useEffect(() => {
    if (!last || last.status === "sending") setText("");
    else if (done?.kind === "agent") setText(`${done.agent}: ${done.text}`);
    else if (done && done.kind !== "tool") setText(done.text);
    else setText("An answer is on its way.");
  }, [last?.key, last?.status, done?.id]);
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  );
}

interface TurnProps {
  turn: Turn;
  agents: string[];
  origin: string;
}

const TurnView = memo(function TurnView({ turn, agents, origin }: TurnProps) {
  return (
    <li class="turn">
      {turn.text && (
        <div class="user-message">
          <span class="visually-hidden">{turn.user} said: </span>
          {turn.text}
        </div>
      )}
      {turn.items.map((item) => (
        <ItemView
          key={item.id}
          item={item}
          agents={agents}
          origin={origin}
          isRunning={turn.status === "running"}
        />
      ))}
      <TurnStatus turn={turn} />
    </li>
  );
});

function TurnStatus({ turn }: { turn: Turn }) {
  const writes = turn.items.some((item) => item.kind === "agent" && !item.isDone);
  if (turn.status === "queued") return <p class="status">Waiting for the running turn…</p>;
  if (turn.status === "stopped") return <p class="status">Stopped.</p>;
  if ((turn.status !== "running" && turn.status !== "sending") || writes) return null;
  return (
    <p class="status">
      <span class="dots" aria-hidden="true" /> {STEPS[turn.step ?? ""] ?? "Working"}…
    </p>
  );
}

interface ItemProps {
  item: Item;
  agents: string[];
  origin: string;
  isRunning: boolean;
}

function ItemView({ item, agents, origin, isRunning }: ItemProps) {
  switch (item.kind) {
    case "agent": {
      const colour = Math.max(agents.indexOf(item.agent), 0) % COLOURS;
      return <AgentView item={item} colour={colour} origin={origin} />;
    }
    case "tool":
      return <ToolView item={item} isRunning={isRunning} />;
    case "notice":
      return (
        <p class={`strip ${item.notice === "restored" ? "info" : "warning"}`} role="note">
          {item.text}
        </p>
      );
    case "error":
      return (
        <p class="strip error" role="alert">
          {item.text}
          {item.ref && <small> Reference {item.ref}.</small>}
        </p>
      );
  }
}

type ItemOf<K extends Item["kind"]> = Extract<Item, { kind: K }>;

interface AgentProps {
  item: ItemOf<"agent">;
  colour: number;
  origin: string;
}

const AgentView = memo(function AgentView({ item, colour, origin }: AgentProps) {
  const html = useMemo(() => ({ __html: toHtml(item.text) }), [item.text]);
  return (
    <article class={`agent-message agent-${colour}`} aria-busy={!item.isDone}>
      <header class="agent-head">
        <span class="avatar" aria-hidden="true">
          {item.agent.slice(0, 1)}
        </span>
        <span class="agent-name">{item.agent}</span>
        <span class="ai-label">{origin}</span>
        {item.timestamp && <time dateTime={item.timestamp}>{clock(item.timestamp)}</time>}
      </header>
      <div class={item.isDone ? "prose" : "prose writing"} dangerouslySetInnerHTML={html} />
      {item.citations.length > 0 && <Sources item={item} />}
    </article>
  );
});

function Sources({ item }: { item: ItemOf<"agent"> }) {
  return (
    <details class="sources">
      <summary>
        {item.citations.length} {item.citations.length === 1 ? "source" : "sources"}
      </summary>
      <ul>
        {item.citations.map((one) => (
          <li key={one.ref}>
            <strong>{one.title || one.ref}</strong>
            {one.date && ` (${one.date})`}
            {one.quote && <q>{one.quote}</q>} <code>{one.ref}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

function ToolView({ item, isRunning }: { item: ItemOf<"tool">; isRunning: boolean }) {
  const isWaiting = item.result === null && isRunning;
  const took = item.durationMs === null ? "" : ` · ${Math.round(item.durationMs)} ms`;
  const outcome = item.isError ? "failed" : isWaiting ? "running" : "done";
  return (
    <details class={`tool ${outcome}`}>
      <summary>
        <span class="tool-name">{item.tool}</span>{" "}
        <span class="tool-state">
          {item.agent && `${item.agent} · `}
          {outcome}
          {took}
        </span>
      </summary>
      <pre tabIndex={0}>{item.args || "{}"}</pre>
      {item.result !== null && <pre tabIndex={0}>{item.result}</pre>}
    </details>
  );
}

const clock = (timestamp: string): string =>
  new Date(timestamp).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
