// Events of the past: they count everywhere, and start no journey (AMB-134).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { delayed, journeySetting } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => journeySetting(await fresh());
type Setting = Awaited<ReturnType<typeof setting>>;

const trigger = (max_age?: string) => ({ type: "event", event_name: "signed_up", ...(max_age && { max_age }) });
const entered = async ({ runs }: Setting, id: string) =>
  (await runs(id)).map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id);

/** A segment of those who bought, as often as it says, and a journey that its change starts. */
async function segmentJourney(
  { call, active, world }: Setting,
  type: string,
  frequency: object = { min: 1 },
  is_dynamic = true,
) {
  const rule = { event: { name: "bought", frequency } };
  const made = await call("POST /api/v1/segments", { name: "Buyers", rule, is_dynamic });
  expect(made.status).toBe(201);
  await world.settle();
  const journey = await active(delayed("1d"), { trigger: { type, segment_id: made.body.id } });
  const members = async () => (await call(`GET /api/v1/segments/${made.body.id}`)).body.count;
  const compute = async () => {
    expect((await call(`POST /api/v1/segments/${made.body.id}/recompute`)).status).toBe(202);
    await world.settle();
  };
  return { journey, members, compute };
}

describe("max_age", () => {
  it("the max_age of a journey is read as it was written, so that a change of something else keeps it (AMB-134)", async () => {
    const { call, active } = await setting();
    const id = await active(delayed("1d"), { trigger: trigger("none") });
    const journey = await call(`GET /api/v1/journeys/${id}`);
    expect(journey.body.trigger).toEqual(trigger("none"));
    const versions = await call(`GET /api/v1/journeys/${id}/versions`);
    expect(versions.body.items[0].trigger).toEqual(trigger("none"));
  });

  it.each([
    ["72 hours by default", undefined, 72 * HOUR],
    ["as long as it says", "2h", 2 * HOUR],
  ])("%s, and the millisecond after is too old (AMB-134)", async (_, max_age, age) => {
    const all = await setting();
    const id = await all.active(delayed("1d"), { trigger: trigger(max_age) });
    const [ada] = [await all.person("ada"), await all.person("bob")];
    await all.track("ada", "signed_up", { occurred_at: all.at(-age) });
    await all.track("bob", "signed_up", { occurred_at: all.at(-age - 1) });

    expect(await entered(all, id)).toEqual([ada]);
  });

  it("the max_age of a journey is lifted by none (AMB-134)", async () => {
    const all = await setting();
    const id = await all.active(delayed("1d"), { trigger: trigger("none") });
    const ada = await all.person("ada");
    await all.track("ada", "signed_up", { occurred_at: all.at(-89 * DAY) });

    expect(await entered(all, id)).toEqual([ada]);
  });

  it("it counts at the receipt: a journey is started late by an event that came in time (AMB-134)", async () => {
    const all = await setting();
    const id = await all.active(delayed("1d"), { trigger: trigger("2h") });
    const ada = await all.person("ada");
    const body = { event_name: "signed_up", external_id: "ada" };
    await all.world.call("POST /v1/events", { as: all.tenant.server, body });
    await all.world.advance(3 * HOUR);

    expect(await entered(all, id)).toEqual([ada]);
  });

  it.each(["1.5h", "", "None", "0d"])(
    "the max_age %j of a journey is refused with 422 when it is saved (AMB-134)",
    async (max_age) => {
      const { call, definition } = await setting();
      const answer = await call(
        "POST /api/v1/journeys",
        definition(delayed("1d"), { trigger: { ...trigger(), max_age } }),
      );

      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.fields)).toEqual(["trigger.max_age"]);
    },
  );

  it("a segment that an old event enters starts one (AMB-134)", async () => {
    const all = await setting();
    const { journey, members } = await segmentJourney(all, "segment_entered");
    const ada = await all.person("ada");
    await all.track("ada", "bought", { occurred_at: all.at(-80 * DAY) });

    expect(await members()).toBe(1);
    expect(await entered(all, journey)).toEqual([ada]);
  });
});

