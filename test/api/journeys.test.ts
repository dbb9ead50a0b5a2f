// Journeys: authoring, validation, states and their moves, lists and counts (JNY, AMB-8, AMB-9, AMB-61).

import { describe, expect, it } from "vitest";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => journeySetting(await fresh());
const whole = graphOf({ pause: { delay: { duration: "3d", next: "end" } }, end: "exit" });

describe("create", () => {
  it("a draft of version 1, as it was authored (JNY-1, JNY-4, JNY-5, JNY-6, JNY-8, JNY-11, GEN-15)", async () => {
    const { call } = await setting();
    const entry_rules = {
      eligibility: { attribute: { plan: { $eq: "pro" } } },
      allow_reentry: true,
      reentry_window: "24h",
    };
    const body = { name: "Welcome", trigger: { type: "event", event_name: "signed_up" }, entry_rules, steps: whole };
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
    expect(
      (await call("POST /api/v1/journeys", { name: "n", trigger: body.trigger, steps: whole })).body.entry_rules,
    ).toBeNull();
  });

  it("tolerates what is missing, dangling or an invalid duration (JNY-10, AMB-61)", async () => {
    const { create } = await setting();
    await create({});
    await create(graphOf({ a: { delay: { duration: "1.5h", next: "nowhere" } } }));
    await create({ start: "x", steps: { a: { id: "a", type: "send" }, b: { id: "b" } } });
    await create(whole, { trigger: { type: "segment_entered" } });
  });

  it("refuses what is malformed, naming the field (JNY-2, JNY-3, JNY-9, JND-2, JND-8, AMB-61)", async () => {
    const { call, definition } = await setting();
    const refusals: [object, string][] = [
      [{ name: " " }, "name"],
      [{ name: undefined }, "name"],
      [{ trigger: undefined }, "trigger"],
      [{ trigger: "{" }, "trigger"],
      [{ trigger: { type: "timer" } }, "trigger.type"],
      [{ steps: undefined }, "steps"],
      [{ steps: "{" }, "steps"],
      [{ steps: [] }, "steps"],
      [{ steps: { steps: [] } }, "steps.steps"],
      [{ steps: { start: 1 } }, "steps.start"],
      [{ steps: { nodes: {} } }, "steps.nodes"],
      [{ entry_rules: "{" }, "entry_rules"],
      [{ entry_rules: { reentry_window: "10s" } }, "entry_rules.reentry_window"],
      [{ entry_rules: { eligibility: { plan: "pro" } } }, "entry_rules.eligibility.plan"],
      [{ steps: { steps: { a: { id: "a", type: "jump" } } } }, "steps.steps.a.type"],
      [{ steps: { steps: { a: { id: "a", type: "delay", send: {} } } } }, "steps.steps.a.send"],
      [{ steps: { steps: { a: { id: "a", type: "exit", exit: {} } } } }, "steps.steps.a.exit"],
      [{ steps: { steps: { a: { id: "b", type: "exit" } } } }, "steps.steps.a.id"],
      [{ steps: graphOf({ a: { delay: { duration: 5 } } }) }, "steps.steps.a.delay.duration"],
      [{ steps: graphOf({ a: { branch: { condition: {} } } }) }, "steps.steps.a.branch.condition"],
      [{ steps: graphOf({ a: { wait_for_event: { where: { x: 1 } } } }) }, "steps.steps.a.wait_for_event.where.x"],
      [{ steps: { ...whole, exit_conditions: {} } }, "steps.exit_conditions"],
      [{ steps: { ...whole, exit_conditions: [{}] } }, "steps.exit_conditions[0]"],
      [{ steps: { ...whole, exit_conditions: [{ event: { name: "a" }, rule: {} }] } }, "steps.exit_conditions[0]"],
      [{ steps: { ...whole, exit_conditions: [{ event: {} }] } }, "steps.exit_conditions[0].event"],
    ];
    for (const [more, field] of refusals) {
      const answer = await call("POST /api/v1/journeys", definition(whole, more));
      expect([answer.status, Object.keys(answer.body.fields ?? {})], JSON.stringify(more)).toEqual([422, [field]]);
    }
  });
});

describe("list and counts", () => {
  it("100 a page, newest first, an empty cursor at the end (JNY-7, LIM-8)", async () => {
    const { call, create } = await setting();
    const ids: string[] = [];
    for (let n = 0; n < 101; n++) ids.unshift(await create({}));
    const first = (await call("GET /api/v1/journeys")).body;
    const rest = (await call(`GET /api/v1/journeys?cursor=${first.next_cursor}`)).body;
    expect(first.journeys).toHaveLength(100);
    expect(rest.next_cursor).toBe("");
    expect([...first.journeys, ...rest.journeys].map(({ id }: { id: string }) => id).sort()).toEqual(ids.sort());
    expect((await call("GET /api/v1/journeys?cursor=abc")).status).toBe(422);
  });

  it("counts active ones and all that are not archived (JNY-21, AMB-74)", async () => {
    const { call, create, active } = await setting();
    await create({});
    await active(whole);
    await call(`POST /api/v1/journeys/${await create({})}/archive`);
    expect((await call("GET /api/v1/journeys/counts")).body).toEqual({ active: 1, total: 2 });
  });
});

