import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { Item } from "./chat";
import { View } from "./chart_view";
import { bracketed, claimsInText, markClaims } from "./claims";
import { CopyButton, equip } from "./copy";
import { sourceNumber, toHtml } from "./markdown";
import type { Opened } from "./source_panel";
import { strings } from "./strings";
import type { Citation, Claim, Session } from "./types";
import { spaced, withNamesSpaced, withoutHandBack } from "./words";

const COLOURS = 8;

type AgentItem = Extract<Item, { kind: "agent" }>;

interface AgentProps {
  item: AgentItem;
  session: Session;
  onSource: (opened: Opened) => void;
}

/** What one agent says: who it is, its words, and the sources behind them. */
export const AgentView = memo(function AgentView({ item, session, onSource }: AgentProps) {
  const prose = useRef<HTMLDivElement>(null);
  const html = useMemo(() => {
    const refs = item.citations.map((one) => one.ref);
    const agents = session.agents.map((agent) => agent.name);
    const text = withNamesSpaced(withoutHandBack(bracketed(item.text, item.claims), agents), agents);
    return { __html: toHtml(text, refs) };
  }, [item.text, item.citations, item.claims, session.agents]);
  useLayoutEffect(() => {
    if (prose.current) markClaims(prose.current);
    if (item.isDone && prose.current) equip(prose.current);
  }, [html, item.isDone]);
  const open = (number: number): void => {
    const citation = item.citations[number - 1];
    const link = prose.current?.querySelector(`a[href="#source-${number}"]`);
    if (citation) onSource({ citation, statement: statementAt(link ?? null) });
  };
  const follow = (event: MouseEvent): void => {
    const link = (event.target as Element).closest("a");
    const number = sourceNumber(link?.getAttribute("href") ?? null);
    if (link === null || number === null) return;
    event.preventDefault();
    const citation = item.citations[number - 1];
    if (citation) onSource({ citation, statement: statementAt(link) });
  };
  const place = session.agents.findIndex((agent) => agent.name === item.agent);
  return (
    <article
      class={`agent-message agent-${Math.max(place, 0) % COLOURS}`}
      aria-label={spaced(item.agent)}
      aria-busy={!item.isDone}
    >
      <header class="agent-head">
        <span class="avatar" aria-hidden="true">
          {item.agent.slice(0, 1)}
        </span>
        <span class="agent-name" title={session.agents[place]?.description}>
          {spaced(item.agent)}
        </span>
        <span class="ai-label">{makerOf(item, session)}</span>
        {item.timestamp && <time dateTime={item.timestamp}>{clock(item.timestamp)}</time>}
        {item.isDone && (
          <CopyButton text={claimsInText(item.text, item.claims)} label={strings.copy.answerLong} />
        )}
      </header>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press on a link inside comes up to here, from keys too */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links inside are what has the focus */}
      <div
        ref={prose}
        class={item.isDone ? "prose" : "prose writing"}
        onClick={follow}
        dangerouslySetInnerHTML={html}
      />
      <LeftOut claims={item.claims} />
      {item.views.map((view) => (
        <View key={view.view_id} view={view} onSource={onSource} />
      ))}
      {item.citations.length > 0 && <Sources citations={item.citations} onOpen={open} />}
      <Support claims={item.claims} />
    </article>
  );
});

/** Who wrote it, as was noted with it: what the server would use today says nothing of it. */
function makerOf(item: AgentItem, session: Session): string {
  const said = strings.transcript;
  if (item.madeBy !== null) return item.madeBy === "rules" ? said.byRules : said.byModel;
  if (item.isDone) return said.byUnknown;
  return session.model_kind === "offline" ? said.byRules : said.byModel;
}

/** Sentences that were not shown, since the record says otherwise. */
function LeftOut({ claims }: { claims: Claim[] }) {
  const withheld = claims.filter((claim) => claim.state === "contradicted");
  if (withheld.length === 0) return null;
  return (
    <div class="strip warning left-out" role="note">
      <strong>{strings.claims.leftOutTitle(withheld.length)}</strong>
      <ul>
        {withheld.map((claim, place) => (
          <li key={place}>{strings.claims.leftOut(claim.record_says, claim.sources.length > 0)}</li>
        ))}
      </ul>
    </div>
  );
}

/** How much of what was stated the record supports. */
function Support({ claims }: { claims: Claim[] }) {
  if (claims.length === 0) return null;
  const supported = claims.filter((claim) => claim.state === "supported").length;
  const isWhole = supported === claims.length;
  return (
    <p class={isWhole ? "support" : "support partly"}>
      <span aria-hidden="true">{isWhole ? "✓" : "⚠"}</span>{" "}
      {strings.claims.supported(supported, claims.length)}
    </p>
  );
}

/** The words around a citation: what the source is said to say. */
function statementAt(link: Element | null): string | null {
  const block = link?.closest("li, p, td, th, blockquote");
  if (!block) return null;
  const words = block.cloneNode(true) as Element;
  for (const part of words.querySelectorAll("a.cite, ul, ol")) part.remove();
  return words.textContent;
}

interface SourcesProps {
  citations: Citation[];
  onOpen: (number: number) => void;
}

function Sources({ citations, onOpen }: SourcesProps) {
  const list = useRef<HTMLDetailsElement>(null);
  usePrintedOpen(list);
  return (
    <details class="sources" ref={list}>
      <summary>{strings.sources.count(citations.length)}</summary>
      <ol>
        {citations.map((one, place) => (
          <li key={one.ref}>
            <button type="button" class="source" onClick={() => onOpen(place + 1)}>
              <span class="cite">
                <span class="visually-hidden">{strings.sources.name} </span>
                {place + 1}
              </span>{" "}
              <span>
                <strong>{one.title || one.ref}</strong>
                {one.date && ` (${one.date})`}
                {one.quote && <q>{one.quote}</q>}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </details>
  );
}

/** Paper has nothing to press: the sources that numbers stand for are printed with them. */
function usePrintedOpen(list: { current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    let wasOpen = false;
    const before = (): void => {
      wasOpen = list.current?.open ?? false;
      if (list.current) list.current.open = true;
    };
    const after = (): void => {
      if (list.current) list.current.open = wasOpen;
    };
    addEventListener("beforeprint", before);
    addEventListener("afterprint", after);
    return () => {
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    };
  }, [list]);
}

const clock = (timestamp: string): string =>
  new Date(timestamp).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
