// Where each step of a journey is drawn: layers from the start downwards, each edge through free places of the layers
// that it passes. Pure: the same graph always has the same picture.
import type { JourneyGraph, JourneyStep } from "../../../sdk/src/types.gen.ts";
import { type StepExit, typeOf, ways } from "../../components/step-words.ts";
import { nextOf } from "./steps.ts";

export const NODE = { width: 240, height: 60 };
const GAP = { x: 28, y: 56 };
/** The width of a place where an edge passes a layer. */
const PASS = 32;
const MARGIN = 12;
const SWEEPS = 6;

interface Edge {
  /** The step that it leaves; empty at the start. */
  from: string;
  /** `next`, `then` and so on; `start` at the start. */
  field: string;
  way: StepExit | undefined;
  to: string;
  /** Leads back to a step above. */
  isBack: boolean;
}

interface Point {
  x: number;
  y: number;
}

export interface PlacedNode extends Point {
  id: string;
  /** Undefined: the start, or an end that no step stands for. */
  step: JourneyStep | undefined;
  kind: "start" | "step" | "end";
}

export interface PlacedEdge extends Edge {
  points: readonly Point[];
}

interface Layout {
  nodes: readonly PlacedNode[];
  edges: readonly PlacedEdge[];
  width: number;
  height: number;
}

const START = "";
const endOf = ({ from, field }: Pick<Edge, "from" | "field">): string => `${from}>${field}`;

/** Edges in the order in which a person walks them; one that meets a step of its own path leads back. */
function edgesOf({ start = "", steps = {} }: JourneyGraph): Edge[] {
  const edges: Edge[] = [];
  const seen = new Set<string>();
  const path = new Set<string>();
  const follow = (from: string, field: string, way: StepExit | undefined, next: string) => {
    const edge = { from, field, way, to: steps[next] ? next : endOf({ from, field }), isBack: path.has(next) };
    edges.push(edge);
    const step = steps[next];
    if (!step || seen.has(next)) return;
    seen.add(next);
    path.add(next);
    const type = typeOf(step);
    for (const out of type ? ways[type] : []) follow(next, out.field, out, nextOf(step, out.field));
    path.delete(next);
  };
  follow(START, "start", undefined, start);
  return edges;
}

/** The layer of each node: one below the lowest node that leads to it. */
function layersOf(edges: readonly Edge[]): Map<string, number> {
  const layers = new Map([[START, 0]]);
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const { from, to, isBack } of edges) {
      if (isBack) continue;
      const below = (layers.get(from) ?? 0) + 1;
      if ((layers.get(to) ?? 0) >= below) continue;
      layers.set(to, below);
      isChanged = true;
    }
  }
  return layers;
}

interface Cell {
  id: string;
  width: number;
  above: Cell[];
  below: Cell[];
  x: number;
}

/** Places by layer: a node each, and one for each layer that an edge passes. */
function placesOf(edges: readonly Edge[], layers: Map<string, number>) {
  const rows: Cell[][] = [];
  const places = new Map<string, Cell>();
  const placeAt = (id: string, layer: number, width: number): Cell => {
    const found = places.get(id);
    if (found) return found;
    const place: Cell = { id, width, above: [], below: [], x: 0 };
    places.set(id, place);
    rows[layer] ??= [];
    rows[layer].push(place);
    return place;
  };
  const nodeAt = (id: string) => placeAt(id, layers.get(id) ?? 0, NODE.width);
  const passed = new Map<Edge, Cell[]>();
  for (const edge of edges) {
    const between: Cell[] = [];
    const [first, last] = [layers.get(edge.from) ?? 0, layers.get(edge.to) ?? 0];
    let upper = nodeAt(edge.from);
    for (let layer = first + 1; !edge.isBack && layer < last; layer++) {
      const place = placeAt(`${endOf(edge)}@${layer}`, layer, PASS);
      between.push(place);
      join(upper, place);
      upper = place;
    }
    if (!edge.isBack) join(upper, nodeAt(edge.to));
    passed.set(edge, between);
  }
  return { rows, places, passed };
}

function join(upper: Cell, lower: Cell): void {
  upper.below.push(lower);
  lower.above.push(upper);
}

const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** Each place moves as near to its neighbours as those of its row let it. */
function settle(row: readonly Cell[], neighbours: "above" | "below"): void {
  const wanted = row.map((place) => {
    const near = place[neighbours];
    return near.length > 0 ? mean(near.map(({ x }) => x)) : place.x;
  });
  const gapOf = (n: number) => (row[n - 1]!.width + row[n]!.width) / 2 + GAP.x;
  const fromLeft = [...wanted];
  for (let n = 1; n < row.length; n++) fromLeft[n] = Math.max(wanted[n]!, fromLeft[n - 1]! + gapOf(n));
  const fromRight = [...wanted];
  for (let n = row.length - 2; n >= 0; n--) fromRight[n] = Math.min(wanted[n]!, fromRight[n + 1]! - gapOf(n + 1));
  for (const [n, place] of row.entries()) place.x = (fromLeft[n]! + fromRight[n]!) / 2;
}

function arrange(rows: Cell[][]): void {
  for (const row of rows) settle(row, "above");
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    for (const row of rows.slice(1)) settle(row, "above");
    for (const row of rows.slice(0, -1).reverse()) settle(row, "below");
  }
}

const heightOf = (layer: number): number => MARGIN + layer * (NODE.height + GAP.y);

export function layoutOf(graph: JourneyGraph): Layout {
  const edges = edgesOf(graph);
  const layers = layersOf(edges);
  const { rows, places, passed } = placesOf(edges, layers);
  arrange(rows);
  const left = Math.min(...rows.flat().map(({ x, width }) => x - width / 2)) - MARGIN;
  const right = Math.max(...rows.flat().map(({ x, width }) => x + width / 2)) + MARGIN;
  const xOf = (id: string) => Math.round((places.get(id)?.x ?? 0) - left);
  const nodes = [...layers].map(([id, layer]): PlacedNode => {
    const step = graph.steps?.[id];
    const known = step ? "step" : "end";
    return { id, step, kind: id === START ? "start" : known, x: xOf(id), y: heightOf(layer) };
  });
  const hasBack = edges.some(({ isBack }) => isBack);
  const width = Math.ceil(right - left) + (hasBack ? GAP.x : 0);
  const route = (edge: Edge): PlacedEdge => {
    const leaving = edges.filter(({ from }) => from === edge.from);
    const share = (leaving.indexOf(edge) + 1) / (leaving.length + 1) - 0.5;
    const begin = {
      x: xOf(edge.from) + share * NODE.width,
      y: heightOf(layers.get(edge.from) ?? 0) + NODE.height,
    };
    const end = { x: xOf(edge.to), y: heightOf(layers.get(edge.to) ?? 0) };
    const beside = edge.isBack
      ? [
          { x: width - MARGIN, y: begin.y + GAP.y / 2 },
          { x: width - MARGIN, y: end.y - GAP.y / 2 },
        ]
      : (passed.get(edge) ?? []).map(({ id, x }) => ({
          x: x - left,
          y: heightOf(Number(id.slice(id.lastIndexOf("@") + 1))) + NODE.height / 2,
        }));
    return { ...edge, points: [begin, ...beside, end] };
  };
  const height = heightOf(Math.max(...layers.values())) + NODE.height + MARGIN;
  return { nodes, edges: edges.map(route), width, height };
}
