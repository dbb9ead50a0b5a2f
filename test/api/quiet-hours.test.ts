// Quiet hours in the running service (D-QUIET, F15): marketing is deferred to their end, never dropped or repeated.
import { expect, it } from "vitest";
import type { OutboxItem } from "../../local/outbox.ts";
import { HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { toJson } from "../../shared/store/json-text.ts";
import type { Value } from "../../shared/store/model.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import { ConsentItem, Profile } from "../../shared/store/subscribers/items.ts";
import { deviceRow, operate } from "../support/people.ts";
import { dueRows, NEW_YORK_MORNING, QUIET, quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { outboxOf } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = (options = {}) => quietSetting(withTenant, options);

it("a subscriber in quiet hours gets it at their end, in each zone; the job waits and counts them (D-QUIET, F15, ISG-4)", async () => {
  const { world, call, person, push, job, explain } = await setting();
  const [ada, ben, cleo] = [
    await person("ada", "Europe/London"),
    await person("ben", "Asia/Tokyo"),
    await person("cleo", "America/New_York"),
  ];
  const { job: sent, answer } = await push({});
  expect(answer.sent).toBe(3);
  expect(sent).toMatchObject({
    status: "processing",
    deferred: 2,
    sent: 3,
    completed_at: null,
    delivered_by_channel: { ios: 1 },
    counts: { total: 3, sent: 3, delivered: 1, failed: 0, skipped: 0 },
  });
  expect(await reached(world)).toEqual([ada]);
  expect(await explain(sent.id, ben)).toMatchObject({
    decision: "deferred",
    state: "deferred",
    deferred_until: "2026-11-20T23:00:00.000Z",
    attempts: [],
    now: {
      quiet_hours: {
        ...QUIET,
        timezone: "Asia/Tokyo",
        local_time: "2026-11-20T21:00",
        until: "2026-11-20T23:00:00.000Z",
      },
    },
  });
  expect(await explain(sent.id, ada)).toMatchObject({
    decision: "sent",
    deferred_until: null,
    now: { quiet_hours: { timezone: "Europe/London", local_time: "2026-11-20T12:00", until: null } },
  });
  await world.advance(NEW_YORK_MORNING - MINUTE);
  expect(await reached(world)).toEqual([ada]);
  await world.advance(2 * MINUTE);
  expect(await reached(world)).toEqual([ada, cleo]);
  expect(await job(sent.id)).toMatchObject({ status: "processing", deferred: 1, counts: { sent: 3, delivered: 2 } });
  await world.advance(TOKYO_MORNING - NEW_YORK_MORNING);
  expect(await reached(world)).toEqual([ada, cleo, ben]);
  expect(await job(sent.id)).toMatchObject({
    status: "completed",
    deferred: 0,
    counts: { total: 3, sent: 3, delivered: 3, failed: 0, skipped: 0 },
  });
  expect(await explain(sent.id, ben)).toMatchObject({ decision: "sent", state: "delivered", deferred_until: null });
  const [{ at }] = (await outboxOf(world, `?subscriber_id=${ben}`)) as [OutboxItem];
  expect(Date.parse(at)).toBeGreaterThanOrEqual(Date.parse("2026-11-20T23:00:00.000Z"));
  const { cells } = (await call("GET /api/v1/insights/heatmap")).body;
  const byHour = cells.map(({ hour, delivered }: { hour: number; delivered: number }) => [hour, delivered]);
  expect(byHour.sort()).toEqual([12, 13, 23].map((hour) => [hour, 1]));
  await world.advance(24 * HOUR);
  expect(await reached(world)).toHaveLength(3);
});

it("the workspace's zone applies to all in its mode, and to subscribers with none or an invalid one (D-QUIET)", async () => {
  const { world, configure, person, push } = await setting();
  await configure({ timezone: "Asia/Tokyo" });
  const ada = await person("ada");
  const ben = await person("ben", undefined, { attributes: { timezone: "Nowhere/Land" } });
  const cleo = await person("cleo", "Europe/London");
  expect((await push({})).job.deferred).toBe(2);
  expect(await reached(world)).toEqual([cleo]);
  await configure({ quiet_hours: { ...QUIET, timezone_mode: "workspace" } });
  expect((await push({})).job.deferred).toBe(3);
  await world.advance(TOKYO_MORNING + MINUTE);
  expect((await reached(world)).slice(1).sort()).toEqual([ada, ben, ada, ben, cleo].sort());
});

it("transactional messages, a bypass, the inbox, other days: nothing waits (D-QUIET, D-NTF)", async () => {
  const { world, tenant, ids, configure, person, push } = await setting();
  const ben = await person("ben", "Asia/Tokyo");
  expect((await push({ category: "transactional" })).job).toMatchObject({ status: "completed", deferred: 0 });
  expect((await push({ bypass_quiet_hours: true })).job).toMatchObject({ status: "completed", deferred: 0 });
  expect(await reached(world)).toEqual([ben, ben]);
  const channels = (await tenant.call("GET /api/v1/channels")).body.channels;
  const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
  const both = await push({ channel_ids: [ids.ios, inApp] });
  expect(both.job).toMatchObject({ status: "processing", deferred: 1 });
  const inbox = (await world.call(`GET /v1/in-app/messages?subscriber_id=${ben}`, { as: tenant.sdk })).body.messages;
  expect(inbox).toHaveLength(1);
  expect((await push({ channel_ids: [inApp] })).job).toMatchObject({ status: "completed", deferred: 0 });
  await configure({ quiet_hours: { ...QUIET, days: [1, 2, 3] } });
  expect((await push({})).job).toMatchObject({ status: "completed", deferred: 0 });
  await configure({ quiet_hours: null });
  expect((await push({})).job).toMatchObject({ status: "completed", deferred: 0 });
});

it("hours without an end are refused (D-QUIET, AMB-85)", async () => {
  const { call } = await setting();
  const answer = await call("PATCH /api/v1/workspace", { quiet_hours: { ...QUIET, end: QUIET.start } });
  expect(answer.status).toBe(422);
  expect(answer.body.error?.message ?? JSON.stringify(answer.body)).toContain("end");
});

it("a timer for each job and release, however many wait; waiting costs a few hundredths of a write each (D-QUIET)", async () => {
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

it("who is erased or opts out in the meantime is not reached (D-QUIET)", async () => {
  const { world, tenant, ids, person, push, job, call } = await setting({ channels: ["ios-push", "sms"] as never });
  const zone = "Asia/Tokyo";
  const gone = await person("gone", zone);
  const out = await person("out", zone, { attributes: { phone: "+4915112345678" } });
  const off = await person("off", zone);
  const stays = await person("stays", zone, { attributes: { phone: "+4915112345679" } });
  const { job: pushed } = await push({ subscriberIds: [gone, off, stays], target: undefined });
  const { job: texted } = await push({ subscriberIds: [out, stays], target: undefined, channel_ids: [ids.sms] });
  await call(`DELETE /api/v1/subscribers/${gone}`);
  const consent = { channel: "sms", status: "opted_out" };
  await tenant.upsert({ external_id: "out", consent });
  const [device] = (await call(`GET /api/v1/subscribers/${off}/devices`)).body.items;
  await world.call(`DELETE /api/v1/devices/${device.id}?subscriber_id=${off}`, { as: tenant.sdk });
  await world.advance(TOKYO_MORNING + MINUTE);
  expect(await reached(world)).toEqual([stays, stays]);
  expect(await job(pushed.id)).toMatchObject({
    status: "completed",
    fail_reasons: { erased: 1, no_device: 1 },
    counts: { sent: 3, delivered: 1, failed: 2 },
  });
  expect(await job(texted.id)).toMatchObject({ status: "completed", fail_reasons: { no_consent: 1 } });
  const rest = await tenant.store.queryRows(ConsentItem, { subscriber: gone });
  expect(rest.items).toEqual([]);
});

it("while the workspace is suspended nothing is sent; a day later it has expired (D-QUIET, AMB-86)", async () => {
  const { world, tenant, person, push, job } = await setting();
  const ben = await person("ben", "Asia/Tokyo");
  const { job: first } = await push({});
  await operate(world, tenant, { status: "suspended" });
  await world.advance(TOKYO_MORNING + 3 * HOUR);
  expect(await reached(world)).toEqual([]);
  await operate(world, tenant, { status: "active" });
  await world.advance(HOUR);
  expect(await reached(world)).toEqual([ben]);
  expect(await job(first.id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  // It is one in the morning there again.
  const { job: second } = await push({ subscriberIds: [await person("dan", "Europe/Berlin")], target: undefined });
  expect(second).toMatchObject({ status: "processing", deferred: 1 });
  await operate(world, tenant, { status: "suspended" });
  await world.advance(40 * HOUR);
  await operate(world, tenant, { status: "active" });
  await world.advance(HOUR);
  expect(await reached(world)).toEqual([ben]);
  expect(await job(second.id)).toMatchObject({ status: "failed", fail_reasons: { expired: 1 }, deferred: 0 });
});
