// The worker of journeys crashes between any two of its steps, and messages are delivered twice: each step of a run
// happens once.
import { expect, it } from "vitest";
import { HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { actorText, subscriberActor } from "../../shared/store/events/actors.ts";
import { actorWrites } from "../../shared/store/events/blocks.ts";
import { countsOf, readCounts } from "../../shared/store/journeys/counts.ts";
import { branch, graphOf, journeySetting } from "../support/journeys.ts";
import { mortal } from "../support/mortal.ts";
import { addPeople } from "../support/people.ts";
import { recountRuns } from "../support/recounts.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const PATIENCE_MS = 240_000;
/** Messages of one request to the table. */
const BATCH = 25;
const plan = (value: string) => ({ attribute: { plan: { $eq: value } } });

it(
  "a crash at any step of a run: each send once, each outcome counted once (JND-15, JND-9)",
  async () => {
    const worker = mortal("step-journey");
    const all = await journeySetting(await fresh({ hooks: worker.hooks }));
    const { world, tenant, send, active, person, track, inbox, runs } = all;
    const id = await active(
      graphOf({
        a: send("A", "b"),
        b: branch(plan("pro"), "d", "d"),
        d: { delay: { duration: "1m", next: "e" } },
        e: send("E"),
      }),
    );
    let people = 0;
    const run = async (n: number, moment: "before" | "after") => {
      const who = `p${people++}`;
      const subscriber = await person(who);
      worker.dieAt(n, moment);
      await track(who, "signed_up");
      await world.advance(2 * MINUTE);
      const deaths = worker.deaths();
      worker.revive();
      await world.advance(20 * MINUTE);
      expect([n, moment, await inbox(subscriber)]).toEqual([n, moment, ["A", "E"]]);
      expect([n, moment, (await runs(id, `?subscriber_id=${subscriber}`))[0].status]).toEqual([n, moment, "completed"]);
      return deaths;
    };
    const deaths = await run(10_000, "before");
    expect(deaths.length).toBeGreaterThan(15);
    for (const [n, moment] of deaths) await run(n, moment);
    const [counted] = await countsOf(tenant.store, [id]);
    const once = { active: 0, outcomes: { sent: people } };
    expect(counted).toEqual({
      runs: { active: 0, completed: people, exited: 0, canceled: 0 },
      steps: {
        a: once,
        b: { active: 0, outcomes: { "branch:else": people } },
        d: { active: 0, outcomes: { delayed: people } },
        e: once,
      },
    });
    expect(readCounts(await recountRuns(tenant.store, id))).toEqual(counted);
  },
  PATIENCE_MS,
);

it("a crash while many delays end together, and a run is canceled after it: each is counted once (JND-13, JST-1)", async () => {
  const worker = mortal("step-journey");
  const { world, tenant, call, active, person, runs } = await journeySetting(await fresh({ hooks: worker.hooks }));
  const delay = (next: string) => ({ delay: { duration: "1m", next } });
  const graph = graphOf({ pause: delay("rest"), rest: delay("end"), end: "exit" });
  const id = await active(graph, { entry_rules: { allow_reentry: true } });
  const people = await Promise.all(["a", "b", "c", "d", "e"].map((name) => person(name)));
  const events = people.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
  let rounds = 0;
  const run = async (n: number) => {
    rounds++;
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.settle();
    worker.dieAt(n, "after");
    await world.advance(1.5 * MINUTE);
    const taken = worker.steps();
    const [run] = await runs(id, `?subscriber_id=${people[0]}`);
    expect((await call(`POST /api/v1/journeys/${id}/runs/${run.id}/cancel`)).status).toBe(200);
    worker.revive();
    await world.advance(15 * MINUTE);
    const [counted] = await countsOf(tenant.store, [id]);
    expect([n, counted?.runs]).toMatchObject([n, { active: 0, completed: 4 * rounds, canceled: rounds }]);
    expect([n, readCounts(await recountRuns(tenant.store, id))]).toEqual([n, counted]);
    return taken;
  };
  const steps = await run(10_000);
  expect(steps).toBeGreaterThan(people.length + 3);
  for (let n = 1; n <= steps; n++) await run(n);
});

it("the timeout looks for the event before it takes on_timeout, also where the event's own message is lost (JND-13)", async () => {
  const { world, tenant, active, person, track, stats, at } = await journeySetting(await fresh());
  const wait = { event_name: "paid", within: "1h", on_event: "yes", on_timeout: "no" };
  const id = await active(graphOf({ wait: { wait_for_event: wait }, yes: "exit", no: "exit" }));
  const people = [await person("ada"), await person("bob"), await person("eve")];
  for (const who of ["ada", "bob", "eve"]) await track(who, "signed_up");
  // No message names these rows: too early, at the end of the window, after it.
  for (const [i, ms] of [-1, HOUR, HOUR + 1].entries()) {
    const event = {
      id: world.ids.uuid(),
      event_name: "paid",
      actor: actorText(subscriberActor(people[i]!)),
      platform: null,
      properties: {},
      occurred_at: at(ms),
      isKeyed: false,
    };
    const origin = { received_at: at(ms), source: "server" as const };
    await tenant.store.writeAll(actorWrites([event], { ...origin, key: undefined, watched: new Set() }));
  }
  await world.advance(2 * HOUR);
  expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1, "wait:timeout": 2 });
});

