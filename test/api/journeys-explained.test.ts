// How one person came into a journey, or did not: told by GET /api/v1/journeys/:id/subscribers/:subscriberId (AMB-147).
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { attribute, branch, graphOf, journeySetting } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => journeySetting(await fresh());

describe("GET /api/v1/journeys/:id/subscribers/:subscriberId", () => {
  const explained = async (rules: object = {}) => {
    const found = await setting();
    const message = { first: found.send("Hi", "rest"), rest: { delay: { duration: "2h", next: "end" } }, end: "exit" };
    const id = await found.active(graphOf(message as never), rules);
    const ask = async (subscriber: string) =>
      (await found.call(`GET /api/v1/journeys/${id}/subscribers/${subscriber}`)).body;
    return { ...found, id, ask };
  };

  it("a journey, asked about a person, says which events started a run and which did not, and why (AMB-147)", async () => {
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

  it("a journey, asked about a person, says what happened at each step and until when it waits (AMB-147)", async () => {
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
    expect(in_words).toContain("Next: the end.");
    expect(runs).toMatchObject([
      {
        current_step: "rest",
        steps: [{ step: "first", outcome: "sent", count: 1 }],
        waiting_until: new Date(world.clock.now() + 2 * HOUR).toISOString(),
      },
    ]);
  });

  it("a journey, asked about a person, says which event a run waits for, and where it would go with and without it (AMB-147)", async () => {
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
    expect(in_words).toContain("Next: the end if paid comes, else the message “Hi”.");
  });

  it("a journey, asked about a person, says which way a branch led, and which exit condition ended a run (AMB-147)", async () => {
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

    expect(await words(ada)).toContain("The branch: the condition was not met (plan is pro).");
    expect(await words(bob)).toContain(
      "ended as exited on 2026-11-20 12:00 UTC (its exit condition: bought came). The branch: the condition was met (plan is pro).",
    );
  });

  it("a journey, asked about a person, shows the rules of entry clause by clause, and whether a trigger would start a run now (AMB-147)", async () => {
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

  it("a journey, asked about a person, judges events of its rules of entry as of the trigger, also at once (AMB-147, AMB-136)", async () => {
    const entry_rules = { eligibility: { event: { name: "seen", within: "1d" } } };
    const { world, person, track, ask, at } = await explained({ entry_rules });
    await world.advance(2 * DAY);
    const ada = await person("ada");
    await world.advance(HOUR);
    await track("ada", "seen");
    await track("ada", "signed_up", { occurred_at: at(DAY) });

    expect((await ask(ada)).triggers).toMatchObject([{ outcome: "not_eligible" }]);
  });

  it("a journey, asked about a person, says that the reason of a step has gone since (AMB-147, F2)", async () => {
    const { world, tenant, call, active, track } = await setting();
    const { email } = await openChannels(world, tenant, "email");
    const mail = { send: { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" } };
    const id = await active(graphOf({ mail, end: "exit" } as never));
    const say = (status: string) =>
      tenant.upsert({ external_id: "ada", email: "ada@example.com", consent: { status, channel: "email" } });
    const ada = await say("opted_out");
    await track("ada", "signed_up");
    await world.advance(HOUR);
    await say("opted_in");

    expect((await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body.in_words).toMatch(
      /The message “Hi”: skipped, no consent for this channel \(then; now there is\)\.$/,
    );
  });

  it("a journey, asked about a person, knows when the journey was paused (AMB-147)", async () => {
    const { world, id, call, person, track, ask } = await explained();
    const ada = await person("ada");
    await world.advance(1_000);
    await call(`POST /api/v1/journeys/${id}/pause`);
    await world.advance(1_000);
    await track("ada", "signed_up");

    expect(await ask(ada)).toMatchObject({ triggers: [{ outcome: "paused" }], now: { reason: "paused" } });
  });

  it("a journey, asked about a person, tells a person who came beyond the quota from one who does not meet the rules (AMB-147)", async () => {
    const { world, tenant, person, track, ask } = await explained({
      entry_rules: { eligibility: attribute("plan", "pro") },
    });
    const ada = await person("ada", { plan: "pro" });
    await operate(world, tenant, { monthly_send_cap: 0 });
    await track("ada", "signed_up");

    expect(await ask(ada)).toMatchObject({
      triggers: [{ outcome: "over_quota", run_id: null }],
      assumes: [],
      in_words: expect.stringMatching(
        /: the sends of the month are used up\. A trigger would start none now: the sends/,
      ),
      now: { would_enter: false, reason: "over_quota" },
    });
  });

  it("a journey, asked about a person whom its first send would skip, lets them in beyond the quota (AMB-147)", async () => {
    const { world, tenant, call, active, track } = await setting();
    const { email = "" } = await openChannels(world, tenant, "email");
    const send = { channel_ids: [email], content: { title: "Hi", body: "b" }, next: "end" };
    const id = await active(graphOf({ first: { send }, end: "exit" } as never));
    const ada = await tenant.upsert({ external_id: "ada" });
    await operate(world, tenant, { monthly_send_cap: 0 });
    const path = `GET /api/v1/journeys/${id}/subscribers/${ada}` as const;

    expect((await call(path)).body.now).toEqual({ would_enter: true, reason: null, clauses: [] });
    await track("ada", "signed_up");
    expect((await call(path)).body.runs[0].steps).toContainEqual(
      expect.objectContaining({ step: "first", outcome: "skipped:no_address" }),
    );
  });

  it("a journey, asked about a person whom a branch would lead to a send, keeps them out beyond the quota (AMB-147)", async () => {
    const { world, tenant, active, call, send, person, track } = await setting();
    const graph = { first: branch(attribute("plan", "pro"), "mail"), mail: send("Hi", "end"), end: "exit" };
    const id = await active(graphOf(graph as never));
    const [ada, bob] = [await person("ada", { plan: "pro" }), await person("bob")];
    await operate(world, tenant, { monthly_send_cap: 0 });
    const ask = async (who: string) => (await call(`GET /api/v1/journeys/${id}/subscribers/${who}`)).body.now.reason;

    expect([await ask(ada), await ask(bob)]).toEqual(["over_quota", null]);
    for (const who of ["ada", "bob"]) await track(who, "signed_up");
    expect((await call(`GET /api/v1/journeys/${id}/stats`)).body.refused).toEqual({ over_quota: 1 });
  });

  it("a journey, asked about a person, says why a message failed: by the provider's words, or that no channel of it could be used (AMB-147)", async () => {
    const { world, tenant, call, active, track } = await setting();
    const { email = "" } = await openChannels(world, tenant, "email");
    const bare = (await call("POST /api/v1/channels", { type: "email", name: "Bare" })).body.id;
    const send = (channel: string, next: string) => ({
      send: { channel_ids: [channel], content: { title: "Hi", body: "b" }, next },
    });
    const id = await active(graphOf({ first: send(bare, "second"), second: send(email, "end"), end: "exit" } as never));
    const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
    await world.call("POST /_local/faults", {
      as: {},
      body: { channel: "email", outcome: "permanent", subscriber_id: ada },
    });
    await track("ada", "signed_up");
    const { in_words } = (await call(`GET /api/v1/journeys/${id}/subscribers/${ada}`)).body;
    expect(in_words).toMatch(
      /The message “Hi”: failed, its template is gone, or none of its channels can be used \(now .+ is not verified\)\. The message “Hi”: failed, .+\.$/,
    );
  });

  it("a journey, asked about a person, says that an event is held while the workspace is suspended, and not that the rules refuse it (AMB-147)", async () => {
    const { world, tenant, person, ask } = await explained();
    const ada = await person("ada");
    const body = { events: [{ event_name: "signed_up", external_id: "ada" }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    expect(await ask(ada)).toMatchObject({ triggers: [{ outcome: "not_handled" }], assumes: [] });
    await world.settle();
    expect((await ask(ada)).triggers).toMatchObject([{ outcome: "entered" }]);
  });

  it("a journey, asked about a person, names the segment that was entered, and why no run began (AMB-147)", async () => {
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

  it("a journey, asked about a person, is 404 for an unknown journey and an unknown person (AMB-147)", async () => {
    const { call, person, id } = await explained();
    const ada = await person("ada");
    const unknown = "00000000-0000-4000-8000-000000000000";

    expect((await call(`GET /api/v1/journeys/${unknown}/subscribers/${ada}`)).status).toBe(404);
    expect((await call(`GET /api/v1/journeys/${id}/subscribers/${unknown}`)).status).toBe(404);
  });
});
