// Frequency caps in the running service (D-CAP, F16): never more than they allow, also under concurrent sends.
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { SendCounter } from "../../shared/store/sends/ledger/ledger-items.ts";
import { draft, take } from "../support/experiences.ts";
import { addPeople, inboxOf, send } from "../support/people.ts";
import { addPhone, ledgerOf, mend, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import type { Headers, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const WEEKLY = { category: "marketing", max: 1, per: "week" };
const DAILY = { category: "marketing", max: 2, per: "day" };

async function setting(frequency_caps: object[], more: object = {}) {
  const { world, tenant } = await withTenant();
  const ids = await openChannels(world, tenant, "ios-push", "email");
  const { call } = tenant;
  const configured = await call("PATCH /api/v1/workspace", { frequency_caps, ...more });
  if (configured.status !== 200) throw new Error(JSON.stringify(configured.body));
  const channels = (await call("GET /api/v1/channels")).body.channels as { id: string; type: string }[];
  const inApp = channels.find(({ type }) => type === "in_app")!.id;
  const person = async (external_id: string): Promise<string> => {
    const body = { external_id, email: `${external_id}@example.com` };
    const id = await tenant.upsert(body);
    await addPhone(world, tenant, id, "ios");
    return id;
  };
  const push = (body: object = {}) => send(world, tenant, { target: { type: "all" }, channel_ids: [ids.ios], ...body });
  const explain = async (id: string, who: string) =>
    (await call(`GET /api/v1/notifications/${id}/recipients/${who}`)).body;
  const reached = async () => (await outboxOf(world)).map(({ channel }) => channel);
  return {
    world,
    tenant,
    ids: { ...ids, in_app: inApp } as Record<string, string>,
    call,
    person,
    push,
    explain,
    reached,
  };
}

it("lift counts those stopped by a cap on both sides of its fraction (D-ATTRIB)", async () => {
  const { world, tenant, call, person, push } = await setting([{ ...DAILY, max: 1 }]);
  const subscriber_id = await person("ada");
  await call("POST /api/v1/insights/config", { event_name: "bought" });
  await push();
  const { job } = await push();
  expect(job).toMatchObject({ counts: { sent: 0 }, skip_reasons: { capped: 1 } });
  await world.call("POST /v1/events", { as: tenant.sdk, body: { event_name: "bought", subscriber_id } });
  await world.settle();
  const lift = (await call(`GET /api/v1/insights/lift?job_id=${job.id}`)).body;
  expect(lift.treated).toMatchObject({ size: 1, converters: 1, conversion_rate: 1 });
});

it.each([{}, { channel_class: "push" }])("a throttled message is counted once %j (D-CAP, AMB-111)", async (scope) => {
  const { world, person, push, reached } = await setting([{ ...WEEKLY, ...scope }]);
  await person("ada");
  await spoil(world, { channel: "ios", outcome: "rate_limited", times: 1 });
  await push();
  await world.advance(HOUR);
  expect(await reached()).toHaveLength(1);
  expect((await push()).job).toMatchObject({ skip_reasons: { capped: 1 } });
});

it("over the cap is skipped with its reason; explain shows the cap and the count seen (D-CAP, F16)", async () => {
  const { world, person, push, explain, reached } = await setting([DAILY]);
  const ada = await person("ada");
  for (let n = 0; n < 2; n++)
    expect((await push()).job).toMatchObject({ status: "completed", counts: { sent: 1, delivered: 1, skipped: 0 } });
  const { job } = await push();
  expect(job).toMatchObject({
    status: "completed",
    skip_reasons: { capped: 1 },
    fail_reasons: {},
    counts: { total: 1, sent: 0, delivered: 0, failed: 0, skipped: 1 },
  });
  expect(await reached()).toHaveLength(2);
  expect(await explain(job.id, ada)).toMatchObject({
    decision: "skipped",
    state: "skipped",
    reason: "capped",
    attempts: [{ channel: "ios", state: "skipped", reason: "capped", attempted_at: [], cap: { ...DAILY, count: 2 } }],
    now: { caps: [{ ...DAILY, count: 2 }] },
  });
  await world.advance(12 * HOUR);
  expect((await push()).job.counts.delivered).toBe(1);
});

it("a category that no cap names is untouched, and one that is named is capped (D-CAP)", async () => {
  const { person, push } = await setting([{ ...DAILY, max: 1 }]);
  await person("ada");
  const { counts } = (await push()).job;
  expect(counts.delivered).toBe(1);
  for (let n = 0; n < 3; n++) expect((await push({ category: "transactional" })).job.counts.delivered).toBe(1);
  expect((await push()).job.skip_reasons).toEqual({ capped: 1 });
  const other = await setting([{ category: "transactional", max: 1, per: "day" }]);
  await other.person("ben");
  for (const skipped of [0, 1, 1])
    expect((await other.push({ category: "transactional" })).job.counts.skipped).toBe(skipped);
  expect((await other.push()).job.counts.delivered).toBe(1);
});

it("a class has its own count: what its cap refuses comes by the other channels (D-CAP)", async () => {
  const { world, tenant, ids, person, push, explain, reached } = await setting([{ ...WEEKLY, channel_class: "push" }]);
  const ada = await person("ada");
  await addPhone(world, tenant, ada, "ios");
  const channel_ids = [ids.ios, ids.email];
  expect((await push({ channel_ids })).job.delivered_by_channel).toEqual({ ios: 1, email: 1 });
  expect((await reached()).toSorted()).toEqual(["email", "ios", "ios"]);
  const { job } = await push({ channel_ids });
  expect(job).toMatchObject({
    delivered_by_channel: { email: 1 },
    skip_reasons: {},
    counts: { delivered: 1, skipped: 0 },
  });
  const { attempts, decision } = await explain(job.id, ada);
  expect(decision).toBe("sent");
  expect(attempts.filter(({ reason }: { reason: string }) => reason === "capped")).toHaveLength(2);
});

it("a smart send goes on to the next class that may (D-CAP, SMA-6)", async () => {
  const { person, push } = await setting([{ ...WEEKLY, channel_class: "push" }]);
  await person("ada");
  const smart = { channel_arbitration_mode: "smart", channel_ids: undefined };
  expect((await push(smart)).job.delivered_by_channel).toEqual({ ios: 1 });
  expect((await push(smart)).job).toMatchObject({
    delivered_by_channel: { email: 1 },
    channel_arbitration: { fallback_steps: 1 },
  });
});

it("one send is one message, by however many devices and channels, retries included (D-CAP)", async () => {
  const { world, tenant, ids, person, push } = await setting([{ ...DAILY, max: 2 }]);
  const ada = await person("ada");
  await addPhone(world, tenant, ada, "ios");
  await spoil(world, { channel: "ios", outcome: "transient", times: 3 });
  const first = await push({ channel_ids: [ids.ios, ids.email, ids.in_app] });
  await world.advance(HOUR);
  await mend(world);
  expect(first.job.status).toBe("processing");
  const row = await tenant.store.get(SendCounter, { subscriber: ada, per: "day", window: "2026-11-20" });
  expect(row).toMatchObject({ marketing: 1 });
  expect((await push({ channel_ids: [ids.in_app] })).job.counts.delivered).toBe(1);
  expect((await push({ channel_ids: [ids.in_app] })).job.skip_reasons).toEqual({ capped: 1 });
  expect(await inboxOf(world, tenant, ada)).toHaveLength(2);
});

it("what is not tried is not counted, what the provider refuses is (D-CAP)", async () => {
  const { world, tenant, person, push } = await setting([DAILY]);
  const ada = await person("ada");
  const count = async () =>
    (await tenant.store.get(SendCounter, { subscriber: ada, per: "day", window: "2026-11-20" }))?.marketing ?? 0;
  await push({ title: "{{ subscriber.attributes.nobody | date: 'x', 'y' }}{% if %}" }).catch(() => undefined);
  expect(await count()).toBe(0);
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  expect((await push()).job.counts.failed).toBe(1);
  expect(await count()).toBe(1);
});

it("across campaigns, journeys, schedules and API sends (D-CAP)", async () => {
  const { world, tenant, ids, person, call, push, reached } = await setting([{ ...DAILY, max: 4 }]);
  await person("ada");
  const content = { title: "t", body: "b" };
  const channel_ids = [ids.ios];
  const campaign = async () => {
    const { id } = (await call("POST /api/v1/campaigns", { name: "c", content, channel_ids, target: { type: "all" } }))
      .body;
    await call(`POST /api/v1/campaigns/${id}/release`);
    await world.settle();
  };
  const steps = { start: "s", steps: { s: { id: "s", type: "send", send: { channel_ids, content } } } };
  const trigger = { type: "event", event_name: "signed_up" };
  const entry_rules = { allow_reentry: true };
  const { id } = (await call("POST /api/v1/journeys", { name: "j", trigger, steps, entry_rules })).body;
  await call(`POST /api/v1/journeys/${id}/activate`);
  const journey = async () => {
    await world.call("POST /v1/events", {
      as: tenant.server,
      body: { events: [{ event_name: "signed_up", external_id: "ada" }] },
    });
    await world.settle();
  };
  const template_id = (await call("POST /api/v1/templates", { name: "t", content })).body.id;
  const cron = { cron_expression: "1 12 * * *", timezone: "UTC", template_id, channel_ids, target: { type: "all" } };
  expect((await call("POST /api/v1/schedules", cron)).status).toBe(201);
  await world.advance(2 * MINUTE);
  expect(await reached()).toHaveLength(1);
  await campaign();
  await journey();
  await push();
  expect(await reached()).toHaveLength(4);
  await campaign();
  await journey();
  await push();
  expect(await reached()).toHaveLength(4);
});

it("sends that run at once do not pass the cap, each subscriber gets exactly that many (D-CAP, F16)", async () => {
  const { world, tenant, ids, call } = await setting([{ ...DAILY, max: 2 }]);
  const people = await addPeople(world, tenant, 25);
  const body = { title: "t", body: "b", target: { type: "all" }, channel_ids: [ids.in_app] };
  const as: Headers = await tenant.dashboard();
  const made = await Promise.all(
    Array.from({ length: 6 }, () => world.call("POST /api/v1/notifications", { as, body })),
  );
  await world.settle();
  const jobs = await Promise.all(
    made.map(async ({ body: { id } }) => (await call(`GET /api/v1/notifications/${id}`)).body),
  );
  expect(jobs.every(({ status }) => status === "completed")).toBe(true);
  const sum = (name: string) => jobs.reduce((total, { counts }) => total + counts[name], 0);
  expect([sum("delivered"), sum("skipped")]).toEqual([50, 100]);
  for (const id of people) expect(await inboxOf(world, tenant, id)).toHaveLength(2);
});

it("a message that waits is counted on the day it is sent (D-CAP, D-QUIET)", async () => {
  const quiet_hours = { start: "10:00", end: "09:00", timezone_mode: "workspace" };
  const { world, tenant, person, push, reached } = await setting([{ ...DAILY, max: 1 }], { quiet_hours });
  const ada = await person("ada");
  await push();
  await push();
  await world.advance(21 * HOUR + MINUTE);
  expect(await reached()).toHaveLength(1);
  expect(await tenant.store.get(SendCounter, { subscriber: ada, per: "day", window: "2026-11-20" })).toBeUndefined();
  const rows = await ledgerOf(tenant, ada);
  expect(rows.map(({ state }) => state).sort()).toEqual(["sent", "skipped"]);
});

it("a send that reaches no subscriber ends too (D-CAP, AMB-57)", async () => {
  const { push, ids } = await setting([DAILY]);
  for (const channel of ["ios", "in_app"]) {
    const wish = { subscriberIds: ["nobody"], target: undefined, channel_ids: [ids[channel]] };
    expect((await push(wish)).job).toMatchObject({ status: "completed", skip_reasons: { unknown_subscriber: 1 } });
  }
});

it("experiences are shown as often as they say themselves, at any hour (D-CAP, D-QUIET)", async () => {
  const quiet_hours = { start: "10:00", end: "09:00", timezone_mode: "workspace" };
  const { world, tenant, ids, push, person } = await setting([{ ...DAILY, max: 1 }], { quiet_hours });
  const ada = await person("ada");
  expect((await push({ channel_ids: [ids.in_app] })).job.counts.delivered).toBe(1);
  await take(world, tenant, await draft(tenant), "publish");
  expect(await inboxOf(world, tenant, ada)).toHaveLength(2);
  expect((await push({ channel_ids: [ids.in_app] })).job.skip_reasons).toEqual({ capped: 1 });
});

it("an erasure leaves no counter; without caps a send makes no further requests (D-CAP, SUB-9)", async () => {
  const { world, tenant, person, push, call } = await setting([DAILY]);
  const ada = await person("ada");
  await push();
  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(3 * MINUTE);
  expect((await tenant.store.queryRows(SendCounter, { subscriber: ada })).items).toEqual([]);
  await person("ben");
  const cost = async (settings: object, w: TestWorld = world) => {
    await call("PATCH /api/v1/workspace", settings);
    return spent(w, () => push());
  };
  await cost({ frequency_caps: [], quiet_hours: null });
  const plain = await cost({ frequency_caps: [], quiet_hours: null });
  const unmet = { ...DAILY, category: "transactional" };
  const night = { start: "00:00", end: "06:00", timezone_mode: "workspace" };
  const idle = await cost({ frequency_caps: [unmet], quiet_hours: night });
  expect([idle.wcu, idle.requests]).toEqual([plain.wcu, plain.requests]);
});
