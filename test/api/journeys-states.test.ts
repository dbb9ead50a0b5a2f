// The states of a journey: what activation demands, and how it is paused, archived and copied (JNY, AMB-9).
import { expect, it } from "vitest";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => journeySetting(await fresh());
/** A workspace in which refusals are tried, or journeys of which no test counts any other. */
const common = shared(async (own) => journeySetting(await own.fresh()));
type Setting = Awaited<ReturnType<typeof setting>>;

const whole = graphOf({ pause: { delay: { duration: "3d", next: "end" } }, end: "exit" });

const statusOfActivation = async ({ call, create }: Setting, steps: object, more: object = {}) =>
  (await call(`POST /api/v1/journeys/${await create(steps, more)}/activate`)).status;

it.each(["1.5h", "10s", "h", "", "0d"])(
  "a journey with a delay of %j is not activated: 422 (JNY-14, JND-16)",
  async (duration) => {
    const steps = graphOf({ a: { delay: { duration, next: "b" } }, b: "exit" });

    expect(await statusOfActivation(await common(), steps)).toBe(422);
  },
);

const content = { title: "t", body: "b" };
const condition = { attribute: { x: { $eq: 1 } } };
const wait = { event_name: "bought", on_event: "z" };

it.each<[what: string, steps: (send: Setting["send"]) => object]>([
  ["no steps", () => ({})],
  ["no start", () => ({ steps: whole.steps })],
  ["a start that is no step", () => ({ ...whole, start: "x" })],
  ["a step without an id", () => ({ start: "a", steps: { a: { type: "exit" } } })],
  ["a step without a type", () => ({ start: "a", steps: { a: { id: "a" } } })],
  ["a step without a configuration", () => ({ start: "a", steps: { a: { id: "a", type: "delay" } } })],
  ["an edge to nowhere", () => graphOf({ a: { delay: { duration: "1h", next: "b" } } })],
  ["a delay without a next step", () => graphOf({ a: { delay: { duration: "1h" } } })],
  [
    "no exit",
    () => graphOf({ a: { delay: { duration: "1h", next: "b" } }, b: { delay: { duration: "1h", next: "a" } } }),
  ],
  ["an exit out of reach", () => graphOf({ a: { delay: { duration: "1h", next: "a" } }, z: "exit" })],
  ["a circle that takes no time", (send) => graphOf({ a: send("t", "b"), b: branch(condition, "a") })],
  ["a send without a content", () => graphOf({ a: { send: { channel_ids: [UNKNOWN] } } })],
  ["a send without channels", () => graphOf({ a: { send: { content } } })],
  ["a send by an unknown channel", () => graphOf({ a: { send: { channel_ids: [UNKNOWN], content } } })],
  ["a send with wrong Liquid", (send) => graphOf({ a: send("{{ subscriber.first_name") })],
  ["a branch without a way", () => graphOf({ a: { branch: { condition } } })],
  ["a branch without a condition", () => graphOf({ a: { branch: { else: "z" } }, z: "exit" })],
  ["a wait without an event", () => graphOf({ a: { wait_for_event: { on_event: "z" } }, z: "exit" })],
  ["a wait without a way", () => graphOf({ a: { wait_for_event: { event_name: "x" } }, z: "exit" })],
  ["a wait in seconds", () => graphOf({ a: { wait_for_event: { ...wait, within: "1s" } }, z: "exit" })],
])("a journey with %s is not activated: 422 (JNY-14, JNY-15, AMB-62)", async (_, steps) => {
  const found = await common();

  expect(await statusOfActivation(found, steps(found.send))).toBe(422);
});

it.each([
  ["an event without a name", { type: "event" }],
  ["a segment that is not named", { type: "segment_entered" }],
  ["a segment that there is not", { type: "segment_exited", segment_id: UNKNOWN }],
])("a journey whose trigger is %s is not activated: 422 (JNY-14)", async (_, trigger) => {
  expect(await statusOfActivation(await common(), whole, { trigger })).toBe(422);
});

it.each<[what: string, steps: (send: Setting["send"]) => object]>([
  ["a delay", () => whole],
  ["a send without a next step", (send) => graphOf({ a: send("t") })],
  ["a send with an empty next step", (send) => graphOf({ a: send("t", "") })],
  ["a wait without a timeout", () => graphOf({ a: { wait_for_event: wait }, z: "exit" })],
])("a journey of %s is activated (JNY-14)", async (_, steps) => {
  const found = await common();

  expect(await statusOfActivation(found, steps(found.send))).toBe(200);
});

