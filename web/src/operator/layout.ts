import { Graph as Drawing, layout } from "@dagrejs/dagre";

import type { Graph, GraphNode } from "./types";

/** Where steps and ways of two versions stand in one drawing. */

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 58;
const LABEL_HEIGHT = 18;
const CHARACTER_WIDTH = 6.6;
const LABEL_LIMIT = 26;

export interface Place {
  x: number;
  y: number;
}

export interface Way {
  source: string;
  target: string;
  points: Place[];
  label: string;
  title: string;
  at: Place;
  isChanged: boolean;
}

export interface Laid {
  width: number;
  height: number;
  nodes: { node: GraphNode; at: Place }[];
  ways: Way[];
}

/** The name of a step in the common drawing: anchors of both versions share one. */
const common = (node: GraphNode, isOld: boolean): string =>
  isOld || node.partner === null ? `${isOld ? "" : "new:"}${node.id}` : node.partner;

export const shortened = (text: string, limit = LABEL_LIMIT): string =>
  text.length > limit ? `${text.slice(0, limit - 1)}…` : text;

/**
 * Lays both versions out as one graph, so that an anchor stands at the same place in both
 * drawings and a step that only one has leaves a gap in the other.
 */
export function laidOut(old: Graph | null, next: Graph | null): { old: Laid; next: Laid } {
  const drawing = new Drawing({ multigraph: true });
  drawing.setGraph({ rankdir: "TB", nodesep: 26, ranksep: 34, edgesep: 14 });
  drawing.setDefaultEdgeLabel(() => ({}));
  for (const [graph, isOld] of [
    [old, true],
    [next, false],
  ] as const) {
    if (graph) add(drawing, graph, isOld);
  }
  layout(drawing);
  const size = drawing.graph() as { width?: number; height?: number };
  const box = { width: (size.width ?? 0) + 8, height: (size.height ?? 0) + 8 };
  return {
    old: { ...box, ...read(drawing, old, true) },
    next: { ...box, ...read(drawing, next, false) },
  };
}

const names = (graph: Graph, isOld: boolean): Map<string, string> =>
  new Map(graph.nodes.map((node) => [node.id, common(node, isOld)]));

function add(drawing: Drawing, graph: Graph, isOld: boolean): void {
  const named = names(graph, isOld);
  for (const node of graph.nodes) {
    const name = named.get(node.id) ?? node.id;
    if (!drawing.hasNode(name)) drawing.setNode(name, { width: NODE_WIDTH, height: NODE_HEIGHT });
  }
  for (const edge of graph.edges) {
    const [from, to] = [named.get(edge.source) ?? "", named.get(edge.target) ?? ""];
    const label = shortened(edge.condition);
    const width = label ? label.length * CHARACTER_WIDTH + 12 : 0;
    const height = label ? LABEL_HEIGHT : 0;
    drawing.setEdge(from, to, { width, height, labelpos: "c" }, `way ${edge.condition}`);
  }
}

function read(drawing: Drawing, graph: Graph | null, isOld: boolean): { nodes: Laid["nodes"]; ways: Way[] } {
  if (!graph) return { nodes: [], ways: [] };
  const named = names(graph, isOld);
  const nodes = graph.nodes.map((node) => {
    const at = drawing.node(named.get(node.id) ?? "") as Place;
    return { node, at: { x: at.x + 4, y: at.y + 4 } };
  });
  const ways = graph.edges.map((edge) => {
    const [from, to] = [named.get(edge.source) ?? "", named.get(edge.target) ?? ""];
    const laid = drawing.edge(from, to, `way ${edge.condition}`) as {
      points?: Place[];
      x?: number;
      y?: number;
    };
    const points =
      from === to
        ? loop(drawing.node(from) as Place)
        : (laid.points ?? []).map(({ x, y }) => ({ x: x + 4, y: y + 4 }));
    const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
    return {
      source: edge.source,
      target: edge.target,
      points,
      label: shortened(edge.condition),
      title: edge.condition,
      at: laid.x === undefined || from === to ? middle : { x: laid.x + 4, y: (laid.y ?? 0) + 4 },
      isChanged: edge.is_changed,
    };
  });
  return { nodes, ways };
}

/** From the right side of a step back to it. */
function loop({ x, y }: Place): Place[] {
  const side = x + NODE_WIDTH / 2 + 4;
  const out = side + 26;
  return [
    { x: side, y: y - 10 },
    { x: out, y: y - 12 },
    { x: out, y: y + 4 },
    { x: out, y: y + 20 },
    { x: side, y: y + 18 },
  ];
}
