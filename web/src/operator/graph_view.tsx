import type { TargetedKeyboardEvent } from "preact";

import { NODE_HEIGHT, NODE_WIDTH, shortened, type Laid, type Place, type Way } from "./layout";
import type { GraphNode } from "./types";
import { words } from "./words";

const said = words.graph;
/** Text is still read at this scale; a wider drawing scrolls. */
const SMALLEST = 0.72;

interface DrawingProps {
  laid: Laid;
  label: string;
  name: string;
  chosen: string | null;
  onChoose: (id: string) => void;
}

/** One version as a drawing; every step is a button. */
export function GraphDrawing({ laid, label, name, chosen, onChoose }: DrawingProps) {
  return (
    <div class="drawing" role="group" aria-label={label}>
      <svg
        width={laid.width}
        viewBox={`0 0 ${laid.width} ${laid.height}`}
        style={{ minWidth: `${laid.width * SMALLEST}px` }}
      >
        <defs>
          {["arrow", "arrow-changed"].map((kind) => (
            <marker
              key={kind}
              id={`${kind}-${name}`}
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="9"
              markerHeight="9"
              markerUnits="userSpaceOnUse"
              orient="auto"
            >
              <path class={kind} d="M0 0 L8 4 L0 8 Z" />
            </marker>
          ))}
        </defs>
        {laid.ways.map((way) => (
          <WayLine key={`${way.source}>${way.target}>${way.title}`} way={way} name={name} />
        ))}
        {laid.nodes.map(({ node, at }) => (
          <StepBox key={node.id} node={node} at={at} isChosen={chosen === node.id} onChoose={onChoose} />
        ))}
      </svg>
    </div>
  );
}

const path = (points: Place[]): string => {
  const [first, ...rest] = points;
  if (!first) return "";
  let drawn = `M${first.x} ${first.y}`;
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    if (next && index < rest.length - 1) {
      drawn += ` Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
    } else drawn += ` L${point.x} ${point.y}`;
  });
  return drawn;
};

function WayLine({ way, name }: { way: Way; name: string }) {
  const width = way.label.length * 6.6 + 10;
  return (
    <g class={`way ${way.isChanged ? "changed" : ""}`} aria-hidden="true">
      <path d={path(way.points)} marker-end={`url(#${way.isChanged ? "arrow-changed" : "arrow"}-${name})`} />
      {way.label && (
        <g>
          <title>{way.title}</title>
          <rect x={way.at.x - width / 2} y={way.at.y - 9} width={width} height="18" rx="4" />
          <text x={way.at.x} y={way.at.y + 4} text-anchor="middle">
            {way.label}
          </text>
        </g>
      )}
    </g>
  );
}

interface StepBoxProps {
  node: GraphNode;
  at: Place;
  isChosen: boolean;
  onChoose: (id: string) => void;
}

export const describe = (node: GraphNode): string =>
  [
    node.state === "plain" ? "" : said.states[node.state],
    said.fork[node.fork],
    node.is_checkpoint ? said.checkpoint : "",
    node.is_required_action ? said.required : "",
  ]
    .filter(Boolean)
    .join(" · ");

function StepBox({ node, at, isChosen, onChoose }: StepBoxProps) {
  const left = at.x - NODE_WIDTH / 2;
  const top = at.y - NODE_HEIGHT / 2;
  const mark = said.marks[node.state];
  const forked = node.fork === "changed" || node.fork === "new" ? "fork-changed" : "";
  const pressed = (event: TargetedKeyboardEvent<SVGGElement>): void => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onChoose(node.id);
  };
  return (
    <g
      class={`box ${node.state} ${forked} ${isChosen ? "chosen" : ""}`}
      role="button"
      tabindex={0}
      aria-pressed={isChosen}
      onClick={() => onChoose(node.id)}
      onKeyDown={pressed}
    >
      <title>
        {`${node.name}: ${describe(node) || said.states.plain}, ${words.sessions(node.sessions)}`}
      </title>
      {/* The title says all of it; here long names are cut off. */}
      <g aria-hidden="true">
        <rect x={left} y={top} width={NODE_WIDTH} height={NODE_HEIGHT} rx="8" />
        {node.is_checkpoint && (
          <rect
            class="inner"
            x={left + 3}
            y={top + 3}
            width={NODE_WIDTH - 6}
            height={NODE_HEIGHT - 6}
            rx="6"
          />
        )}
        {mark && (
          <g class="sign">
            <circle cx={left + 17} cy={top + 19} r="9" />
            <text x={left + 17} y={top + 24} text-anchor="middle">
              {mark}
            </text>
          </g>
        )}
        <text class="name" x={left + (mark ? 32 : 12)} y={top + 24}>
          {shortened(node.name, mark ? 17 : 20)}
        </text>
        <text class="about" x={left + 12} y={top + 45}>
          {shortened(describe(node), node.sessions > 0 ? 22 : 28)}
        </text>
        {node.sessions > 0 && (
          <g class="people">
            <rect
              x={left + NODE_WIDTH - 14 - String(node.sessions).length * 8}
              y={top + 33}
              width={String(node.sessions).length * 8 + 8}
              height="17"
              rx="8"
            />
            <text
              x={left + NODE_WIDTH - 10 - (String(node.sessions).length * 8) / 2}
              y={top + 46}
              text-anchor="middle"
            >
              {node.sessions}
            </text>
          </g>
        )}
      </g>
    </g>
  );
}