const bought = (within?: string) => ({ event: { name: "bought", ...(within && { within }) } });
const asks = branch({ group: { op: "and", nodes: [bought("400d"), bought()] } }, "z");
/** A workspace whose plan looks back a year at most. */
const capped = shared(async (own) => journeySetting(await own.fresh(), "pro"));

it.each<[what: string, field: string, steps: object, more: object]>([
  ["a rule of entry", "entry_rules.eligibility.event", whole, { entry_rules: { eligibility: bought() } }],
  ["a branch", "steps.steps.a.branch.condition.group.nodes[0].event", graphOf({ a: asks, z: "exit" }), {}],
  [
    "an exit condition",
    "steps.exit_conditions[1].rule.event",
    { ...whole, exit_conditions: [{ event: { name: "left" } }, { rule: bought("366d") }] },
    {},
  ],
])(
  "a journey with %s that looks back further than the plan is not activated: 422 naming it (RUL-6)",
  async (_, field, steps, more) => {
    const { call, create } = await capped();
    const id = await create(steps, more);

    const { status, body } = await call(`POST /api/v1/journeys/${id}/activate`);

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual([field]);
  },
);

it("a journey whose rules look back as far as the plan, or by events of the run, is activated (RUL-6)", async () => {
  const exit_conditions = [{ event: { name: "left" } }, { rule: bought("365d") }];

  expect(await statusOfActivation(await capped(), { ...whole, exit_conditions })).toBe(200);
});

it("a journey with a rule that looks back without end is activated on a plan without a limit (RUL-6)", async () => {
  const entry_rules = { eligibility: bought() };

  expect(await statusOfActivation(await common(), whole, { entry_rules })).toBe(200);
});

it("a journey with an unknown template is refused with 422 TEMPLATE_NOT_FOUND, naming the step (AMB-89)", async () => {
  const { call, create, channel } = await common();
  const id = await create(graphOf({ a: { send: { channel_ids: [channel], template_id: UNKNOWN } } }));

  const { status, body } = await call(`POST /api/v1/journeys/${id}/activate`);

  expect(status).toBe(422);
  expect(body.code).toBe("TEMPLATE_NOT_FOUND");
  expect(Object.keys(body.fields)).toEqual(["steps.steps.a.send.template_id"]);
});

const WAY_TO: Record<string, string[]> = {
  draft: [],
  active: ["activate"],
  paused: ["activate", "pause"],
  archived: ["archive"],
};

it.each([
  ["activate", { draft: 200, active: 409, paused: 200, archived: 409 }],
  ["pause", { draft: 409, active: 200, paused: 409, archived: 409 }],
  ["archive", { draft: 200, active: 409, paused: 200, archived: 200 }],
])(
  "%s is answered by the status of a journey: %j (D-JNY-ARCHIVE, JNY-14, JNY-16, JNY-17, AMB-9)",
  async (action, byStatus) => {
    const { call, create } = await common();
    for (const [from, status] of Object.entries(byStatus)) {
      const id = await create(whole);
      for (const move of WAY_TO[from]!) await call(`POST /api/v1/journeys/${id}/${move}`);

      const answer = await call(`POST /api/v1/journeys/${id}/${action}`);

      expect(answer.status, from).toBe(status);
      if (status === 409) expect(answer.body.message).toContain(from);
    }
  },
);

it("an archived journey is not changed: 409 (D-JNY-ARCHIVE)", async () => {
  const { call, create, definition } = await common();
  const id = await create(whole);
  await call(`POST /api/v1/journeys/${id}/archive`);

  expect((await call(`PUT /api/v1/journeys/${id}`, definition(whole))).status).toBe(409);
});

it("a copy of a journey is a new draft with the same definition (D-JNY-ARCHIVE, AMB-74)", async () => {
  const { call, active } = await common();
  const id = await active(whole);

  const copy = await call(`POST /api/v1/journeys/${id}/duplicate`);

  expect(copy.status).toBe(201);
  expect(copy.body).toMatchObject({ name: "Copy of Welcome", status: "draft", version: 1, steps: whole });
});

it("the activation and the pause of a journey are annotated (D-ANNAUTO)", async () => {
  const { call, active, tenant } = await setting();
  const id = await active(whole);
  await call(`POST /api/v1/journeys/${id}/pause`);

  const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });

  expect(items.map(({ kind, ref_id }) => `${kind} ${ref_id}`).sort()).toEqual([
    `journey_activated ${id}`,
    `journey_paused ${id}`,
  ]);
});
