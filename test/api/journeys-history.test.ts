// A journey on the events of the past (F3): it counts what the real runs counted, and nothing is written or sent.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { bucket } from "../../shared/rules/split.ts";
import { branch, graphOf } from "../support/journeys.ts";
import { wholeTable } from "../support/people.ts";
import { ENDS_AT_ONCE, simulating } from "../support/simulations.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { fresh } = worlds();

describe("the simulation of a journey that was live", () => {
  /** Five people in two weeks of a journey with a loop, its own statistics, and its simulation. */
  const replayed = shared(async ({ fresh }) => {
    const found = await simulating(await fresh());
    const { world, tenant, send, active, person, stats, simulate } = found;
    const steps = graphOf(
      {
        welcome: send("Hi", "paying"),
        paying: branch({ attribute: { plan: { $eq: "pro" } } }, "thanks", "pause"),
        thanks: send("Thanks"),
        pause: { delay: { duration: "1d", next: "busy" } },
        busy: branch({ event: { name: "opened", frequency: { min: 2 }, within: "2d" } }, "wait", "pause_again"),
        pause_again: { delay: { duration: "12h", next: "busy" } },
        wait: {
          wait_for_event: {
            event_name: "bought",
            where: { code: { $eq: "{{trigger.code}}" } },
            within: "2d",
            on_event: "congratulate",
            on_timeout: "end",
          },
        },
        congratulate: send("Bought", "end"),
        end: "exit",
      },
      [{ event: { name: "left" } }],
    );
    const id = await active(steps, { entry_rules: { allow_reentry: true, reentry_window: "2d" } });
    const people = [await person("ada", { plan: "pro" })];
    for (const name of ["bob", "cay", "dan", "eve"]) people.push(await person(name, { plan: "free" }));
    const track = async (event_name: string, names: string[], properties = {}) => {
      const events = names.map((external_id) => ({ event_name, external_id, properties }));
      expect((await world.call("POST /v1/events", { as: tenant.server, body: { events } })).status).toBe(202);
      await world.settle();
    };
    await track("signed_up", ["ada", "bob", "cay", "dan", "eve"], { code: "A" });
    await world.advance(HOUR);
    await track("opened", ["bob", "cay", "dan"]);
    await world.advance(HOUR);
    await track("opened", ["bob", "cay"]);
    await world.advance(DAY);
    await track("bought", ["bob"], { code: "B" });
    await world.advance(HOUR);
    await track("bought", ["bob"], { code: "A" });
    await track("left", ["eve"]);
    await world.advance(DAY + HOUR);
    await track("signed_up", ["ada", "bob", "cay", "dan"], { code: "C" });
    await world.advance(DAY + MINUTE);

    const real = await stats(id);
    const rows = await wholeTable(world);
    const { status, body } = await simulate(id);
    return { ...found, people, real, rows, status, body, result: body.result };
  });

  it("a simulation of the past has the runs and the steps of the journey as it was live (F3)", async () => {
    const { real, status, body, result } = await replayed();

    expect(status).toBe(200);
    expect(body).toMatchObject({ status: "completed", progress: 1 });
    expect({ ...result.runs, canceled: 0 }).toEqual(real.runs);
    expect(result.steps).toEqual(real.steps);
    expect(result.subscribers).toBe(5);
    expect(result.loops.busy).toBeGreaterThan(0);
  });

  it("a simulation of the past counts how often each edge was taken (F3)", async () => {
    const { real, result } = await replayed();

    const { steps } = real;

    expect(result.edges).toContainEqual(
      expect.objectContaining({ from: "wait", by: "wait:event", taken: steps.wait.outcomes["wait:event"] }),
    );
    expect(result.edges).toContainEqual(
      expect.objectContaining({ from: "welcome", by: "next", taken: steps.welcome.outcomes.sent }),
    );
  });

  it("a simulation of the past counts as many messages by day as people got, and what they cost (F3)", async () => {
    const { people, inbox, result } = await replayed();

    const messages = (await Promise.all(people.map(inbox))).flat();
    const sent = result.sends.map((day: { sent: number }) => day.sent);

    expect(sent.reduce((sum: number, count: number) => sum + count, 0)).toBe(messages.length);
    expect(result.sends[0]).toMatchObject({ day: timestamp(START).slice(0, 10), channel: "in_app", sent: 6 });
    expect(result.cost.dollars).toBeGreaterThan(0);
  });

  it("a simulation of the past writes no row but its own (F3)", async () => {
    const { world, rows, body } = await replayed();

    const left = (await wholeTable(world)).filter((row) => !JSON.stringify(row).includes(body.id));

    expect(left).toHaveLength(rows.length);
  });
});

