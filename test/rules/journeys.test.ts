// Rules of journeys: which problems of a graph are refused when, and how far the engine goes at once.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Graph, JourneyNode } from "../../shared/rules/journey-graph.ts";
import { dependenciesOf, graphProblems } from "../../shared/rules/journey-paths.ts";
import { advance, type Knowledge } from "../../shared/rules/journey-run.ts";
import { withTriggerValues } from "../../shared/rules/trigger-values.ts";
import { branch } from "../support/journeys.ts";

const IDS = ["a", "b", "c", "d", "e", "f"];
const id = fc.constantFrom(...IDS);
const maybeId = fc.option(id, { nil: undefined });
const duration = fc.constantFrom("1m", "90m", "1h", "2d");
const condition = fc.nat(3).map((n) => ({ attribute: { x: { $eq: n } } }));

const body: fc.Arbitrary<object> = fc.oneof(
  fc.record({
    send: fc.record({
      channel_ids: fc.constant(["c"]),
      content: fc.constant({ title: "t", body: "b" }),
      next: fc.oneof(id, fc.constant("")),
    }),
  }),
  fc.record({ delay: fc.record({ duration, next: id }) }),
  fc.tuple(condition, id, maybeId).map(([given, yes, no]) => branch(given, yes, no)),
  fc.tuple(duration, fc.boolean(), id, maybeId).map(([within, isBounded, on_event, on_timeout]) => ({
    wait_for_event: { event_name: "e", ...(isBounded && { within }), on_event, ...(on_timeout && { on_timeout }) },
  })),
  fc.constant({}),
);

const graph: fc.Arbitrary<Graph> = fc.tuple(...IDS.map(() => body)).map((bodies) => ({
  start: "a",
  steps: Object.fromEntries(
    bodies.map((one, i) => [IDS[i]!, { id: IDS[i]!, type: Object.keys(one)[0] ?? "exit", ...one } as JourneyNode]),
  ),
}));

describe("the engine", () => {
  it("a valid graph never takes more steps at once than it has (JND-4)", async () => {
    await fc.assert(
      fc.asyncProperty(graph, fc.nat(3), async (steps, x) => {
        fc.pre(graphProblems(steps as unknown as Record<string, unknown>).length === 0);
        const known: Knowledge = {
          now: 0,
          pausedUntil: () => 0,
          exit: async () => undefined,
          holds: async (given) => (given as { attribute: { x: { $eq: number } } }).attribute.x.$eq === x,
          occurred: async () => undefined,
        };
        const { outcomes } = await advance(steps, { step: "a" }, known);
        expect(outcomes.length).toBeLessThanOrEqual(IDS.length);
      }),
      { numRuns: 300 },
    );
  });
});

describe("graphs", () => {
  it("any value is validated without a throw (JNY-9, JNY-15)", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("start", "steps", "exit_conditions", "x"),
          fc.json().map((text) => JSON.parse(text)),
        ),
        (value) => {
          for (const { path, reason } of graphProblems(value))
            expect([typeof path, typeof reason]).toEqual(["string", "string"]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("a cycle without a pause is found, however long it is (JNY-15)", () => {
    for (let length = 1; length <= 50; length++) {
      const steps = Object.fromEntries(
        Array.from({ length }, (_, i) => [
          `s${i}`,
          { id: `s${i}`, type: "branch", ...branch({ attribute: { x: { $eq: 1 } } }, `s${(i + 1) % length}`) },
        ]),
      );
      expect(graphProblems({ start: "s0", steps }).map(({ severity }) => severity)).toEqual(["wrong"]);
    }
  });

  it("a graph names what runs react to (JND-9)", () => {
    const wait = { id: "a", type: "wait_for_event", wait_for_event: { event_name: "paid", on_event: "b" } } as const;
    const exit_conditions = [
      { attribute: { plan: { $eq: "x" } } },
      { event: { name: "left" } },
      { rule: { group: { op: "or", nodes: [{ attribute: { age: { $gt: 1 } } }, { event: { name: "gone" } }] } } },
    ];
    const heard = dependenciesOf({ start: "a", steps: { a: wait, b: { id: "b", type: "exit" } }, exit_conditions });
    expect(heard).toEqual({ events: ["paid", "left", "gone"], attributes: ["plan", "age"] });
  });

  it.each(["x", 5, 0, true, false])(
    "a reference to a property of the trigger is its value: %j (D-JNY-RUN)",
    (value) => {
      expect(withTriggerValues({ of: { $eq: "{{trigger.of}}" } }, { of: value })).toEqual({ of: { $eq: value } });
    },
  );

  it("a reference to the trigger with dots is a path, unless a property has that name (D-JNY-RUN, AMB-148)", () => {
    const where = { id: { $eq: "{{trigger.order.id}}" }, of: { $eq: "x-{{trigger.order.of}}" } };
    const properties = { order: { id: 7, of: "y" }, "order.of": "z" };
    expect(withTriggerValues(where, properties)).toEqual({ id: { $eq: 7 }, of: { $eq: "x-z" } });
  });

  it("references to the trigger keep their type; what it lacks matches nothing (D-JNY-RUN)", () => {
    const where = { a: { $eq: "{{trigger.n}}" }, b: { $in: ["x-{{ trigger.s }}", 1] }, c: { $eq: "{{trigger.none}}" } };
    expect(withTriggerValues(where, { n: 5, s: "y" })).toEqual({
      a: { $eq: 5 },
      b: { $in: ["x-y", 1] },
      c: { $eq: "\u0000" },
    });
    expect(withTriggerValues({ a: "{{trigger.constructor}}" }, {})).toEqual({ a: "\u0000" });
  });
});
