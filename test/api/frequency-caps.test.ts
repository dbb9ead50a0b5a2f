// Frequency caps in the running service (D-CAP, F16): never more than they allow, also under concurrent sends.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { SendCounter } from "../../shared/store/sends/ledger/ledger-items.ts";
import { ingest } from "../support/events.ts";
import { draft, take } from "../support/experiences.ts";
import { graphOf } from "../support/journeys.ts";
import { addPeople, inboxOf } from "../support/people.ts";
import { quietSetting } from "../support/quiet-hours.ts";
import { addPhone, ledgerOf, mend, outboxOf, spoil } from "../support/reached.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const WEEKLY = { category: "marketing", max: 1, per: "week" };
const DAILY = { category: "marketing", max: 1, per: "day" };
const TWICE_A_DAY = { ...DAILY, max: 2 };
const ALL_DAY = { start: "10:00", end: "09:00", timezone_mode: "workspace" };

async function setting(frequency_caps: object[], more: object = {}) {
  const { world, tenant, call, configure, ...found } = await quietSetting(withTenant, {
    quiet: null,
    channels: ["ios-push", "email"],
  });
  await configure({ frequency_caps, ...more });
  const channels = (await call("GET /api/v1/channels")).body.channels as { id: string; type: string }[];
  const ids: Record<string, string> = { ...found.ids, in_app: channels.find(({ type }) => type === "in_app")!.id };
  /** A subscriber with a mail address and a phone. */
  const person = (external_id: string) => found.person(external_id, undefined, { email: `${external_id}@example.com` });
  /** Sends to all, by default a push. @returns the job at rest */
  const push = async (body: object = {}) => (await found.push(body)).job;
  const channelsReached = async () => (await outboxOf(world)).map(({ channel }) => channel);
  /** How many messages of marketing a subscriber got on the first day, as the counter says. */
  const countOf = async (subscriber: string): Promise<number> =>
    (await tenant.store.get(SendCounter, { subscriber, per: "day", window: "2026-11-20" }))?.marketing ?? 0;
  return { ...found, world, tenant, ids, call, configure, person, push, channelsReached, countOf };
}

const REACHED = { status: "completed", counts: { delivered: 1, skipped: 0 } };
const CAPPED = { status: "completed", counts: { sent: 0, skipped: 1 }, skip_reasons: { capped: 1 } };

it("a message over the cap is skipped with its reason, and reaches nobody (D-CAP)", async () => {
  const { person, push, channelsReached } = await setting([TWICE_A_DAY]);
  await person("ada");
  for (let n = 0; n < 2; n++) expect(await push()).toMatchObject(REACHED);

  expect(await push()).toMatchObject({ ...CAPPED, fail_reasons: {} });

  expect(await channelsReached()).toHaveLength(2);
});

it.each([
  ["UTC", 12 * HOUR],
  ["America/Los_Angeles", 20 * HOUR],
])("the next day of %s allows as many again, up to the cap of the week (D-CAP, F16)", async (timezone, nextDay) => {
  const { world, person, push } = await setting([DAILY, { ...WEEKLY, max: 2 }], { timezone });
  await person("ada");
  for (const wait of [nextDay, DAY]) {
    expect(await push()).toMatchObject(REACHED);
    await world.advance(wait - MINUTE);
    expect(await push()).toMatchObject(CAPPED);
    await world.advance(MINUTE);
  }

  expect(await push()).toMatchObject(CAPPED);
});

it("an explanation shows the cap that stopped a message, and the count it saw (D-CAP, F16)", async () => {
  const { person, push, explain } = await setting([DAILY]);
  const ada = await person("ada");
  await push();
  const { id } = await push();

  const cap = { ...DAILY, count: 1 };
  expect(await explain(id, ada)).toMatchObject({
    decision: "skipped",
    state: "skipped",
    reason: "capped",
    attempts: [{ channel: "ios", state: "skipped", reason: "capped", attempted_at: [], cap }],
    now: { caps: [cap] },
  });
});

it("lift counts those stopped by a cap on both sides of its fraction (D-ATTRIB)", async () => {
  const { world, tenant, call, person, push } = await setting([DAILY]);
  const subscriber_id = await person("ada");
  await call("POST /api/v1/insights/config", { event_name: "bought" });
  await push();
  const { id } = await push();

  await world.call("POST /v1/events", { as: tenant.sdk, body: { event_name: "bought", subscriber_id } });
  await world.settle();

  const lift = (await call(`GET /api/v1/insights/lift?job_id=${id}`)).body;
  expect(lift.treated).toMatchObject({ size: 1, converters: 1, conversion_rate: 1 });
});