describe("PUT", () => {
  it("keeps the status and counts the version up, on a draft and while paused (JNY-12, JNY-13)", async () => {
    const { call, create, activate, definition } = await setting();
    const id = await create({});
    const put = (more: object = {}) => call(`PUT /api/v1/journeys/${id}`, definition(whole, more));
    expect((await put({ name: "Second" })).body).toMatchObject({ status: "draft", version: 2, name: "Second" });
    await activate(id);
    const refused = await put();
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringContaining("active")]);
    await call(`POST /api/v1/journeys/${id}/pause`);
    expect((await put()).body).toMatchObject({ status: "paused", version: 3 });
    expect((await call(`PUT /api/v1/journeys/${UNKNOWN}`, definition(whole))).status).toBe(404);
  });

  it("refuses what is wrong; what is missing only while paused (AMB-8)", async () => {
    const { call, create, activate, definition } = await setting();
    const id = await create({});
    const put = async (steps: object, more: object = {}) =>
      (await call(`PUT /api/v1/journeys/${id}`, definition(steps, more))).status;
    const bad = graphOf({ a: { delay: { duration: "10s", next: "b" } }, b: "exit" });
    const dangling = graphOf({ a: { delay: { duration: "1h", next: "b" } } });
    expect([await put(bad), await put(dangling), await put({ steps: { a: { id: "a", type: "jump" } } })]).toEqual([
      422, 422, 422,
    ]);
    expect([await put({}), await put(whole)]).toEqual([200, 200]);
    await activate(id);
    await call(`POST /api/v1/journeys/${id}/pause`);
    expect([await put({}), await put(whole)]).toEqual([422, 200]);
  });
});

