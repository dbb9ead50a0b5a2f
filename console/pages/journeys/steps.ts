// A step graph as an indented list: the order in which a person walks it, and changes that keep it a graph.
import type { JourneyGraph, JourneyStep, JourneyTrigger, NotificationsCreateBody } from "../../../sdk/src/types.gen.ts";
import { type Content, contentOf } from "../../components/content-model.ts";
import { type Settings, type StepExit, type StepType, settingsOf, typeOf, ways } from "../../components/step-words.ts";

/** The settings of a step that sends. */
export interface SendSettings {
  content?: NotificationsCreateBody["content"];
  template_id?: string;
  channel_ids?: string[];
  category?: "marketing" | "transactional";
  topic?: string;
  safety?: object;
}

/** An event that arrives later begins no run, unless the trigger says otherwise (AMB-134). */
export const DEFAULT_MAX_AGE = "72h";

export const nextOf = (step: JourneyStep, field: string): string => String(settingsOf(step)[field] ?? "");

/** A way out of the step `id`; out of none, the start of the graph. */
export interface Edge {
  id: string;
  field: string;
}

/** `from` leads here, and may get a new step. */
export type Line = { depth: number } & (
  | { kind: "step"; id: string; step: JourneyStep; from: Edge }
  /** One of several ways out of a step. */
  | { kind: "way"; id: string; way: StepExit }
  /** A step whose line stands above. */
  | { kind: "again"; step: JourneyStep; from: Edge }
  | { kind: "end"; from: Edge }
);

/** The graph from its start, each step once. */
export function linesOf({ start = "", steps = {} }: JourneyGraph): Line[] {
  const lines: Line[] = [];
  const seen = new Set<string>();
  const walk = (id: string, depth: number, from: Edge): void => {
    const step = steps[id];
    if (!id || !step) {
      lines.push({ kind: "end", depth, from });
      return;
    }
    if (seen.has(id)) {
      lines.push({ kind: "again", depth, step, from });
      return;
    }
    seen.add(id);
    lines.push({ kind: "step", depth, id, step, from });
    const type = typeOf(step);
    const waysOut = type ? ways[type] : [];
    const isFork = waysOut.length > 1;
    const inside = isFork ? depth + 1 : depth;
    for (const way of waysOut) {
      if (isFork) lines.push({ kind: "way", depth: inside, id, way });
      walk(nextOf(step, way.field), inside, { id, field: way.field });
    }
  };
  walk(start, 0, { id: "", field: "start" });
  return lines;
}

export function triggerText({ type, ...trigger }: JourneyTrigger): string {
  if (type === "event") return `the event ${trigger.event_name || "…"} happens`;
  return type === "segment_entered" ? "a person enters a segment" : "a person leaves a segment";
}

const isAbout = (path: string, id: string): boolean => path.split(".").includes(id);

/** The step that a path is about. */
export const stepAt = ({ steps = {} }: JourneyGraph, path: string): string | undefined =>
  Object.keys(steps).find((id) => isAbout(path, id));

/** What the server says is wrong with a step, by path. */
export const faultsOf = (faults: Record<string, string>, id: string): [string, string][] =>
  Object.entries(faults).filter(([path]) => isAbout(path, id));

const newId = (steps: Record<string, JourneyStep>, type: StepType): string => {
  const taken = new Set(Object.keys(steps));
  for (let n = 1; ; n++) if (!taken.has(`${type}_${n}`)) return `${type}_${n}`;
};

const firstSettings: Record<StepType, Settings> = {
  send: { content: { title: "", body: "" } },
  delay: { duration: "1d" },
  branch: {},
  wait_for_event: { event_name: "", within: "3d" },
  exit: {},
};

function withSettings(step: JourneyStep, settings: Settings): JourneyStep {
  const type = typeOf(step);
  return (type && type !== "exit" ? { ...step, [type]: settings } : step) as JourneyStep;
}

export const changeStep = (graph: JourneyGraph, id: string, settings: Settings): JourneyGraph => {
  const step = graph.steps?.[id];
  return step
    ? { ...graph, steps: { ...graph.steps, [id]: withSettings(step, { ...settingsOf(step), ...settings }) } }
    : graph;
};

function link(graph: JourneyGraph, from: Edge, to: string): JourneyGraph {
  return from.id === "" ? { ...graph, start: to } : changeStep(graph, from.id, { [from.field]: to });
}

function targetOf({ start = "", steps = {} }: JourneyGraph, from: Edge): string {
  if (from.id === "") return start;
  const step = steps[from.id];
  return step ? nextOf(step, from.field) : "";
}

/** Without the steps that the start does not reach: nobody sees them, and what they lack would be refused. */
function reached(graph: JourneyGraph): JourneyGraph {
  const ids = new Set(linesOf(graph).flatMap((line) => (line.kind === "step" ? [line.id] : [])));
  return { ...graph, steps: Object.fromEntries(Object.entries(graph.steps ?? {}).filter(([id]) => ids.has(id))) };
}

/** Leads an edge to another step. */
export const relink = (graph: JourneyGraph, from: Edge, to: string): JourneyGraph => reached(link(graph, from, to));

/**
 * Puts a new step into an edge; what followed the edge follows the first way out of the step.
 * @param channel_ids what a new message goes out by
 */
export function insertStep(
  graph: JourneyGraph,
  from: Edge,
  type: StepType,
  channel_ids: readonly string[] = [],
): { graph: JourneyGraph; id: string } {
  const { steps = {} } = graph;
  const id = newId(steps, type);
  const [first] = ways[type];
  const settings = {
    ...firstSettings[type],
    ...(type === "send" && { channel_ids }),
    ...(first && { [first.field]: targetOf(graph, from) }),
  };
  const step = withSettings({ id, type } as JourneyStep, settings);
  return { graph: relink({ ...graph, steps: { ...steps, [id]: step } }, from, id), id };
}

/** Takes a step out; what led to it leads to what followed its first way. Its other ways go with it. */
export function removeStep(graph: JourneyGraph, id: string): JourneyGraph {
  const { steps = {}, start = "" } = graph;
  const { [id]: removed, ...rest } = steps;
  if (!removed) return graph;
  const type = typeOf(removed);
  const [first] = type ? ways[type] : [];
  const next = first ? nextOf(removed, first.field) : "";
  const relinked = Object.fromEntries(
    Object.entries(rest).map(([key, step]) => {
      const kind = typeOf(step);
      const leading = (kind ? ways[kind] : []).filter(({ field }) => nextOf(step, field) === id);
      const settings = Object.fromEntries(leading.map(({ field }) => [field, next]));
      return [key, leading.length > 0 ? withSettings(step, { ...settingsOf(step), ...settings }) : step];
    }),
  );
  return reached({ ...graph, start: start === id ? next : start, steps: relinked });
}

/** Whether a condition is written that is no rule yet. */
export const hasUnfinished = ({ steps = {} }: JourneyGraph): boolean =>
  Object.values(steps).some((step) => settingsOf(step).unfinished);

/**
 * The graph as the API takes it: a step where only a mail is written says the same on its other channels, and what is not
 * finished of a condition is not said.
 */
export function saidGraph(graph: JourneyGraph): JourneyGraph {
  const said = Object.entries(graph.steps ?? {}).map(([id, step]) => {
    const { unfinished: _, ...settings } = settingsOf(step);
    const { content } = settings as SendSettings;
    return [id, withSettings(step, content ? { ...settings, content: contentOf(content as Content) } : settings)];
  });
  return { ...graph, steps: Object.fromEntries(said) };
}
