// What would have started a run and did not: counted by reason, and explained for one person.
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { countRefused } from "../../shared/store/journeys/refusals.ts";
import { attribute, branch, delayed, graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => {
  const found = await journeySetting(await fresh());
  return { ...found, refused: async (id: string) => (await found.stats(id)).refused };
};

describe("refused entries", () => {
  it("of a person whose run is active count as already_active (AMB-147)", async () => {
    const { active, person, track, refused } = await setting();
    const id = await active(delayed("1h"));
    await person("ada");
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({});
    await track("ada", "signed_up");
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ already_active: 2 });
  });

  it("of a person who may not enter again yet count as reentry_window (AMB-147)", async () => {
    const { active, person, track, refused, send } = await setting();
    const entry_rules = { allow_reentry: true, reentry_window: "1d" };
    const id = await active(graphOf({ only: send("Hi") }), { entry_rules });
    await person("ada");
    await track("ada", "signed_up");
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ reentry_window: 1 });
  });

  it("of a person who does not meet the rules count as not_eligible (AMB-147)", async () => {
    const { active, person, track, refused, send } = await setting();
    const entry_rules = { eligibility: attribute("plan", "pro") };
    const id = await active(graphOf({ only: send("Hi") }), { entry_rules });
    await person("ada", { plan: "free" });
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ not_eligible: 1 });
  });

  it("by old and by historical events count as too_old and historical (AMB-147)", async () => {
    const { world, active, person, tenant, track, refused, send } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    await person("ada");
    const occurred_at = new Date(world.clock.now() - 10 * DAY).toISOString();
    await track("ada", "signed_up", { occurred_at });
    const body = { historical: true, events: [{ event_name: "signed_up", external_id: "ada" }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await world.settle();
    expect(await refused(id)).toEqual({ historical: 1, too_old: 1 });
  });

  it("while the journey is paused count as paused (AMB-147)", async () => {
    const { active, person, track, refused, send, call, stats } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    await call(`POST /api/v1/journeys/${id}/pause`);
    await person("ada");
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ paused: 1 });
    expect((await stats(id)).runs.completed).toBe(0);
  });

  it("beyond the quota count as over_quota, and those that still fit enter (AMB-147)", async () => {
    const { world, active, person, tenant, refused, send, stats, inbox } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    const people = [];
    for (const name of ["ada", "bob", "cyd"]) people.push(await person(name));
    await operate(world, tenant, { monthly_send_cap: 2 });
    const events = ["ada", "bob", "cyd"].map((external_id) => ({ event_name: "signed_up", external_id }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();
    expect(await refused(id)).toEqual({ over_quota: 1 });
    expect((await stats(id)).runs.completed).toBe(2);
    expect((await Promise.all(people.map(inbox))).flat()).toEqual(["Hi", "Hi"]);
  });

  it("beyond the quota are let in once there are sends again (AMB-147)", async () => {
    const { world, active, person, tenant, track, refused, send, inbox } = await setting();
    const id = await active(graphOf({ only: send("Hi") }));
    const ada = await person("ada");
    await operate(world, tenant, { monthly_send_cap: 0 });
    await track("ada", "signed_up");
    expect(await inbox(ada)).toEqual([]);
    await operate(world, tenant, { monthly_send_cap: null });
    await track("ada", "signed_up");
    expect(await refused(id)).toEqual({ over_quota: 1 });
    expect(await inbox(ada)).toEqual(["Hi"]);
  });

  it("of a run whose delay was over before the trigger are none, however late its worker is (AMB-136)", async () => {
    const { world, tenant, active, person, refused, runs } = await setting();
    const id = await active(delayed("1h"), { entry_rules: { allow_reentry: true } });
    await person("ada");
    const accept = () =>
      world.call("POST /v1/events", {
        as: tenant.server,
        body: { events: [{ event_name: "signed_up", external_id: "ada" }] },
      });
    await accept();
    await world.settle();
    world.clock.jumpTo(world.clock.now() + 2 * HOUR);
    await accept();
    await world.settle();
    expect(await refused(id)).toEqual({});
    expect((await runs(id)).map(({ status }: { status: string }) => status)).toEqual(["active", "completed"]);
  });

  it("are judged as of the trigger, also by a worker that is hours behind (AMB-136)", async () => {
    const { world, tenant, active, person, refused, stats, send } = await setting();
    const rule = { event: { name: "visited", within: "1h" } };
    const id = await active(graphOf({ only: send("Hi") }), { entry_rules: { eligibility: rule } });
    await person("ada");
    const body = {
      events: ["visited", "signed_up"].map((event_name) => ({ event_name, external_id: "ada" })),
    };
    await world.call("POST /v1/events", { as: tenant.server, body });
    world.clock.jumpTo(world.clock.now() + 3 * HOUR);
    await world.settle();
    expect([await refused(id), (await stats(id)).runs.completed]).toEqual([{}, 1]);
  });

  it("are counted once however often their message is delivered (AMB-147)", async () => {
    const { tenant, refused, active } = await setting();
    const id = await active(delayed("1h"));
    const some = [{ reason: "not_eligible", subscriber: "a", key: "event#1" }] as const;
    await countRefused(tenant.store, id, some);
    await countRefused(tenant.store, id, some);
    expect(await refused(id)).toEqual({ not_eligible: 1 });
  });
});

