// The chart of a journey: layers from the start down, without overlaps, every edge from step to step.
import { describe, expect, it } from "vitest";
import { layoutOf, NODE } from "../../console/pages/journeys/layout.ts";
import { insertStep, relink, removeStep } from "../../console/pages/journeys/steps.ts";
import type { JourneyGraph } from "../../sdk/src/types.gen.ts";

const exit: JourneyGraph = { start: "exit", steps: { exit: { id: "exit", type: "exit" } } };
const START = { id: "", field: "start" };

const branch = insertStep(exit, START, "branch");
const forked = insertStep(branch.graph, { id: branch.id, field: "then" }, "wait_for_event");
const long = insertStep(forked.graph, { id: forked.id, field: "on_event" }, "send");
const joined = relink(
  relink(long.graph, { id: branch.id, field: "else" }, "exit"),
  { id: forked.id, field: "on_timeout" },
  "exit",
);
const looped = relink(joined, { id: forked.id, field: "on_timeout" }, branch.id);

const graphs: [string, JourneyGraph][] = [
  ["an exit alone", exit],
  ["a branch with an open end", long.graph],
  ["ways that meet again", joined],
  ["a way back", looped],
  ["no start", {}],
];

describe("the chart of a journey", () => {
  it.each(graphs)(
    "the chart of a journey with %s draws each step once, none over another, and leads downwards",
    (_, graph) => {
      const { nodes, edges, width, height } = layoutOf(graph);
      const at = new Map(nodes.map((node) => [node.id, node]));
      expect(new Set(nodes.flatMap(({ kind, id }) => (kind === "step" ? [id] : [])))).toEqual(
        new Set(Object.keys(graph.steps ?? {})),
      );
      for (const [n, one] of nodes.entries()) {
        expect(one.x - NODE.width / 2).toBeGreaterThanOrEqual(0);
        expect(one.x + NODE.width / 2).toBeLessThanOrEqual(width);
        expect(one.y + NODE.height).toBeLessThanOrEqual(height);
        for (const other of nodes.slice(n + 1))
          expect(one.y !== other.y || Math.abs(one.x - other.x) >= NODE.width, `${one.id} over ${other.id}`).toBe(true);
      }
      for (const { from, to, isBack, points } of edges) {
        expect(isBack || at.get(from)!.y < at.get(to)!.y, `${from} to ${to}`).toBe(true);
        expect(points.at(-1)).toEqual({ x: at.get(to)!.x, y: at.get(to)!.y });
      }
    },
  );

  it("a loop leads back, and what nothing leads to any more is taken out (CON-3)", () => {
    expect(
      layoutOf(looped)
        .edges.filter(({ isBack }) => isBack)
        .map(({ to }) => to),
    ).toEqual([branch.id]);
    const cut = relink(joined, START, "exit");
    expect(Object.keys(cut.steps ?? {})).toEqual(["exit"]);
  });

  it("what only the second way of a removed branch led to goes with it (CON-3)", () => {
    const other = insertStep(branch.graph, { id: branch.id, field: "else" }, "send");
    expect(Object.keys(removeStep(other.graph, branch.id).steps ?? {})).toEqual(["exit"]);
  });

  it("what stood after an end that is inserted is taken out (CON-3)", () => {
    const ended = insertStep(long.graph, START, "exit");
    expect(Object.keys(ended.graph.steps ?? {})).toEqual([ended.id]);
  });
});