describe("activate, pause, archive", () => {
  it("activation requires a complete definition (JNY-14, JNY-15, JND-16, AMB-62)", async () => {
    const { call, create, send } = await setting();
    const status = async (steps: object, more: object = {}) =>
      (await call(`POST /api/v1/journeys/${await create(steps, more)}/activate`)).status;
    for (const duration of ["1.5h", "10s", "h", "", "0d"])
      expect(await status(graphOf({ a: { delay: { duration, next: "b" } }, b: "exit" })), duration).toBe(422);
    const wait = { event_name: "bought", on_event: "z" };
    const bad: Record<string, object> = {
      empty: {},
      "no start": { steps: whole.steps },
      "start is no step": { ...whole, start: "x" },
      "no id": { start: "a", steps: { a: { type: "exit" } } },
      "no type": { start: "a", steps: { a: { id: "a" } } },
      "no config": { start: "a", steps: { a: { id: "a", type: "delay" } } },
      dangling: graphOf({ a: { delay: { duration: "1h", next: "b" } } }),
      "delay without next": graphOf({ a: { delay: { duration: "1h" } } }),
      "no exit": graphOf({ a: { delay: { duration: "1h", next: "b" } }, b: { delay: { duration: "1h", next: "a" } } }),
      "exit out of reach": graphOf({ a: { delay: { duration: "1h", next: "a" } }, z: "exit" }),
      "cycle at once": graphOf({
        a: send("t", "b"),
        b: branch({ attribute: { x: { $eq: 1 } } }, "a"),
      }),
      "no content": graphOf({ a: { send: { channel_ids: [UNKNOWN] } } }),
      "no channels": graphOf({ a: { send: { content: { title: "t", body: "b" } } } }),
      "unknown channel": graphOf({ a: { send: { channel_ids: [UNKNOWN], content: { title: "t", body: "b" } } } }),
      "bad Liquid": graphOf({ a: send("{{ subscriber.first_name") }),
      "branch without then": graphOf({ a: { branch: { condition: { attribute: { x: { $eq: 1 } } } } } }),
      "branch without condition": graphOf({ a: { branch: { else: "z" } }, z: "exit" }),
      "wait without event": graphOf({ a: { wait_for_event: { on_event: "z" } }, z: "exit" }),
      "wait without on_event": graphOf({ a: { wait_for_event: { event_name: "x" } }, z: "exit" }),
      "bad within": graphOf({ a: { wait_for_event: { ...wait, within: "1s" } }, z: "exit" }),
    };
    for (const [what, steps] of Object.entries(bad)) expect(await status(steps), what).toBe(422);
    expect(await status(whole, { trigger: { type: "event" } })).toBe(422);
    expect(await status(whole, { trigger: { type: "segment_entered" } })).toBe(422);
    expect(await status(whole, { trigger: { type: "segment_exited", segment_id: UNKNOWN } })).toBe(422);
    const good = [whole, graphOf({ a: send("t") }), graphOf({ a: send("t", "") })];
    for (const steps of [...good, graphOf({ a: { wait_for_event: wait }, z: "exit" })])
      expect(await status(steps)).toBe(200);
  });

  it("an unknown template is 422 TEMPLATE_NOT_FOUND (AMB-89)", async () => {
    const { call, create, channel } = await setting();
    const id = await create(graphOf({ a: { send: { channel_ids: [channel], template_id: UNKNOWN } } }));
    const answer = await call(`POST /api/v1/journeys/${id}/activate`);
    expect([answer.status, answer.body.code]).toEqual([422, "TEMPLATE_NOT_FOUND"]);
    expect(Object.keys(answer.body.fields)).toEqual(["steps.steps.a.send.template_id"]);
  });

  it("every action from every state (D-JNY-ARCHIVE, JNY-14, JNY-16, JNY-17, AMB-9)", async () => {
    const { call, create, definition } = await setting();
    const to: Record<string, string[]> = {
      draft: [],
      active: ["activate"],
      paused: ["activate", "pause"],
      archived: ["archive"],
    };
    const expected: Record<string, Record<string, number>> = {
      draft: { activate: 200, pause: 409, archive: 200, PUT: 200 },
      active: { activate: 409, pause: 200, archive: 409, PUT: 409 },
      paused: { activate: 200, pause: 409, archive: 200, PUT: 200 },
      archived: { activate: 409, pause: 409, archive: 200, PUT: 409 },
    };
    for (const [state, actions] of Object.entries(expected))
      for (const [action, status] of Object.entries(actions)) {
        const id = await create(whole);
        for (const one of to[state]!) await call(`POST /api/v1/journeys/${id}/${one}`);
        const route = action === "PUT" ? `PUT /api/v1/journeys/${id}` : `POST /api/v1/journeys/${id}/${action}`;
        const answer = await call(route, action === "PUT" ? definition(whole) : undefined);
        expect(answer.status, `${action} from ${state}`).toBe(status);
        if (status === 409) expect(answer.body.message).toContain(state);
        expect((await call(`GET /api/v1/journeys/${id}`)).status).toBe(200);
      }
    for (const action of ["activate", "pause", "archive", "duplicate"])
      expect((await call(`POST /api/v1/journeys/${UNKNOWN}/${action}`)).status).toBe(404);
  });

  it("a copy is a new draft with the same definition (D-JNY-ARCHIVE, AMB-74)", async () => {
    const { call, active } = await setting();
    const id = await active(whole);
    const copy = await call(`POST /api/v1/journeys/${id}/duplicate`);
    expect(copy.status).toBe(201);
    expect(copy.body).toMatchObject({ name: "Copy of Welcome", status: "draft", version: 1, steps: whole });
  });

  it("activation and pause are annotated (D-ANNAUTO)", async () => {
    const { call, active, tenant } = await setting();
    const id = await active(whole);
    await call(`POST /api/v1/journeys/${id}/pause`);
    const { items } = await tenant.rows.query({ pk: `T#${tenant.id}#annotation` });
    expect(items.map(({ kind, ref_id }) => [kind, ref_id]).sort()).toEqual([
      ["journey_activated", id],
      ["journey_paused", id],
    ]);
  });

  it("a deleted journey is gone (JNY-19)", async () => {
    const { call, create } = await setting();
    const id = await create(whole);
    expect((await call(`DELETE /api/v1/journeys/${id}`)).status).toBe(204);
    expect((await call(`DELETE /api/v1/journeys/${id}`)).status).toBe(404);
    expect((await call(`GET /api/v1/journeys/${id}`)).status).toBe(404);
    expect((await call("GET /api/v1/journeys/counts")).body).toEqual({ active: 0, total: 0 });
  });

  it("stats of a journey without runs name its steps (JNY-20, JST-1, JST-2)", async () => {
    const { call, create } = await setting();
    expect((await call(`GET /api/v1/journeys/${await create(whole)}/stats`)).body).toEqual({
      refused: {},
      runs: { active: 0, completed: 0, exited: 0, canceled: 0 },
      steps: { pause: { active: 0, outcomes: {} }, end: { active: 0, outcomes: {} } },
    });
    expect((await call(`GET /api/v1/journeys/${UNKNOWN}/stats`)).status).toBe(404);
  });
});