describe("what a cap counts", () => {
  it.each([
    ["all channels", WEEKLY],
    ["push", { ...WEEKLY, channel_class: "push" }],
  ])("each of several messages that were throttled is counted once by a cap of %s (D-CAP, AMB-111)", async (_, cap) => {
    const { world, person, push, channelsReached } = await setting([cap]);
    for (const name of ["ada", "bob"]) await person(name);
    await spoil(world, { channel: "ios", outcome: "rate_limited", times: 2 });
    await push();
    await world.advance(HOUR);
    expect(await channelsReached()).toHaveLength(2);

    expect(await push()).toMatchObject({ counts: { sent: 0, skipped: 2 }, skip_reasons: { capped: 2 } });
  });

  it("a category that no cap names is sent beyond a cap, and uses up none of it (D-CAP)", async () => {
    const { person, push } = await setting([DAILY]);
    await person("ada");
    for (let n = 0; n < 3; n++) expect(await push({ category: "transactional" })).toMatchObject(REACHED);

    expect(await push()).toMatchObject(REACHED);
    expect(await push()).toMatchObject(CAPPED);
  });

  it("a cap of transactional messages holds for them alone (D-CAP)", async () => {
    const { person, push } = await setting([{ ...DAILY, category: "transactional" }]);
    await person("ada");
    expect(await push({ category: "transactional" })).toMatchObject(REACHED);

    expect(await push({ category: "transactional" })).toMatchObject(CAPPED);
    expect(await push()).toMatchObject(REACHED);
  });

  it("one send is one message, by however many devices and channels, retries included (D-CAP)", async () => {
    const { world, tenant, ids, person, push, countOf } = await setting([TWICE_A_DAY]);
    const ada = await person("ada");
    await addPhone(world, tenant, ada, "ios");
    await spoil(world, { channel: "ios", outcome: "transient", times: 3 });
    await push({ channel_ids: [ids.ios, ids.email, ids.in_app] });
    await world.advance(HOUR);
    await mend(world);

    expect(await countOf(ada)).toBe(1);
    expect(await push({ channel_ids: [ids.in_app] })).toMatchObject(REACHED);
    expect(await push({ channel_ids: [ids.in_app] })).toMatchObject(CAPPED);
    expect(await inboxOf(world, tenant, ada)).toHaveLength(2);
  });

  it("a message that the provider refuses is counted (D-CAP)", async () => {
    const { world, person, push, countOf } = await setting([DAILY]);
    const ada = await person("ada");
    await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });

    expect((await push()).counts.failed).toBe(1);

    expect(await countOf(ada)).toBe(1);
  });

  it("a message that waits for the end of quiet hours is counted on the day it is sent (D-CAP, D-QUIET)", async () => {
    const { world, tenant, person, push, countOf, channelsReached } = await setting([DAILY], { quiet_hours: ALL_DAY });
    const ada = await person("ada");
    for (let n = 0; n < 2; n++) await push();

    await world.advance(21 * HOUR + MINUTE);

    expect(await countOf(ada)).toBe(0);
    expect(await channelsReached()).toHaveLength(1);
    expect((await ledgerOf(tenant, ada)).map(({ state }) => state).sort()).toEqual(["sent", "skipped"]);
  });

  it("an experience is counted by no cap and held by none, at any hour (D-CAP, D-QUIET)", async () => {
    const { world, tenant, ids, push, person } = await setting([TWICE_A_DAY], { quiet_hours: ALL_DAY });
    const ada = await person("ada");
    for (let n = 0; n < 2; n++) await take(world, tenant, await draft(tenant), "publish");

    expect(await push({ channel_ids: [ids.in_app] })).toMatchObject(REACHED);
    expect(await push({ channel_ids: [ids.in_app] })).toMatchObject(REACHED);
    await take(world, tenant, await draft(tenant), "publish");

    expect(await inboxOf(world, tenant, ada)).toHaveLength(5);
  });
});

describe("what is sent all the same", () => {
  it("what the cap of a class refuses comes by the other channels (D-CAP)", async () => {
    const { ids, person, push, explain } = await setting([{ ...WEEKLY, channel_class: "push" }]);
    const ada = await person("ada");
    const channel_ids = [ids.ios, ids.email];
    expect((await push({ channel_ids })).delivered_by_channel).toEqual({ ios: 1, email: 1 });
    const job = await push({ channel_ids });

    expect(job).toMatchObject({ ...REACHED, delivered_by_channel: { email: 1 }, skip_reasons: {} });
    const { attempts, decision } = await explain(job.id, ada);
    expect(decision).toBe("sent");
    expect(attempts).toContainEqual(expect.objectContaining({ channel: "ios", reason: "capped" }));
  });

  it("the cap of a class counts a message to two phones once, and stops both (D-CAP)", async () => {
    const { world, tenant, person, push, channelsReached } = await setting([{ ...WEEKLY, channel_class: "push" }]);
    await addPhone(world, tenant, await person("ada"), "ios");

    expect(await push()).toMatchObject(REACHED);
    expect(await push()).toMatchObject(CAPPED);

    expect(await channelsReached()).toEqual(["ios", "ios"]);
  });

  it("a smart send goes on to the next class that no cap stops (D-CAP, SMA-6)", async () => {
    const { person, push } = await setting([{ ...WEEKLY, channel_class: "push" }]);
    await person("ada");
    const smart = { channel_arbitration_mode: "smart", channel_ids: undefined };
    expect((await push(smart)).delivered_by_channel).toEqual({ ios: 1 });

    const channel_arbitration = { fallback_steps: 1 };
    expect(await push(smart)).toMatchObject({ delivered_by_channel: { email: 1 }, channel_arbitration });
  });

  it.each(["ios", "in_app"])("a capped send to nobody by %s ends too (D-CAP, AMB-57)", async (channel) => {
    const { push, ids } = await setting([DAILY]);
    const job = await push({ subscriberIds: ["nobody"], target: undefined, channel_ids: [ids[channel]] });

    expect(job).toMatchObject({ status: "completed", skip_reasons: { unknown_subscriber: 1 } });
  });
});

