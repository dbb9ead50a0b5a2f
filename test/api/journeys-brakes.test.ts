// The brake of a journey's send step (F21): a step that sends what goes wrong stops itself, and its runs wait for what is
// decided.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { mailing } from "../support/mails.ts";
import { pushProvider, withPhones } from "../support/push-provider.ts";
import { requests } from "../support/requests.ts";
import { shared, worlds } from "../support/worlds.ts";

const ownWorlds = worlds();

/** A journey whose only step pushes. */
async function pushing(people: number, safety: object = { max_error_rate: 0.2 }, makers = ownWorlds) {
  const { provider, providerFaults } = pushProvider();
  const world = await makers.fresh({ providerFaults });
  const setting = await journeySetting(world);
  const { tenant } = setting;
  const { channel, ids } = await withPhones(world, tenant, people);
  const enter = async (some: readonly string[]) => {
    const events = some.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
    for (let n = 0; n < events.length; n += 100)
      await world.call("POST /v1/events", { as: tenant.server, body: { events: events.slice(n, n + 100) } });
    await world.advance(MINUTE);
  };
  const send = { channel_ids: [channel], content: { title: "t", body: "b" }, safety, next: "end" };
  const id = await setting.active(graphOf({ hello: { send }, end: "exit" }));
  const brakes = async () => (await setting.call(`GET /api/v1/journeys/${id}/brakes`)).body.items;
  const decide = (action: "resume" | "cancel", more: object = {}) =>
    setting.call(`POST /api/v1/journeys/${id}/brakes/${action}`, { version: 1, step: "hello", ...more });
  return { ...setting, id, ids, provider, enter, brakes, decide };
}

describe("a step whose provider refuses 30% of 440 pushes", () => {
  /** As it stands a day after the last entered: the step has halted, and the others wait there. */
  const common = shared(async (own) => {
    const found = await pushing(440, undefined, own);
    const { world, call, ids, provider, enter } = found;
    await call("POST /api/v1/webhooks", { target_url: "https://example.com/in", events: ["journey.halted"] });
    // Three of ten, and not about 30%: the figures of 240 are then sure.
    const refused = new Set(ids.filter((_, n) => n % 10 < 3));
    provider.outcomeOf = (subscriber) => (refused.has(subscriber) ? "permanent" : undefined);
    // The eight lanes begin up to 400 before anything is known (docs/decisions/0077): the others arrive after it.
    await enter(ids.slice(0, 240));
    await enter(ids.slice(240));
    await world.advance(DAY);
    return { ...found, tried: provider.calls.length };
  });

  it("a journey's step halts by the error rate of its provider, and its other runs wait there (F21)", async () => {
    const { id, brakes, stats, tried } = await common();

    expect(tried).toBeGreaterThan(90);
    expect(tried).toBeLessThanOrEqual(240);
    expect(await brakes()).toMatchObject([
      { version: 1, step: "hello", status: "halted", halted: { reason: "error_rate", channel: "ios", limit: 0.2 } },
    ]);
    expect((await stats(id)).steps.hello.active).toBe(440 - tried);
  });

  it("a run that waits at a halted step says so, and so does the timeline of its subscriber (F21)", async () => {
    const { id, call, runs } = await common();

    const [waiting] = await runs(id, "?status=active");

    expect(waiting).toMatchObject({ current_step: "hello", halted: { reason: "error_rate" } });
    const timeline = await call(`GET /api/v1/subscribers/${waiting.subscriber_id}/timeline?kinds=journey`);
    expect(timeline.body.items).toMatchObject([{ state: "entered", data: { step: "hello", halted: "error_rate" } }]);
  });

  it("a halted step is annotated, and told by a webhook (F21)", async () => {
    const { id, call } = await common();
    const period = "from=2026-11-01T00:00:00Z&to=2026-12-31T00:00:00Z";

    const notes = await call(`GET /api/v1/annotations?${period}&kinds=blast_halted`);
    const [hook] = (await call("GET /api/v1/webhooks")).body.items;
    const log = await call(`GET /api/v1/webhooks/${hook.id}/deliveries`);

    expect(notes.body.annotations).toMatchObject([{ ref_id: id }]);
    expect(log.body.items).toMatchObject([{ event_type: "journey.halted" }]);
  });

  // The last one: it changes what the others look at.
  it("a halted step is resumed once, and then serves each run that waits there once (F21)", async () => {
    const { world, id, ids, provider, decide, stats } = await common();
    provider.outcomeOf = () => undefined;

    expect(await decide("resume")).toMatchObject({ status: 200, body: { status: "open", halted: null } });
    // At the same moment it would be a repeat of the same request.
    await world.advance(1);
    expect((await decide("resume")).status).toBe(409);
    await world.advance(DAY);

    expect(provider.calls.toSorted()).toEqual(ids.toSorted());
    expect((await stats(id)).runs).toMatchObject({ active: 0, completed: 440 });
  });
});