it("a crash after any write of a simulation that goes on in a worker: each page counts once (F3)", async () => {
  const worker = mortal("import-rows");
  const hooks = (name: string) => {
    const { after } = worker.hooks(name);
    if (!after) return {};
    return { after: (_: string, operation: string) => (operation === "UpdateItem" ? after() : undefined) };
  };
  const { world, tenant, call, create, person, track } = await journeySetting(await fresh({ hooks }));
  const id = await create(graphOf({ end: "exit" }));
  const from = timestamp(world.clock.now());
  await person("ada");
  await track("ada", "signed_up");
  await world.advance(MINUTE);
  for (const count of [1_000, 1_000, 600]) {
    const events = Array.from({ length: count }, () => ({ event_name: "seen", anonymous_id: "visitor" }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    await world.advance(MINUTE);
  }
  await person("bob");
  await track("bob", "signed_up");
  await world.advance(MINUTE);
  const window = { from, to: timestamp(world.clock.now()) };
  for (const n of [1, 2]) {
    worker.dieAt(n, "after");
    const { body } = await call(`POST /api/v1/journeys/${id}/simulate`, window);
    expect([n, body.status]).toEqual([n, "pending"]);
    await world.settle();
    worker.revive();
    await world.advance(20 * MINUTE);
    const { status, progress, result } = (await call(`GET /api/v1/journeys/${id}/simulations/${body.id}`)).body;
    expect([n, status, progress, result.entered, result.subscribers]).toEqual([n, "completed", 1, 2, 2]);
  }
});

it("a crash while many begin with a delay: each begins once and is counted once (JND-15, JST-1)", async () => {
  const worker = mortal("step-journey");
  const { world, tenant, active, person } = await journeySetting(await fresh({ hooks: worker.hooks }));
  const pause = { delay: { duration: "1m", next: "end" } };
  const id = await active(graphOf({ pause, end: "exit" }));
  let begun = 0;
  const run = async (n: number, moment: "before" | "after") => {
    const people = await Promise.all(["a", "b", "c", "d"].map((name) => person(`${name} ${begun}`)));
    begun += people.length;
    const events = people.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
    await world.call("POST /v1/events", { as: tenant.server, body: { events } });
    worker.dieAt(n, moment);
    await world.settle();
    const taken = worker.steps();
    worker.revive();
    await world.advance(15 * MINUTE);
    const [counted] = await countsOf(tenant.store, [id]);
    expect([n, moment, counted?.runs]).toMatchObject([n, moment, { active: 0, completed: begun }]);
    expect([n, moment, readCounts(await recountRuns(tenant.store, id))]).toEqual([n, moment, counted]);
    return taken;
  };
  const steps = await run(10_000, "before");
  expect(steps).toBeGreaterThan(12);
  for (let n = 1; n <= steps; n++) for (const moment of ["before", "after"] as const) await run(n, moment);
});

it("messages of a pack of which a crash left out a part reach each inbox once (JND-15)", async () => {
  const writing = requests({ of: "deliver", operation: "BatchWriteItem", naming: "Hello" });
  const { world, tenant, active, send, inbox } = await journeySetting(await fresh({ hooks: writing.hooks }));
  await active(graphOf({ hello: send("Hello") }));
  const people = await addPeople(world, tenant, BATCH + 5);
  writing.each(() => {
    if (writing.seen() > 1) throw new Error("the worker stopped");
  });
  const events = people.map((subscriber_id) => ({ event_name: "signed_up", subscriber_id }));
  await world.call("POST /v1/events", { as: tenant.server, body: { events } });
  await world.advance(12 * MINUTE);
  const before = await Promise.all(people.map(inbox));
  expect(before.flat()).toHaveLength(BATCH);

  writing.pass();
  await world.advance(HOUR);

  expect(await Promise.all(people.map(inbox))).toEqual(people.map(() => ["Hello"]));
});
