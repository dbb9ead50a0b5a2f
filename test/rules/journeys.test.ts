// Rules of journeys: which problems of a graph are refused when, and the engine against a naive interpreter.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import type { Graph, JourneyNode } from "../../shared/rules/journey-graph.ts";
import { dependenciesOf, graphProblems } from "../../shared/rules/journey-paths.ts";
import { advance, type Knowledge, type Position, withTriggerValues } from "../../shared/rules/journey-run.ts";
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

/** When each condition holds, when the awaited event occurs and when the exit condition begins to hold, in minutes. */
const life = fc.record({
  x: fc.nat(3),
  paid: fc.uniqueArray(fc.nat(6_000), { maxLength: 4 }),
  leaves: fc.option(fc.nat(6_000), { nil: undefined }),
});

type Life = { x: number; paid: number[]; leaves: number | undefined };

const msOf = (text: string) =>
  Number(text.slice(0, -1)) * { m: MINUTE, h: HOUR, d: DAY }[text.at(-1) as "m" | "h" | "d"];

/** What happens minute by minute, without the engine: names of outcomes in order, then how the run ended. */
function naive({ start, steps }: Graph, { x, paid, leaves }: Life, last: number): string[] {
  const told: string[] = [];
  let at = 0;
  let here: string | undefined = start;
  let spent: number | undefined;
  const isGone = () => leaves !== undefined && leaves * MINUTE <= at;
  for (let taken = 0; taken < 300; taken++) {
    if (isGone()) return [...told, "exited"];
    if (here === undefined) return [...told, "completed"];
    const node: JourneyNode = steps[here]!;
    let until = at;
    if (node.type === "exit") return [...told, `${here}:exit`, "completed"];
    if (node.type === "send") {
      told.push(`${here}:sent`);
      here = node.send.next || undefined;
    } else if (node.type === "branch") {
      const wanted = (node.branch.condition as { attribute: { x: { $eq: number } } }).attribute.x.$eq;
      told.push(`${here}:${x === wanted ? "branch:then" : "branch:else"}`);
      here = x === wanted ? node.branch.then : node.branch.else;
    } else {
      let name = "delayed";
      let next: string | undefined;
      if (node.type === "delay") {
        until = at + msOf(node.delay.duration);
        next = node.delay.next;
      } else {
        const { within, on_event, on_timeout } = node.wait_for_event;
        const end = within === undefined ? Number.POSITIVE_INFINITY : at + msOf(within);
        const came = paid
          .map((minute) => minute * MINUTE)
          .filter((time) => time >= at && time <= end && time !== spent);
        if (came.length > 0 && Math.min(...came) <= last) spent = Math.min(...came);
        until = came.length > 0 ? Math.min(...came) : end;
        [name, next] = came.length > 0 ? ["wait:event", on_event] : ["wait:timeout", on_timeout];
      }
      if (leaves !== undefined && leaves * MINUTE <= Math.min(until, last)) return [...told, "exited"];
      if (until > last) return [...told, `${here}:waits`];
      at = until;
      told.push(`${here}:${name}`);
      here = next;
    }
  }
  return told;
}

/** The engine, called at every time at which something happens. */
async function engine(steps: Graph, { x, paid, leaves }: Life, last: number): Promise<string[]> {
  const told: string[] = [];
  let position: Position = { step: steps.start };
  let now = 0;
  for (let taken = 0; taken < 300; taken++) {
    const known: Knowledge = {
      now,
      pausedUntil: () => 0,
      exit: async () =>
        leaves !== undefined && leaves * MINUTE <= now ? { index: 0, at: leaves * MINUTE } : undefined,
      holds: async (given) => (given as { attribute: { x: { $eq: number } } }).attribute.x.$eq === x,
      occurred: async (_, { since, until }, spent) =>
        paid
          .map((minute) => minute * MINUTE)
          .sort((a, b) => a - b)
          .filter((at) => at >= since && at <= Math.min(until, now))
          .map((at) => ({ id: String(at), at, received: at }))
          .find(({ id }) => !spent.includes(id)),
    };
    const { outcomes, arrival } = await advance(steps, position, known);
    told.push(...outcomes.map(({ step, name }) => `${step}:${name}`));
    if (arrival.kind === "ends") return [...told, arrival.status];
    if (arrival.kind === "sends") {
      told.push(`${arrival.node.id}:sent`);
      if (arrival.next === undefined) return [...told, "completed"];
      position = arrival.next;
      continue;
    }
    const isSame = arrival.position.since === position.since && arrival.position.step === position.step;
    position = arrival.position;
    const moments = [...paid, ...(leaves === undefined ? [] : [leaves])].map((minute) => minute * MINUTE);
    const node = steps.steps[position.step];
    if (!isSame && node?.type === "wait_for_event" && paid.includes(now / MINUTE)) continue;
    const next = [...moments, position.until ?? Number.POSITIVE_INFINITY]
      .filter((at) => at > now)
      .sort((a, b) => a - b)[0];
    if (next === undefined || next > last) return [...told, `${position.step}:waits`];
    now = next;
  }
  return told;
}

describe("the engine", () => {
  it("the engine of journeys does what a naive interpreter does, whatever the graph and the life (JND-3, JND-4, JND-5, JND-6, JND-7, JND-9, JND-13)", async () => {
    let told = 0;
    await fc.assert(
      fc.asyncProperty(graph, life, async (steps, one) => {
        fc.pre(graphProblems(steps as unknown as Record<string, unknown>).length === 0);
        const last = 10 * DAY;
        const [ours, theirs] = [await engine(steps, one, last), naive(steps, one, last)];
        // An exit that is met just when a step ends may be reported before or after that step.
        const length = Math.min(ours.length, theirs.length);
        if (ours.at(-1) === "exited" && theirs.at(-1) === "exited")
          expect(ours.slice(0, length - 1)).toEqual(theirs.slice(0, length - 1));
        else expect(ours.slice(0, 200)).toEqual(theirs.slice(0, 200));
        told += ours.length;
      }),
      { numRuns: 400 },
    );
    expect(told).toBeGreaterThan(400);
  });

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