it("a cap counts what campaigns, journeys, schedules and sends of the API send together (D-CAP)", async () => {
  const { world, tenant, ids, person, call, push, channelsReached } = await setting([{ ...DAILY, max: 4 }]);
  await person("ada");
  const content = { title: "t", body: "b" };
  const channel_ids = [ids.ios];
  const steps = graphOf({ s: { send: { channel_ids, content } } });
  const trigger = { type: "event", event_name: "signed_up" };
  const journey = { name: "j", trigger, steps, entry_rules: { allow_reentry: true } };
  await call(`POST /api/v1/journeys/${(await call("POST /api/v1/journeys", journey)).body.id}/activate`);
  const template_id = (await call("POST /api/v1/templates", { name: "t", content })).body.id;
  const cron = { cron_expression: "1 12 * * *", timezone: "UTC", template_id, channel_ids, target: { type: "all" } };
  await call("POST /api/v1/schedules", cron);
  const sendByAll = async () => {
    const campaign = (await call("POST /api/v1/campaigns", { name: "c", content, channel_ids })).body;
    await call(`POST /api/v1/campaigns/${campaign.id}/release`);
    await ingest(world, tenant, { event_name: "signed_up", external_id: "ada" });
    await world.settle();
    await push();
  };

  await world.advance(2 * MINUTE);
  expect(await channelsReached()).toHaveLength(1);
  for (let n = 0; n < 2; n++) {
    await sendByAll();
    expect(await channelsReached()).toHaveLength(4);
  }
});

it("sends that run at once do not pass the cap: each subscriber gets exactly that many (D-CAP, F16)", async () => {
  const { world, tenant, ids, call } = await setting([TWICE_A_DAY]);
  const people = await addPeople(world, tenant, 25);
  const body = { title: "t", body: "b", target: { type: "all" }, channel_ids: [ids.in_app] };

  const made = await Promise.all(Array.from({ length: 6 }, () => tenant.call("POST /api/v1/notifications", body)));
  await world.settle();

  const jobs = await Promise.all(
    made.map(async ({ body: { id } }) => (await call(`GET /api/v1/notifications/${id}`)).body),
  );
  const sum = (name: string) => jobs.reduce((all, { counts }) => all + counts[name], 0);
  expect(jobs.filter(({ status }) => status !== "completed")).toEqual([]);
  expect([sum("delivered"), sum("skipped")]).toEqual([50, 100]);
  for (const id of people) expect(await inboxOf(world, tenant, id)).toHaveLength(2);
});

it("an erasure leaves no counter of a cap (D-CAP, SUB-9)", async () => {
  const { world, tenant, person, push, call } = await setting([DAILY]);
  const ada = await person("ada");
  await push();

  await call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(3 * MINUTE);

  expect((await tenant.store.queryRows(SendCounter, { subscriber: ada })).items).toEqual([]);
});

it("a send costs no more for caps and quiet hours that do not concern it (D-CAP, D-QUIET)", async () => {
  const { world, tenant, ids, person, configure } = await setting([]);
  await person("ada");
  // What a member sends is in the audit trail, whose chains cost more or less by chance.
  const server = await tenant.backend("messages:send");
  const body = { target: { type: "all" }, channel_ids: [ids.ios], title: "Hello", body: "World" };
  const push = async () => {
    expect((await world.call("POST /v1/notifications", { as: server, body })).status).toBe(201);
    await world.settle();
  };
  await push();
  const plain = await spent(world, push);
  const night = { start: "00:00", end: "06:00", timezone_mode: "workspace" };
  await configure({ frequency_caps: [{ ...DAILY, category: "transactional" }], quiet_hours: night });

  const unconcerned = await spent(world, push);

  expect(unconcerned.wcu).toBe(plain.wcu);
  expect(unconcerned.requests).toBe(plain.requests);
});
