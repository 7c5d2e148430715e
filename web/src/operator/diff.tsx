import { useMemo, useRef, useState } from "preact/hooks";

import { describe, GraphDrawing } from "./graph_view";
import { laidOut } from "./layout";
import type { Graph, GraphNode } from "./types";
import { words } from "./words";

const said = words.graph;
const STATES = ["anchor", "modified", "inserted", "deleted"] as const;

/** Both versions side by side, and what is to be said about the chosen step. */
export function Diff({ old, next }: { old: Graph; next: Graph }) {
  const laid = useMemo(() => laidOut(old, next), [old, next]);
  const [chosen, setChosen] = useState<{ old: string | null; next: string | null }>({
    old: null,
    next: null,
  });
  const frames = useRef<(HTMLDivElement | null)[]>([]);
  const together = (event: Event): void => {
    const { scrollTop, scrollLeft } = event.currentTarget as HTMLDivElement;
    for (const frame of frames.current) frame?.scrollTo(scrollLeft, scrollTop);
  };
  const inOld = (id: string): void =>
    setChosen({ old: id, next: old.nodes.find((node) => node.id === id)?.partner ?? null });
  const inNext = (id: string): void =>
    setChosen({ next: id, old: next.nodes.find((node) => node.id === id)?.partner ?? null });
  return (
    <section class="panel" aria-labelledby="diff-title">
      <h3 id="diff-title">{said.title}</h3>
      <p class="hint">{said.hint}</p>
      <Legend />
      <div class="side-by-side">
        <Side graph={old} which={said.now} onScroll={together} frame={(frame) => (frames.current[0] = frame)}>
          <GraphDrawing
            laid={laid.old}
            label={said.side(old.version, said.now)}
            name="old"
            chosen={chosen.old}
            onChoose={inOld}
          />
        </Side>
        <Side
          graph={next}
          which={said.next}
          onScroll={together}
          frame={(frame) => (frames.current[1] = frame)}
        >
          <GraphDrawing
            laid={laid.next}
            label={said.side(next.version, said.next)}
            name="next"
            chosen={chosen.next}
            onChoose={inNext}
          />
        </Side>
      </div>
      <div class="side-by-side" aria-live="polite">
        <About graph={old} other={next} id={chosen.old} />
        <About graph={next} other={old} id={chosen.next} />
      </div>
      <details class="as-list">
        <summary>{said.list}</summary>
        <div class="side-by-side">
          <ListFrame graph={old} />
          <ListFrame graph={next} />
        </div>
      </details>
    </section>
  );
}

interface SideProps {
  graph: Graph;
  which: string;
  frame?: (frame: HTMLDivElement | null) => void;
  onScroll?: (event: Event) => void;
  children: preact.ComponentChildren;
}

const Side = ({ graph, which, frame, onScroll, children }: SideProps) => (
  <div class="side">
    <h4>{said.side(graph.version, which)}</h4>
    <div
      class="drawing-frame"
      role="region"
      aria-label={said.side(graph.version, which)}
      tabIndex={0}
      {...(frame ? { ref: frame } : {})}
      {...(onScroll ? { onScroll } : {})}
    >
      {children}
    </div>
  </div>
);

const Legend = () => (
  <ul class="legend" aria-label={said.legend}>
    {STATES.map((state) => (
      <li key={state} class={`key ${state}`}>
        <span class="key-mark" aria-hidden="true">
          {said.marks[state]}
        </span>
        {said.states[state]}
      </li>
    ))}
    <li class="key fork-changed">
      <span class="key-mark" aria-hidden="true" />
      {said.fork.changed} / {said.fork.new}
    </li>
    <li class="key way-changed">
      <span class="key-line" aria-hidden="true" />
      {said.changedWay}
    </li>
    <li class="key checkpoint">
      <span class="key-mark" aria-hidden="true" />
      {said.checkpoint}
    </li>
  </ul>
);

const titled = (graph: Graph, id: string): string => graph.nodes.find((node) => node.id === id)?.name ?? id;

function About({ graph, other, id }: { graph: Graph; other: Graph; id: string | null }) {
  const node = graph.nodes.find((one) => one.id === id);
  if (!node) return <div />;
  const ways = graph.edges.filter((edge) => edge.source === node.id);
  const partner = node.partner === null ? said.only : said.was(titled(other, node.partner));
  return (
    <article class="about-step">
      <h4>{node.name}</h4>
      <p>{describe(node)}</p>
      {node.intent && <p>{node.intent}</p>}
      {node.collects.length > 0 && <p>{said.collects(node.collects.join(", "))}</p>}
      <p class="hint">{partner}</p>
      {ways.length === 0 ? (
        <p class="hint">{said.ends}</p>
      ) : (
        <ul>
          {ways.map((way) => (
            <li key={way.target + way.condition}>
              {said.leads} <strong>{titled(graph, way.target)}</strong>{" "}
              <code>{way.condition || said.always}</code>
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

const ListFrame = ({ graph }: { graph: Graph }) => (
  <div class="table-frame" role="region" aria-label={words.table(said.of(graph.version))} tabIndex={0}>
    <AsList graph={graph} />
  </div>
);

const AsList = ({ graph }: { graph: Graph }) => (
  <table class="grid">
    <caption>{said.of(graph.version)}</caption>
    <thead>
      <tr>
        <th scope="col">{said.step}</th>
        <th scope="col">{said.change}</th>
        <th scope="col">{said.leads}</th>
      </tr>
    </thead>
    <tbody>
      {graph.nodes.map((node: GraphNode) => (
        <tr key={node.id}>
          <th scope="row">{node.name}</th>
          <td>{describe(node)}</td>
          <td>
            {graph.edges
              .filter((edge) => edge.source === node.id)
              .map((edge) => `${titled(graph, edge.target)}${edge.condition ? ` (${edge.condition})` : ""}`)
              .join("; ")}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** One version alone. */
export function SingleGraph({ graph }: { graph: Graph }) {
  const laid = useMemo(() => laidOut(graph, null), [graph]);
  const [chosen, setChosen] = useState<string | null>(null);
  return (
    <div>
      <Side graph={graph} which={graph.name}>
        <GraphDrawing
          laid={laid.old}
          label={said.of(graph.version)}
          name="single"
          chosen={chosen}
          onChoose={setChosen}
        />
      </Side>
      <About graph={graph} other={graph} id={chosen} />
    </div>
  );
}