it("a halted step that is canceled ends the runs that wait there and those that arrive later (F21)", async () => {
  const { world, id, ids, provider, enter, decide, stats, runs } = await pushing(200);
  provider.outcomeOf = () => "permanent";
  await enter(ids.slice(0, 150));
  await enter(ids.slice(150, 190));
  const tried = provider.calls.length;
  expect((await stats(id)).steps.hello.active).toBeGreaterThan(0);

  expect(await decide("cancel")).toMatchObject({ status: 200, body: { status: "canceled" } });
  await world.settle();
  await enter(ids.slice(190));

  expect(provider.calls).toHaveLength(tried);
  expect((await stats(id)).runs).toMatchObject({ active: 0, completed: tried, canceled: 200 - tried });
  const [ended] = await runs(id, "?status=canceled");
  expect(ended).toMatchObject({ end_reason: "the step was canceled after it halted" });
});

it("a halted step of an older version is listed behind those of the newest (F21)", async () => {
  const { id, call, channel, definition, ids, provider, enter, brakes, activate } = await pushing(150);
  provider.outcomeOf = () => "permanent";
  await enter(ids.slice(0, 120));
  await enter(ids.slice(120));
  expect(await brakes()).toMatchObject([{ status: "halted" }]);
  const send = { channel_ids: [channel], content: { title: "t", body: "b" }, safety: { max_error_rate: 0.5 } };
  const steps = graphOf({ hi: { send: { ...send, next: "end" } }, end: "exit" });
  await call(`POST /api/v1/journeys/${id}/pause`);
  expect((await call(`PUT /api/v1/journeys/${id}`, definition(steps))).status).toBe(200);

  await activate(id);

  expect(await brakes()).toMatchObject([
    { version: 2, step: "hi", status: "open", halted: null },
    { version: 1, step: "hello", status: "halted", halted: { reason: "error_rate" } },
  ]);
});

it("the canary of a journey's step is sent to first, and the others after its wait (F21)", async () => {
  const { world, ids, provider, enter } = await pushing(100, { canary_percent: 20, canary_wait_minutes: 20 });
  await enter(ids);

  await world.advance(18 * MINUTE);
  expect(provider.calls.length).toBeGreaterThan(5);
  expect(provider.calls.length).toBeLessThan(40);

  await world.advance(10 * MINUTE);
  expect(provider.calls.toSorted()).toEqual(ids.toSorted());
});

/** A message with a text of an event, between two waits for that event, goes to its canary first: the others wait. */
async function behindCanary() {
  const moves = requests({ of: "step-journey", operation: "TransactWriteItems" });
  const found = await journeySetting(await ownWorlds.fresh({ hooks: moves.hooks }));
  const { world, active, person, track, channel, stats } = found;
  const wait = (on_event: string) => ({ wait_for_event: { event_name: "bought", on_event } });
  const content = { title: "Enjoy {{ event.item }}", body: "b" };
  const safety = { canary_percent: 1, canary_wait_minutes: 20 };
  const thanks = { send: { channel_ids: [channel], content, safety, next: "second" } };
  const id = await active(
    graphOf({ first: wait("thanks"), thanks, second: wait("more"), more: found.send("More"), end: "exit" }),
  );
  const ids: string[] = [];
  for (const name of ["ada", "bob", "eve"]) {
    ids.push(await person(name));
    await track(name, "signed_up");
    await world.advance(1);
    await track(name, "bought", { properties: { item: "the lamp" } });
  }
  const inboxes = () => Promise.all(ids.map((id) => found.inbox(id)));
  // By chance somebody is in the canary; not all of them are.
  expect((await inboxes()).flat().length).toBeLessThan(3);
  await world.advance(MINUTE);
  return { world, moves, inboxes, outcomesOf: async (step: string) => (await stats(id)).steps[step].outcomes };
}

