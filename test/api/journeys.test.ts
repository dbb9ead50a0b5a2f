// Journeys: authoring, validation, changes, lists and counts (JNY, AMB-8, AMB-61).
import { describe, expect, it } from "vitest";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => journeySetting(await fresh());
/** A workspace in which refusals are tried, or journeys of which no test counts any other. */
const common = shared(async (own) => journeySetting(await own.fresh()));
type Setting = Awaited<ReturnType<typeof setting>>;

const whole = graphOf({ pause: { delay: { duration: "3d", next: "end" } }, end: "exit" });

describe("create", () => {
  it("a new journey is a draft of version 1, as it was authored (JNY-1, JNY-4, JNY-5, JNY-6, JNY-8, JNY-11, GEN-15)", async () => {
    const { call, definition } = await common();
    const eligibility = { attribute: { plan: { $eq: "pro" } } };
    const body = definition(whole, { entry_rules: { eligibility, allow_reentry: true, reentry_window: "24h" } });

    const made = await call("POST /api/v1/journeys", body);

    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      ...body,
      status: "draft",
      version: 1,
      entered: 0,
      completed: 0,
      created_at: "2026-11-20T12:00:00.000Z",
      updated_at: "2026-11-20T12:00:00.000Z",
    });
    expect((await call(`GET /api/v1/journeys/${made.body.id}`)).body).toEqual(made.body);
  });

  it("a journey without entry rules has null for them (JNY-3)", async () => {
    const { call, definition } = await common();

    expect((await call("POST /api/v1/journeys", definition(whole))).body.entry_rules).toBeNull();
  });

  it.each<[what: string, steps: object, more: object]>([
    ["no step", {}, {}],
    ["a wrong duration and an edge to nowhere", graphOf({ a: { delay: { duration: "1.5h", next: "nowhere" } } }), {}],
    [
      "steps without their configuration or type",
      { start: "x", steps: { a: { id: "a", type: "send" }, b: { id: "b" } } },
      {},
    ],
    ["a trigger without its segment", whole, { trigger: { type: "segment_entered" } }],
  ])("a draft may have %s (JNY-10, AMB-61)", async (_, steps, more) => {
    const { call, definition } = await common();

    expect((await call("POST /api/v1/journeys", definition(steps, more))).status).toBe(201);
  });

  const oneStep = (id: string, step: object) => ({ steps: { steps: { [id]: step } } });

  it.each<[what: string, field: string, change: object]>([
    ["a blank name", "name", { name: " " }],
    ["a wrong window", "entry_rules.reentry_window", { entry_rules: { reentry_window: "10s" } }],
    ["an unknown rule", "entry_rules.eligibility.plan", { entry_rules: { eligibility: { plan: "pro" } } }],
    ["an unknown type of step", "steps.steps.a.type", oneStep("a", { id: "a", type: "jump" })],
    ["the configuration of another type", "steps.steps.a.send", oneStep("a", { id: "a", type: "delay", send: {} })],
    ["a configuration of an exit", "steps.steps.a.exit", oneStep("a", { id: "a", type: "exit", exit: {} })],
    ["a step with another id than its key", "steps.steps.a.id", oneStep("a", { id: "b", type: "exit" })],
    [
      "a duration that is a number",
      "steps.steps.a.delay.duration",
      { steps: graphOf({ a: { delay: { duration: 5 } } }) },
    ],
    ["an empty condition", "steps.steps.a.branch.condition", { steps: graphOf({ a: { branch: { condition: {} } } }) }],
    [
      "a filter without an operator",
      "steps.steps.a.wait_for_event.where.x",
      { steps: graphOf({ a: { wait_for_event: { where: { x: 1 } } } }) },
    ],
    ["an empty exit condition", "steps.exit_conditions[0]", { steps: { ...whole, exit_conditions: [{}] } }],
    [
      "an exit condition of two kinds",
      "steps.exit_conditions[0]",
      { steps: { ...whole, exit_conditions: [{ event: { name: "a" }, rule: {} }] } },
    ],
    [
      "an exit condition of an event without a name",
      "steps.exit_conditions[0].event",
      { steps: { ...whole, exit_conditions: [{ event: {} }] } },
    ],
  ])(
    "a journey with %s is refused with 422, naming %s (JNY-2, JNY-3, JNY-9, JND-2, JND-8, AMB-61)",
    async (_, field, change) => {
      const { call, definition } = await common();

      const { status, body } = await call("POST /api/v1/journeys", definition(whole, change));

      expect(status).toBe(422);
      expect(Object.keys(body.fields)).toEqual([field]);
    },
  );
});

