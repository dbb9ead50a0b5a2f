// Quiet hours in the running service (D-QUIET, F15): marketing is deferred to their end, never dropped or repeated.
import { describe, expect, it } from "vitest";
import { DAY, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { fanOutQueue } from "../../shared/runtime/resources.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import type { Value } from "../../shared/store/model.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { deviceRow, inboxOf } from "../support/people.ts";
import { dueRows, NEW_YORK_MORNING, QUIET, quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = () => quietSetting(withTenant);

/** A message at noon in UTC, to one in London, where it is not quiet, and one in New York, where it is until 13:00. */
async function deferredToNewYork() {
  const found = await setting();
  const london = await found.person("london", "Europe/London");
  const newYork = await found.person("new-york", "America/New_York");
  const { job, answer } = await found.push({});
  return { ...found, london, newYork, sent: job, answer };
}

describe("a message to one in quiet hours and one who is not", () => {
  it("a message goes at once to who is not in quiet hours, and waits for the others (D-QUIET, F15)", async () => {
    const { world, london, sent, answer } = await deferredToNewYork();

    expect(await reached(world)).toEqual([london]);
    expect(answer.sent).toBe(2);
    expect(sent).toMatchObject({
      status: "processing",
      deferred: 1,
      sent: 2,
      completed_at: null,
      delivered_by_channel: { ios: 1 },
      counts: { total: 2, sent: 2, delivered: 1, failed: 0, skipped: 0 },
    });
  });

  it("a message that waits is sent once, when quiet hours end where the subscriber is (D-QUIET, F15)", async () => {
    const { world, london, newYork, sent, job } = await deferredToNewYork();

    await world.advance(NEW_YORK_MORNING - MINUTE);
    expect(await reached(world)).toEqual([london]);

    await world.advance(2 * MINUTE);
    expect(await reached(world)).toEqual([london, newYork]);
    expect(await job(sent.id)).toMatchObject({
      status: "completed",
      deferred: 0,
      counts: { total: 2, sent: 2, delivered: 2, failed: 0, skipped: 0 },
    });

    await world.advance(DAY);
    expect(await reached(world)).toHaveLength(2);
  });

  it("who still waits while others are reached is counted as deferred once (D-QUIET)", async () => {
    const { world, person, push, job } = await setting();
    await person("new-york", "America/New_York");
    await person("tokyo", "Asia/Tokyo");
    const { job: sent } = await push({});

    await world.advance(NEW_YORK_MORNING + MINUTE);

    expect(await job(sent.id)).toMatchObject({ deferred: 1, counts: { sent: 2, delivered: 1 } });
  });

  it("the heatmap counts a message that waited in the hour in which it was sent (ISG-4, D-QUIET)", async () => {
    const { world, call } = await deferredToNewYork();

    await world.advance(NEW_YORK_MORNING + MINUTE);

    const { cells } = (await call("GET /api/v1/insights/heatmap")).body;

    expect(cells).toHaveLength(2);
    expect(cells).toContainEqual(expect.objectContaining({ hour: 12, delivered: 1 }));
    expect(cells).toContainEqual(expect.objectContaining({ hour: 13, delivered: 1 }));
  });

  it("a recipient in quiet hours is explained as deferred until their end, and then as sent (D-QUIET)", async () => {
    const { world, newYork, sent, explain } = await deferredToNewYork();
    const until = "2026-11-20T13:00:00.000Z";

    expect(await explain(sent.id, newYork)).toMatchObject({
      decision: "deferred",
      state: "deferred",
      deferred_until: until,
      attempts: [],
      now: { quiet_hours: { ...QUIET, timezone: "America/New_York", local_time: "2026-11-20T07:00", until } },
    });

    await world.advance(NEW_YORK_MORNING + MINUTE);
    expect(await explain(sent.id, newYork)).toMatchObject({
      decision: "sent",
      state: "delivered",
      deferred_until: null,
    });
  });

  it("who is throttled after quiet hours waits for the provider, and is deferred no more (F2, AMB-111, D-QUIET)", async () => {
    const { world, newYork, sent, explain, job } = await deferredToNewYork();
    await spoil(world, { channel: "ios", outcome: "rate_limited", retry_after_seconds: 1_800 });

    await world.advance(NEW_YORK_MORNING + 5 * MINUTE);

    expect(await explain(sent.id, newYork)).toMatchObject({
      decision: "pending",
      state: "pending",
      reason: "throttled",
      deferred_until: null,
      waits: [{ why: "throttled", until: "2026-11-20T13:30:00.000Z" }],
    });
    expect(await job(sent.id)).toMatchObject({ deferred: 0, counts: { delivered: 1 } });
  });

  it("a recipient outside quiet hours is explained with the time of that zone (D-QUIET)", async () => {
    const { london, sent, explain } = await deferredToNewYork();

    expect(await explain(sent.id, london)).toMatchObject({
      decision: "sent",
      deferred_until: null,
      now: { quiet_hours: { timezone: "Europe/London", local_time: "2026-11-20T12:00", until: null } },
    });
  });
});

describe("the workspace's zone", () => {
  it("quiet hours are those of the workspace's zone for subscribers whose own is missing or invalid (D-QUIET)", async () => {
    const { world, configure, person, push } = await setting();
    await configure({ timezone: "Asia/Tokyo" });
    const none = await person("none");
    const invalid = await person("invalid", undefined, { attributes: { timezone: "Nowhere/Land" } });
    const london = await person("london", "Europe/London");

    const { job } = await push({});

    expect(job.deferred).toBe(2);
    expect(await reached(world)).toEqual([london]);
    await world.advance(TOKYO_MORNING + MINUTE);
    expect((await reached(world)).slice(1).sort()).toEqual([none, invalid].sort());
  });

  it("quiet hours are those of the workspace's zone for everyone where it says so (D-QUIET)", async () => {
    const { world, configure, person, push } = await setting();
    await configure({ timezone: "Asia/Tokyo", quiet_hours: { ...QUIET, timezone_mode: "workspace" } });
    const london = await person("london", "Europe/London");

    expect((await push({})).job.deferred).toBe(1);

    await world.advance(TOKYO_MORNING + MINUTE);
    expect(await reached(world)).toEqual([london]);
  });
});

it.each<[what: string, settings: object, message: object]>([
  ["a transactional message", {}, { category: "transactional" }],
  ["a message that passes quiet hours by", {}, { bypass_quiet_hours: true }],
  ["a message on a day that has none", { quiet_hours: { ...QUIET, days: [1, 2, 3] } }, {}],
  ["a message in a workspace without them", { quiet_hours: null }, {}],
])("%s does not wait for the end of quiet hours (D-QUIET, D-NTF)", async (_, settings, message) => {
  const { world, configure, person, push } = await setting();
  await configure(settings);
  const tokyo = await person("tokyo", "Asia/Tokyo");

  expect((await push(message)).job).toMatchObject({ status: "completed", deferred: 0 });
  expect(await reached(world)).toEqual([tokyo]);
});

it("the inbox gets a message in quiet hours, of which the push waits (D-QUIET, D-NTF)", async () => {
  const { world, tenant, ids, person, push } = await setting();
  const tokyo = await person("tokyo", "Asia/Tokyo");
  const { channels } = (await tenant.call("GET /api/v1/channels")).body;
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;

  const { job } = await push({ channel_ids: [ids.ios, inApp] });

  expect(job).toMatchObject({ status: "processing", deferred: 1 });
  expect(await inboxOf(world, tenant, tokyo)).toHaveLength(1);
  expect(await reached(world)).toEqual([]);
});

it("quiet hours without an end are refused with 422 (D-QUIET, AMB-85)", async () => {
  const { call } = await setting();

  const answer = await call("PATCH /api/v1/workspace", { quiet_hours: { ...QUIET, end: QUIET.start } });

  expect(answer.status).toBe(422);
  expect(JSON.stringify(answer.body.fields)).toContain("end");
});

it("all who wait for the same hour share one timer, and cost less than a quarter of a write each (D-QUIET)", async () => {
  const { world, tenant, push } = await setting();
  const count = 450;
  const at = world.clock.now();
  const time = timestamp(at);
  const puts = Array.from({ length: count }, (_, n) => {
    const id = `${(n % 16).toString(16)}0000000-0000-8000-8000-${String(n).padStart(12, "0")}`;
    const device = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    return [
      putItem(
        Profile,
        { id },
        { id, external_id: `p${n}`, created_at: time, updated_at: time, "a:timezone": toJson<Value>("Asia/Tokyo") },
      ),
      putItem(DeviceItem, { subscriber: id, device }, deviceRow(id, device, { at })),
    ];
  }).flat();
  await tenant.store.writeAll(puts);
  await world.settle();

  const cost = await spent(world, async () => {
    expect((await push({})).job).toMatchObject({ status: "processing", deferred: count });
  });

  expect(await dueRows(world, "job-release")).toHaveLength(1);
  expect(cost.wcu / count).toBeLessThan(0.25);

  await world.advance(TOKYO_MORNING + MINUTE);
  expect(await reached(world)).toHaveLength(count);
  expect(new Set(await reached(world)).size).toBe(count);
});

it("a message that waits is sent at its time where its timer came a minute early, by the clock of another process (D-QUIET)", async () => {
  const timers = requests({ of: "due" });
  const { world, tenant, person, push } = await quietSetting(() => withTenant({ hooks: timers.hooks }));
  for (const name of ["ada", "bob"]) await person(name, "America/New_York");
  const { job } = await push({});
  timers.fail();
  await world.advance(NEW_YORK_MORNING - MINUTE);
  const release = { kind: "release", tenant: tenant.id, job: job.id } as const;
  await fanOutQueue.open(world.depsFor("fan-out"))(tenant.id).send([release]);

  await world.advance(2 * MINUTE);

  expect(await reached(world)).toHaveLength(2);
});