it("what a run did before it waits for the canary is counted (F21)", async () => {
  const { outcomesOf } = await behindCanary();

  expect(await outcomesOf("first")).toEqual({ "wait:event": 3 });
});

it("a run that waits for the canary is not looked at again before that is over (F21)", async () => {
  const { world, moves } = await behindCanary();
  const before = moves.seen();

  await world.advance(15 * MINUTE);

  expect(moves.seen()).toBe(before);
});

it("a message that waited for the canary names the event that its run waited for before (F21, D-LIQUID)", async () => {
  const { world, inboxes } = await behindCanary();

  await world.advance(25 * MINUTE);

  for (const [title] of await inboxes()) expect(title).toBe("Enjoy the lamp");
});

it("what came back before a step was resumed counts no more after it is resumed again (F21)", async () => {
  const { call, active, track, tenant, world } = await pushing(0);
  const { channel } = await mailing(world, tenant);
  const safety = { max_bounce_rate: 0.01 };
  const hello = { send: { channel_ids: [channel], content: { title: "t", body: "b" }, safety, next: "end" } };
  const id = await active(graphOf({ hello, end: "exit" }));
  const enter = async (external_id: string, email: string) => {
    await tenant.upsert({ external_id, email });
    await track(external_id, "signed_up");
    await world.advance(MINUTE);
  };
  const brake = async () => (await call(`GET /api/v1/journeys/${id}/brakes`)).body.items[0]?.status;
  for (const round of ["one", "two"]) {
    await enter(`bad-${round}`, `bounce+${round}@simulator.amazonses.com`);
    await enter(`good-${round}`, `${round}@example.com`);
    expect(await brake()).toBe("halted");
    await call(`POST /api/v1/journeys/${id}/brakes/resume`, { version: 1, step: "hello" });
    await world.advance(DAY);
  }

  await enter("eve", "eve@example.com");

  expect(await brake()).toBe("open");
});

it("a limit that a step is resumed with holds in the place of its own (F21)", async () => {
  const { call, active, track, tenant, world } = await pushing(0);
  const { channel } = await mailing(world, tenant);
  const safety = { max_bounce_rate: 0.01 };
  const hello = { send: { channel_ids: [channel], content: { title: "t", body: "b" }, safety, next: "end" } };
  const id = await active(graphOf({ hello, end: "exit" }));
  const bounce = async (external_id: string) => {
    await tenant.upsert({ external_id, email: `bounce+${external_id}@simulator.amazonses.com` });
    await track(external_id, "signed_up");
    await world.advance(MINUTE);
    await tenant.upsert({ external_id: `after-${external_id}`, email: `${external_id}@example.com` });
    await track(`after-${external_id}`, "signed_up");
    await world.advance(MINUTE);
    return (await call(`GET /api/v1/journeys/${id}/brakes`)).body.items[0];
  };
  expect(await bounce("one")).toMatchObject({ status: "halted", safety });

  await call(`POST /api/v1/journeys/${id}/brakes/resume`, {
    version: 1,
    step: "hello",
    safety: { max_bounce_rate: 1 },
  });
  await world.advance(DAY);

  expect(await bounce("two")).toMatchObject({ status: "open", safety: { max_bounce_rate: 1 } });
});

it("a step without safety has no brake (F21)", async () => {
  const { call, active, send } = await pushing(0);
  const id = await active(graphOf({ hello: send("Hello") }));

  expect((await call(`GET /api/v1/journeys/${id}/brakes`)).body).toEqual({ items: [] });
  expect((await call(`POST /api/v1/journeys/${id}/brakes/resume`, { version: 1, step: "hello" })).status).toBe(404);
});

it("a step whose error rate is more than 1 is refused with 422, naming the field (F21)", async () => {
  const { call, definition } = await pushing(0);
  const steps = graphOf({ hello: { send: { channel_ids: ["x"], safety: { max_error_rate: 20 } } } });

  expect(await call("POST /api/v1/journeys", definition(steps))).toMatchObject({
    status: 422,
    body: { fields: { "steps.steps.hello.send.safety.max_error_rate": "must be a number from 0.0001 to 1" } },
  });
});