describe("list and counts", () => {
  it("journeys are listed 100 a page, with an empty cursor at the end (JNY-7, LIM-8)", async () => {
    const { call, create } = await setting();
    const ids: string[] = [];
    for (let n = 0; n < 101; n++) ids.push(await create({}));

    const first = (await call("GET /api/v1/journeys")).body;
    const rest = (await call(`GET /api/v1/journeys?cursor=${first.next_cursor}`)).body;

    expect(first.journeys).toHaveLength(100);
    expect(rest.next_cursor).toBe("");
    expect([...first.journeys, ...rest.journeys].map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort());
  });

  it("the counts are of active journeys, and of all that are not archived (JNY-21, AMB-74)", async () => {
    const { call, create, active } = await setting();
    await create({});
    await active(whole);
    await call(`POST /api/v1/journeys/${await create({})}/archive`);

    expect((await call("GET /api/v1/journeys/counts")).body).toEqual({ active: 1, total: 2 });
  });
});

describe("change", () => {
  const put = ({ call, definition }: Setting, id: string, steps: object = whole) =>
    call(`PUT /api/v1/journeys/${id}`, definition(steps, { name: "Second" }));

  async function pausedIn({ active, call }: Setting) {
    const id = await active(whole);
    await call(`POST /api/v1/journeys/${id}/pause`);
    return id;
  }

  it("a change of a draft or of a paused journey keeps its status and counts its version up (JNY-13)", async () => {
    const found = await common();

    expect((await put(found, await found.create({}))).body).toMatchObject({
      status: "draft",
      version: 2,
      name: "Second",
    });
    expect((await put(found, await pausedIn(found))).body).toMatchObject({ status: "paused", version: 2 });
  });

  it("a change of an active journey is refused with 409 (JNY-12)", async () => {
    const found = await common();

    const { status, body } = await put(found, await found.active(whole));

    expect(status).toBe(409);
    expect(body.message).toContain("active");
  });

  it.each([
    ["a wrong duration", 422, graphOf({ a: { delay: { duration: "10s", next: "b" } }, b: "exit" })],
    ["an edge to nowhere", 422, graphOf({ a: { delay: { duration: "1h", next: "b" } } })],
    ["an unknown type of step", 422, { steps: { a: { id: "a", type: "jump" } } }],
    ["no step", 200, {}],
  ])("a change of a draft to %s is answered with %i (AMB-8)", async (_, status, steps) => {
    const found = await common();

    expect((await put(found, await found.create({}), steps)).status).toBe(status);
  });

  it("a change of a paused journey to one without steps is refused with 422 (AMB-8)", async () => {
    const found = await common();

    expect((await put(found, await pausedIn(found), {})).status).toBe(422);
  });
});

it("a deleted journey counts no more (JNY-19)", async () => {
  const { call, create } = await setting();

  await call(`DELETE /api/v1/journeys/${await create(whole)}`);

  expect((await call("GET /api/v1/journeys/counts")).body).toEqual({ active: 0, total: 0 });
});

it("the statistics of a journey without runs name its steps (JNY-20, JST-1, JST-2)", async () => {
  const { call, create } = await common();

  expect((await call(`GET /api/v1/journeys/${await create(whole)}/stats`)).body).toEqual({
    refused: {},
    runs: { active: 0, completed: 0, exited: 0, canceled: 0 },
    steps: { pause: { active: 0, outcomes: {} }, end: { active: 0, outcomes: {} } },
  });
});