describe("historical", () => {
  it.each([
    ["beside the events", (event: object) => ({ historical: true, events: [event, event] })],
    ["on the single event", (event: object) => ({ historical: true, ...event })],
  ])("what is said to be historical %s starts no journey, whatever its age (AMB-134)", async (_, body) => {
    const all = await setting();
    const id = await all.active(delayed("1d"), { trigger: trigger("none") });
    await all.person("ada");
    const event = { event_name: "signed_up", external_id: "ada" };
    expect((await all.world.call("POST /v1/events", { as: all.tenant.server, body: body(event) })).status).toBe(202);
    await all.world.settle();
    expect(await all.runs(id)).toEqual([]);
    await all.track("ada", "signed_up");
    expect(await all.runs(id)).toHaveLength(1);
  });

  const bought = { event: { name: "bought" } };

  const backfill = async ({ world, tenant }: Setting, external_id: string, count = 1) => {
    const events = Array.from({ length: count }, () => ({ event_name: "bought", external_id }));
    const body = { historical: true, events };
    expect((await world.call("POST /v1/events", { as: tenant.server, body })).status).toBe(202);
  };

  it("a segment that it enters starts no journey, also for a subscriber that was just created (AMB-134)", async () => {
    const all = await setting();
    const { journey, members } = await segmentJourney(all, "segment_entered");
    await all.person("ada");
    await backfill(all, "ada");
    await all.world.settle();

    expect(await members()).toBe(1);
    expect(await all.runs(journey)).toEqual([]);
  });

  it("a segment that it leaves starts no journey (AMB-134)", async () => {
    const all = await setting();
    const { journey, members } = await segmentJourney(all, "segment_exited", { max: 1 });
    await all.person("ada");
    await all.world.settle();
    expect(await members()).toBe(1);
    await backfill(all, "ada", 2);
    await all.world.settle();
    expect(await members()).toBe(0);
    expect(await all.runs(journey)).toEqual([]);
  });

  it("a later event that completes the condition starts one (AMB-134)", async () => {
    const all = await setting();
    const { journey } = await segmentJourney(all, "segment_entered", { min: 2 });
    const ada = await all.person("ada");
    await backfill(all, "ada");
    await all.world.advance(MINUTE);
    await all.track("ada", "bought");

    expect(await entered(all, journey)).toEqual([ada]);
  });

  it.each([
    ["what came as historical starts no journey", true, 0],
    ["what came as an event of today starts one", false, 1],
  ])("through a segment that a new rule computes again, %s (AMB-134)", async (_, historical, runs) => {
    const all = await setting();
    const { call, world } = all;
    const none = { event: { name: "never" } };
    const { id } = (await call("POST /api/v1/segments", { name: "Buyers", rule: none, is_dynamic: true })).body;
    await world.settle();
    const journey = await all.active(delayed("1d"), { trigger: { type: "segment_entered", segment_id: id } });
    await all.person("ada");
    if (historical) await backfill(all, "ada");
    else await all.track("ada", "bought");
    await world.settle();
    expect((await call(`PATCH /api/v1/segments/${id}`, { name: "Buyers", rule: bought })).status).toBe(200);
    await world.settle();

    expect((await call(`GET /api/v1/segments/${id}`)).body.count).toBe(1);
    expect(await all.runs(journey)).toHaveLength(runs);
  });

  it("a member by history who leaves and comes back by an event of today starts one (AMB-134)", async () => {
    const all = await setting();
    const { call, active, world, person, track } = all;
    const rule = { event: { name: "bought", within: "1h" } };
    const made = await call("POST /api/v1/segments", { name: "Buyers", rule, is_dynamic: true });
    const journey = await active(delayed("1d"), { trigger: { type: "segment_entered", segment_id: made.body.id } });
    const ada = await person("ada");
    await backfill(all, "ada");
    await world.advance(3 * HOUR);
    expect(await all.runs(journey)).toEqual([]);
    await track("ada", "bought");
    expect(await entered(all, journey)).toEqual([ada]);
  });
});

describe("static segments", () => {
  const statically = (all: Setting, type: string, frequency?: object) => segmentJourney(all, type, frequency, false);
  const backfill = ({ world, tenant }: Setting, events: object[]) =>
    world.call("POST /v1/events", { as: tenant.server, body: { historical: true, events } });
  const bought = (external_id: string) => ({ event_name: "bought", external_id });

  it.each([
    ["at once", 0],
    ["two days later", 2 * DAY],
  ])(
    "a static segment that is computed again %s starts no journey for people who entered by historical events (AMB-134)",
    async (_, later) => {
      const all = await setting();
      const { journey, members, compute } = await statically(all, "segment_entered");
      await all.person("ada");
      const bob = await all.person("bob");
      await backfill(all, [bought("ada")]);
      await all.track("bob", "bought");
      await all.world.advance(later);
      await compute();

      expect(await members()).toBe(2);
      expect(await entered(all, journey)).toEqual([bob]);
    },
  );

  it("a static segment that is computed again starts no journey for people who left by historical events (AMB-134)", async () => {
    const all = await setting();
    const { journey, members, compute } = await statically(all, "segment_exited", { max: 1 });
    await all.person("ada");
    const bob = await all.person("bob");
    await compute();
    await backfill(all, [bought("ada"), bought("ada")]);
    for (let n = 0; n < 2; n++) await all.track("bob", "bought");
    await compute();

    expect(await members()).toBe(0);
    expect(await entered(all, journey)).toEqual([bob]);
  });
});

describe("names that no event has", () => {
  const long = "n".repeat(129);
  const wait = { wait_for_event: { event_name: long, on_event: "end" } };

  it.each([
    ["a trigger", { trigger: { type: "event", event_name: long } }, "trigger.event_name"],
    [
      "a trigger by an event that names a segment",
      { trigger: { ...trigger(), segment_id: "5f1b9c5e-2f5a-4f0e-9d3b-8a4c1e7d2b60" } },
      "trigger.segment_id",
    ],
    [
      "a trigger by a segment that names an event",
      { trigger: { type: "segment_entered", event_name: "signed_up" } },
      "trigger.event_name",
    ],
    [
      "a wait",
      { steps: { start: "w", steps: { w: { id: "w", type: "wait_for_event", ...wait } } } },
      "steps.steps.w.wait_for_event.event_name",
    ],
    [
      "an exit",
      { steps: { ...delayed("1d"), exit_conditions: [{ event: { name: long } }] } },
      "steps.exit_conditions[0].event",
    ],
    [
      "an entry rule",
      { entry_rules: { eligibility: { event: { name: long } } } },
      "entry_rules.eligibility.event.name",
    ],
  ])(
    "a name that no event has is refused in %s of a journey: 422 when it is saved (AMB-144)",
    async (_, more, field) => {
      const { call, definition } = await setting();
      const answer = await call("POST /api/v1/journeys", definition(delayed("1d"), more));

      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.fields ?? answer.body)).toEqual([field]);
    },
  );

  it("a name that no event has is refused in a rule of a segment: 422 when it is saved (AMB-144)", async () => {
    const { call } = await setting();
    const rule = { event: { name: long } };
    const answer = await call("POST /api/v1/segments", { name: "S", rule, is_dynamic: true });

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["rule.event.name"]);
  });
});