describe("GET /api/v1/journeys/:id/subscribers/:subscriberId", () => {
  const explained = async (rules: object = {}) => {
    const found = await setting();
    const message = { first: found.send("Hi", "rest"), rest: { delay: { duration: "2h", next: "end" } }, end: "exit" };
    const id = await found.active(graphOf(message as never), rules);
    const ask = async (subscriber: string) =>
      (await found.call(`GET /api/v1/journeys/${id}/subscribers/${subscriber}`)).body;
    return { ...found, id, ask };
  };

  it("says which events started a run and which did not, and why (AMB-147)", async () => {
    const { world, person, track, ask } = await explained();
    const ada = await person("ada");
    await track("ada", "signed_up", { occurred_at: new Date(world.clock.now() - 10 * DAY).toISOString() });
    await track("ada", "signed_up");
    await world.advance(HOUR);
    await track("ada", "signed_up");
    await world.advance(DAY);
    await track("ada", "signed_up");
    const { triggers, runs } = await ask(ada);
    expect(triggers.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      "reentry_window",
      "already_active",
      "entered",
      "too_old",
    ]);
    expect(triggers[2].run_id).toBe(runs[0].id);
  });

  it("says what happened at each step and until when it waits (AMB-147)", async () => {
    const { world, person, track, ask } = await explained();
    const ada = await person("ada");
    await track("ada", "signed_up");
    const { runs, waiting, in_words } = await ask(ada);
    expect(waiting).toMatchObject({
      run_id: runs[0].id,
      step: "rest",
      type: "delay",
      next: [{ by: "next", to: "end" }],
    });
    expect(in_words).toContain("Next: end.");
    expect(runs).toMatchObject([
      {
        current_step: "rest",
        steps: [{ step: "first", outcome: "sent", count: 1 }],
        waiting_until: new Date(world.clock.now() + 2 * HOUR).toISOString(),
      },
    ]);
  });

  it("says which event a run waits for, and where it would go with and without it (AMB-147)", async () => {
    const { person, track, active, call, send } = await setting();
    const wait = { wait_for_event: { event_name: "paid", within: "2h", on_event: "end", on_timeout: "first" } };
    const id = await active(graphOf({ wait, first: send("Hi", "end"), end: "exit" } as never));
    const ada = await person("ada");
    await track("ada", "signed_up");
    const { waiting, in_words } = (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body;
    expect(waiting).toMatchObject({
      step: "wait",
      event_name: "paid",
      next: [
        { by: "wait:event", to: "end" },
        { by: "wait:timeout", to: "first" },
      ],
    });
    expect(in_words).toContain("Next: end if paid comes, else first.");
  });

  it("says which way a branch led, and which exit condition ended a run (AMB-147)", async () => {
    const { world, person, track, active, call, send } = await setting();
    const isPro = branch(attribute("plan", "pro"), "rest", "end");
    const rest = { delay: { duration: "2h", next: "first" } };
    const steps = graphOf({ is_pro: isPro, rest, first: send("Hi", "end"), end: "exit" } as never);
    const id = await active({ ...steps, exit_conditions: [{ event: { name: "bought" } }] });
    const [ada, bob] = [await person("ada", { plan: "free" }), await person("bob", { plan: "pro" })];
    for (const who of ["ada", "bob"]) await track(who, "signed_up");
    await track("bob", "bought");
    await world.settle();
    const words = async (who: string) => (await call(`GET /api/v1/journeys/${id}/subscribers/${who}`)).body.in_words;
    expect(await words(ada)).toContain("is_pro: the condition was not met.");
    expect(await words(bob)).toContain(
      "ended as exited (its exit condition: bought came). is_pro: the condition was met.",
    );
  });

  it("shows the rules of entry clause by clause, and whether a trigger would start a run now (AMB-147)", async () => {
    const entry_rules = { eligibility: attribute("plan", "pro") };
    const { person, track, ask } = await explained({ entry_rules });
    const ada = await person("ada", { plan: "free" });
    await track("ada", "signed_up");
    const { triggers, now, assumes } = await ask(ada);
    expect(triggers).toMatchObject([{ outcome: "not_eligible", run_id: null }]);
    expect(now).toEqual({
      would_enter: false,
      reason: "not_eligible",
      clauses: [{ path: "attribute.plan", matched: false, expected: { $eq: "pro" }, actual: "free" }],
    });
    expect(assumes).toHaveLength(1);
    await person("ada", { plan: "pro" });
    expect((await ask(ada)).now).toMatchObject({ would_enter: true, reason: null });
  });

  it("knows when the journey was paused (AMB-147)", async () => {
    const { world, id, call, person, track, ask } = await explained();
    const ada = await person("ada");
    await world.advance(1_000);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(1_000);
    await track("ada", "signed_up");
    expect(await ask(ada)).toMatchObject({ triggers: [{ outcome: "paused" }], now: { reason: "paused" } });
  });

  it("tells a person who came beyond the quota from one who does not meet the rules (AMB-147)", async () => {
    const { world, tenant, person, track, ask } = await explained({
      entry_rules: { eligibility: attribute("plan", "pro") },
    });
    const ada = await person("ada", { plan: "pro" });
    await operate(world, tenant, { monthly_send_cap: 0 });
    await track("ada", "signed_up");
    expect(await ask(ada)).toMatchObject({
      triggers: [{ outcome: "over_quota", run_id: null }],
      assumes: [],
      in_words: expect.stringContaining("the sends of the month are used up"),
    });
  });

  it("says that an event is held while the workspace is suspended, and not that the rules refuse it (AMB-147)", async () => {
    const { world, tenant, person, ask } = await explained();
    const ada = await person("ada");
    const body = { events: [{ event_name: "signed_up", external_id: "ada" }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    expect(await ask(ada)).toMatchObject({ triggers: [{ outcome: "not_handled" }], assumes: [] });
    await world.settle();
    expect((await ask(ada)).triggers).toMatchObject([{ outcome: "entered" }]);
  });

  it("names the segment that was entered, and why no run began (AMB-147)", async () => {
    const { world, call, active, person, send } = await setting();
    const rule = attribute("vip", true);
    const segment = await call("POST /api/v1/segments", { name: "VIPs", is_dynamic: true, rule });
    const id = await active(graphOf({ only: send("Hi") }), {
      trigger: { type: "segment_entered", segment_id: segment.body.id },
      entry_rules: { eligibility: attribute("plan", "pro") },
    });
    const [ada, bob] = [
      await person("ada", { plan: "free", vip: true }),
      await person("bob", { plan: "pro", vip: true }),
    ];
    await world.settle();
    const ask = async (one: string) => (await call(`GET /api/v1/journeys/${id}/subscribers/${one}`)).body;
    const named = { id: segment.body.id, name: "VIPs", entered: true };
    expect(await ask(ada)).toMatchObject({
      triggers: [{ segment: named, event_id: "", outcome: "not_eligible" }],
      in_words: expect.stringMatching(/^Entered the segment VIPs on .* and started no run: not eligible/),
    });
    const { triggers, runs } = await ask(bob);
    expect(triggers).toMatchObject([{ segment: named, outcome: "entered", run_id: runs[0].id }]);
  });

  it("is 404 for an unknown journey and an unknown person (AMB-147)", async () => {
    const { call, person, id } = await explained();
    const ada = await person("ada");
    const unknown = "00000000-0000-4000-8000-000000000000";
    expect((await call(`GET /api/v1/journeys/${unknown}/subscribers/${ada}`)).status).toBe(404);
    expect((await call(`GET /api/v1/journeys/${id}/subscribers/${unknown}`)).status).toBe(404);
  });
});
