// The differences between two versions of a journey (F20).
import { canonicalJson } from "../kernel/objects.ts";
import { type Edge, edgesOf } from "./journey-edges.ts";
import type { JourneyNode } from "./journey-graph.ts";
import type { Definition } from "./journey-replay.ts";

interface JourneyDiff {
  added: string[];
  removed: string[];
  /** Steps of both versions that differ, with the changed settings; `type` if the type changed. */
  changed: { step: string; fields: string[] }[];
  edges: { added: Edge[]; removed: Edge[] };
  /** The changed ones of `trigger`, `entry_rules`, `start` and `exit_conditions`. */
  others: string[];
}

const settingsOf = (node: JourneyNode): Map<string, unknown> =>
  new Map(Object.entries(new Map<string, unknown>(Object.entries(node)).get(node.type) ?? {}));

function changedFields(a: JourneyNode, b: JourneyNode): string[] {
  if (a.type !== b.type) return ["type"];
  const [before, after] = [settingsOf(a), settingsOf(b)];
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => canonicalJson(before.get(name)) !== canonicalJson(after.get(name)));
}

/** The changes that lead from the first version to the second. */
export function diffOf(a: Definition, b: Definition): JourneyDiff {
  const [before, after] = [new Map(Object.entries(a.graph.steps)), new Map(Object.entries(b.graph.steps))];
  const changed = [...before].flatMap(([step, node]) => {
    const now = after.get(step);
    const fields = now ? changedFields(node, now) : [];
    return fields.length > 0 ? [{ step, fields }] : [];
  });
  const missingIn = (edges: readonly Edge[], from: readonly Edge[]) => {
    const there = new Set(edges.map(canonicalJson));
    return from.filter((edge) => !there.has(canonicalJson(edge)));
  };
  const [old, now] = [edgesOf(a.graph), edgesOf(b.graph)];
  const others = {
    trigger: [a.trigger, b.trigger],
    entry_rules: [a.entry_rules, b.entry_rules],
    start: [a.graph.start, b.graph.start],
    exit_conditions: [a.graph.exit_conditions ?? [], b.graph.exit_conditions ?? []],
  };
  return {
    added: [...after.keys()].filter((step) => !before.has(step)),
    removed: [...before.keys()].filter((step) => !after.has(step)),
    changed,
    edges: { added: missingIn(old, now), removed: missingIn(now, old) },
    others: Object.entries(others).flatMap(([name, [one, two]]) =>
      canonicalJson(one) === canonicalJson(two) ? [] : [name],
    ),
  };
}