describe("the simulation of a draft on the sign-ups of four people", () => {
  const FOUR = ["ada", "bob", "cay", "dan"];

  const drafted = shared(async ({ fresh }) => {
    const found = await simulating(await fresh());
    const { world, call, send, create, person, track } = found;
    await call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
    const id = await create(
      graphOf({
        first: send("One", "second"),
        second: send("Two", "never"),
        never: branch({ attribute: { plan: { $eq: "gold" } } }, "gold", "end"),
        gold: send("Gold"),
        end: "exit",
      }),
    );
    const people: string[] = [];
    for (const name of FOUR) {
      people.push(await person(name));
      await track(name, "signed_up");
    }
    await world.advance(MINUTE);
    return { ...found, id, people };
  });

  it("a simulation says who could not be sent to and why (F3)", async () => {
    const { id, simulate } = await drafted();

    const { result } = (await simulate(id)).body;

    expect(result.runs).toEqual({ active: 0, completed: 4, exited: 0 });
    expect(result.skipped).toEqual({ capped: 4 });
  });

  it("a simulation names the edges that nobody took (F3)", async () => {
    const { id, simulate } = await drafted();

    expect((await simulate(id)).body.result.dead).toEqual([
      { from: "never", by: "branch:then", to: "gold" },
      { from: "gold", by: "next", to: null },
    ]);
  });

  it.each([1, 40, 100])("a sample of %i per cent is that share of the people (F3)", async (sample) => {
    const { id, people, simulate } = await drafted();

    const share = people.filter((one) => bucket("split", id, one) < sample * 100);

    expect((await simulate(id, { sample })).body.result.entered).toBe(share.length);
  });

  it("a simulation is of the version that is asked for, or else of the last (F3)", async () => {
    const { call, active, definition, onEvent, simulate } = await drafted();
    const live = await active(ENDS_AT_ONCE);
    await call(`POST /api/v1/journeys/${live}/pause`);
    const changed = definition(ENDS_AT_ONCE, { trigger: onEvent("other") });

    expect((await call(`PUT /api/v1/journeys/${live}`, changed)).status).toBe(200);

    expect((await simulate(live)).body).toMatchObject({ version: 2, result: { entered: 0 } });
    expect((await simulate(live, { version: 1 })).body).toMatchObject({ version: 1, result: { entered: 4 } });
  });
});

it("members of a segment enter a simulation when they entered the segment (F3)", async () => {
  const { world, call, create, person, simulate } = await simulating(await fresh());
  const rule = { attribute: { plan: { $eq: "pro" } } };
  const segment_id = (await call("POST /api/v1/segments", { name: "Pro", rule })).body.id;
  const id = await create(ENDS_AT_ONCE, { trigger: { type: "segment_entered", segment_id } });
  await person("ada", { plan: "pro" });
  await person("bob", { plan: "free" });
  await world.settle();
  await world.advance(MINUTE);

  expect((await simulate(id)).body.result).toMatchObject({ entered: 1, steps: { end: { outcomes: { exit: 1 } } } });
});

describe("refusals of a simulation with 422", () => {
  const refusing = shared(async ({ fresh }) => {
    const found = await simulating(await fresh());
    await found.world.advance(MINUTE);
    return { ...found, id: await found.create(ENDS_AT_ONCE) };
  });

  it.each<[what: string, field: string, body: object]>([
    ["that ends before it begins", "to", { to: timestamp(START - DAY) }],
    ["that ends in the future", "to", { to: timestamp(START + DAY) }],
    ["of more than 90 days", "to", { from: timestamp(START - 91 * DAY) }],
    ["without a beginning", "from", { from: undefined }],
    ["of a version that there is not", "version", { version: 7 }],
    ["of no share of the people", "sample", { sample: 0 }],
    ["of the past for an invented person", "sample", { sample: { attributes: {} } }],
    ["of the past for a person", "subscriber_id", { subscriber_id: UNKNOWN }],
  ])("a simulation %s is refused, naming %s (F3)", async (_, field, body) => {
    const { id, begin } = await refusing();

    expect((await begin(id, body)).body.fields).toEqual({ [field]: expect.any(String) });
  });

  it("a journey that is entered by leaving a segment is not simulated on the past (F3)", async () => {
    const { call, create, begin } = await refusing();
    const rule = { attribute: { plan: { $eq: "pro" } } };
    const segment_id = (await call("POST /api/v1/segments", { name: "Pro", rule })).body.id;
    const id = await create(ENDS_AT_ONCE, { trigger: { type: "segment_exited", segment_id } });

    expect((await begin(id)).body.fields).toEqual({ trigger: expect.any(String) });
  });

  it("a journey whose steps are incomplete is not simulated on the past (F3)", async () => {
    const { create, begin } = await refusing();
    const id = await create({ start: "first", steps: {} });

    expect(Object.keys((await begin(id)).body.fields)).not.toEqual([]);
  });
});
