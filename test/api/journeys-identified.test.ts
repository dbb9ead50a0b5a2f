// Runs of journeys, and what visitors did who are identified later (IDN-2, JND-6, JND-9).
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { branch, countedSetting, graphOf } from "../support/journeys.ts";
import { operate } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async () => countedSetting(await fresh());

describe("what a visitor did who is identified while a run waits", () => {
  const wait = { event_name: "paid", on_event: "end" };
  const seen = async (world: TestWorld, tenant: Tenant, event_name: string, more: object = {}) => {
    const events = [{ event_name, anonymous_id: "anon-1" }];
    await world.call("POST /v1/events", { as: tenant.server, body: { events, ...more } });
    await world.settle();
  };
  const identify = async (world: TestWorld, tenant: Tenant, subscriber_id: string) => {
    const body = { anonymous_id: "anon-1", subscriber_id };
    await world.call("POST /v1/events/identify", { as: tenant.server, body });
    await world.settle();
  };

  it.each([
    ["historical events of a visitor who is identified two hours later start no journey", { historical: true }, 0],
    ["events of a visitor who is identified two hours later start a journey", {}, 1],
  ])("%s through a segment that they change (AMB-134, IDN-2)", async (_, said, runs) => {
    const { world, tenant, call, active, person, stats } = await setting();
    const segment = { name: "Buyers", rule: { event: { name: "paid" } }, is_dynamic: true };
    const { id: segment_id } = (await call("POST /api/v1/segments", segment)).body;
    const id = await active(graphOf({ end: "exit" }), { trigger: { type: "segment_entered", segment_id } });
    const ada = await person("ada");
    await seen(world, tenant, "paid", said);
    await world.advance(2 * HOUR);
    await identify(world, tenant, ada);

    expect((await call(`GET /api/v1/segments/${segment_id}`)).body.count).toBe(1);
    expect((await stats(id)).runs.completed).toBe(runs);
  });

  it("an event after a visitor was identified starts a journey through a segment that it changes together with historical events of the visitor (AMB-134, IDN-2)", async () => {
    const { world, tenant, call, active, person, track, stats } = await setting();
    const rule = { event: { name: "paid", frequency: { min: 2 } } };
    const { id: segment_id } = (await call("POST /api/v1/segments", { name: "Buyers", rule, is_dynamic: true })).body;
    const id = await active(graphOf({ end: "exit" }), { trigger: { type: "segment_entered", segment_id } });
    const ada = await person("ada");
    await seen(world, tenant, "paid", { historical: true });
    await world.advance(2 * HOUR);
    await identify(world, tenant, ada);
    await world.advance(MINUTE);
    await track("ada", "paid");

    expect((await stats(id)).runs.completed).toBe(1);
  });

  it("is what the run waits for, at once (IDN-2, JND-6)", async () => {
    const { world, tenant, active, person, track, stats } = await setting();
    const id = await active(graphOf({ wait: { wait_for_event: wait }, end: "exit" }));
    const ada = await person("ada");
    await track("ada", "signed_up");
    await world.advance(HOUR);
    await seen(world, tenant, "paid");
    await world.advance(HOUR);
    await identify(world, tenant, ada);

    expect((await stats(id)).steps.wait.outcomes).toEqual({ "wait:event": 1 });
  });

  it("is what the run waits for after the suspension that held it (IDN-2, AMB-86)", async () => {
    const { world, tenant, active, person, track, send, inbox } = await setting();
    const steps = { wait: { wait_for_event: { ...wait, on_event: "hello" } }, hello: send("Hello") };
    await active(graphOf(steps));
    const ada = await person("ada");
    await track("ada", "signed_up");
    await world.advance(HOUR);
    await seen(world, tenant, "paid");
    const body = { anonymous_id: "anon-1", subscriber_id: ada };
    await world.call("POST /v1/events/identify", { as: tenant.server, body });
    await operate(world, tenant, { status: "suspended" });
    await world.advance(HOUR);
    await operate(world, tenant, { status: "active" });
    expect(await inbox(ada)).toEqual([]);
    await world.advance(6 * MINUTE);

    expect(await inbox(ada)).toEqual(["Hello"]);
  });

  it("ends the run where it meets an exit condition (IDN-2, JND-9)", async () => {
    const { world, tenant, active, person, track, runs } = await setting();
    const exits = [{ event: { name: "left" } }];
    const id = await active(graphOf({ first: { delay: { duration: "1d", next: "end" } }, end: "exit" }, exits));
    const ada = await person("ada");
    await track("ada", "signed_up");
    await world.advance(HOUR);
    await seen(world, tenant, "left");
    await identify(world, tenant, ada);

    expect(await runs(id)).toMatchObject([{ status: "exited" }]);
  });

  it("does not count for a wait that was over before it (AMB-136)", async () => {
    const { world, tenant, active, person, track, stats } = await setting();
    const id = await active(graphOf({ wait: { wait_for_event: wait }, end: "exit" }));
    const ada = await person("ada");
    await seen(world, tenant, "paid");
    await world.advance(HOUR);
    await track("ada", "signed_up");
    await identify(world, tenant, ada);

    expect((await stats(id)).steps.wait.outcomes).toEqual({});
  });
});

it("a branch counts what its person did as any of the visitors that they were (IDN-2, D-JNY-RUN)", async () => {
  const { world, tenant, active, person, track, runs } = await setting();
  const sawTwice = { event: { name: "seen", frequency: { min: 2 } } };
  const id = await active(
    graphOf({ way: branch(sawTwice, "pause", "end"), pause: { delay: { duration: "1d", next: "end" } }, end: "exit" }),
  );
  const ada = await person("ada");
  for (const anonymous_id of ["anon-1", "anon-2"]) {
    const body = { events: [{ event_name: "seen", anonymous_id }] };
    await world.call("POST /v1/events", { as: tenant.server, body });
    await world.call("POST /v1/events/identify", { as: tenant.server, body: { anonymous_id, subscriber_id: ada } });
    await world.settle();
  }

  await track("ada", "signed_up");

  expect(await runs(id)).toMatchObject([{ current_step: "pause" }]);
});
