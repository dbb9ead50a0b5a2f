// Channels with a rate: chunks wait for their slots, transactional messages do not wait behind marketing, and a throttle
// slows a channel for a time.
import { expect, it } from "vitest";
import { DAY, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { channelRate } from "../../shared/store/channels/pace.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, operate } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function phones(count: number, rate_per_second: number | undefined) {
  const { world, tenant } = await withTenant();
  const { ios: channel = "" } = await openChannels(world, tenant, "ios-push");
  const limit = async (rate: number | null) =>
    tenant.call(`PATCH /api/v1/channels/${channel}`, { rate_per_second: rate });
  if (rate_per_second !== undefined)
    expect((await limit(rate_per_second)).body).toMatchObject({ rate_per_second, status: "active" });
  const people = await addPeople(world, tenant, count);
  for (const one of people) await addPhone(world, tenant, one, "ios");
  const begin = async (ids: readonly string[], category: "marketing" | "transactional") => {
    const { body } = await post(world, tenant, { subscriberIds: ids, channel_ids: [channel], category });
    await world.settle();
    return String(body.id);
  };
  return { world, tenant, channel, limit, people, begin };
}

it("a channel's rate is kept, over chunks and workers, and each recipient is tried once (AMB-111)", async () => {
  const { world, tenant, channel, people, begin } = await phones(45, 1);
  const start = world.clock.now();
  const jobs = [await begin(people, "marketing"), await begin(people.slice(0, 20), "marketing")];
  const { pacing } = await jobOf(tenant, jobs[1]!);
  expect(pacing).toEqual([{ channel_id: channel, rate_per_second: 1, until: expect.any(String) }]);
  expect(Date.parse(pacing[0].until) - start).toBeGreaterThanOrEqual((65 / 0.8) * SECOND);
  await world.advance(3 * MINUTE);
  // Marketing has 0.8 a second, one at a time; the second send has the slot after the first one.
  const sent = await outboxOf(world);
  const timesOf = (job: string | undefined) =>
    sent
      .filter(({ job_id }) => job_id === job)
      .map(({ at }) => (Date.parse(at) - start) / SECOND)
      .toSorted((x, y) => x - y);
  const [first, second] = jobs.map(timesOf);
  expect(first?.length).toBe(45);
  expect(second?.length).toBe(20);
  for (const [i, at] of first!.entries()) expect(at).toBeGreaterThanOrEqual(i * 1.25);
  expect(second![0]).toBeGreaterThanOrEqual(45 / 0.8);
  expect(second![19]).toBeGreaterThanOrEqual(64 / 0.8);
  for (const id of jobs) expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { failed: 0 } });
  const rows = (await ledgerOf(tenant, people[44]!)).filter(({ state }) => state === "sent");
  expect(rows.map(({ tries }) => (tries as string[]).length)).toEqual([1]);
});

it("a transactional message does not wait behind marketing (AMB-111)", async () => {
  const { world, tenant, people, begin } = await phones(40, 1);
  await begin(people, "marketing");
  const urgent = await begin(people.slice(0, 1), "transactional");
  await world.advance(SECOND);

  expect(await jobOf(tenant, urgent)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
});

it("a provider that limits the rate is asked again when it says, and no try is used up (AMB-111)", async () => {
  const { world, tenant, people, begin } = await phones(1, undefined);
  await spoil(world, { channel: "ios", outcome: "rate_limited", retry_after_seconds: 600, times: 1 });
  const job = await begin(people, "marketing");
  await world.advance(9 * MINUTE);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "processing", counts: { delivered: 0 } });
  await world.advance(2 * MINUTE);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
});

it("a throttle lowers the rate of a channel for a time (AMB-111)", async () => {
  const { world, tenant, channel, people, begin } = await phones(3, undefined);
  expect(await channelRate(tenant.store, channel)).toBeUndefined();
  await spoil(world, { channel: "ios", outcome: "rate_limited", times: 3 });
  const job = await begin(people, "marketing");
  expect(await channelRate(tenant.store, channel)).toBe(35);
  await world.advance(MINUTE);
  expect(await channelRate(tenant.store, channel)).toBeGreaterThan(35);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: 3 } });
});

it("a limit of a channel's rate is set, and removed by null (AMB-111)", async () => {
  const { tenant, channel, limit } = await phones(1, undefined);
  await limit(2);
  expect(await channelRate(tenant.store, channel)).toBe(2);
  expect((await limit(null)).body).not.toHaveProperty("rate_per_second");
  expect(await channelRate(tenant.store, channel)).toBeUndefined();
  expect((await limit(0)).body.fields).toEqual({ rate_per_second: "must be at least 0.1" });
});

it("of a message by two channels that are busy each goes when its channel may send it (AMB-111)", async () => {
  const { world, tenant } = await withTenant();
  const { ios = "", sms = "" } = await openChannels(world, tenant, "ios-push", "sms");
  for (const id of [ios, sms]) await tenant.call(`PATCH /api/v1/channels/${id}`, { rate_per_second: 1 });
  const people = await addPeople(world, tenant, 41, (n) => ({ attributes: { phone: `+49151123456${10 + n}` } }));
  for (const one of people) await addPhone(world, tenant, one, "ios");
  await post(world, tenant, { subscriberIds: people.slice(0, 40), channel_ids: [ios] });
  await post(world, tenant, { subscriberIds: people.slice(0, 10), channel_ids: [sms] });
  await world.advance(SECOND);

  await post(world, tenant, { subscriberIds: people.slice(40), channel_ids: [sms, ios] });
  await world.advance(2 * MINUTE);

  const own = (await outboxOf(world)).filter(({ subscriber_id }) => subscriber_id === people[40]);
  const at = (type: string) => Date.parse(own.find(({ channel }) => channel === type)!.at);
  expect(at("ios") - at("sms")).toBeGreaterThan(20 * SECOND);
});

it("a push that was throttled counts once against its cap, while mails of the same send go on (D-CAP, AMB-111)", async () => {
  const { world, tenant } = await withTenant();
  const { ios = "", email = "" } = await openChannels(world, tenant, "ios-push", "email");
  const capOf = (channel_class: string) => ({ category: "marketing", channel_class, max: 1, per: "day" });
  await tenant.call("PATCH /api/v1/workspace", { frequency_caps: [capOf("push"), capOf("email")] });
  const people = await addPeople(world, tenant, 12, (n) => ({ email: `p${n}@example.com` }));
  for (const one of people) await addPhone(world, tenant, one, "ios");
  await spoil(world, { channel: "ios", outcome: "rate_limited", retry_after_seconds: 60, times: 1 });

  const { id } = (await post(world, tenant, { subscriberIds: people, channel_ids: [ios, email] })).body;
  await world.advance(10 * MINUTE);

  expect((await jobOf(tenant, id)).skip_reasons).toEqual({});
  expect(await outboxOf(world)).toHaveLength(24);
});

it("a send of later that a suspension stopped goes on minutes after the end of that (AMB-112)", async () => {
  const { world, tenant, channel, people } = await phones(40, 1);
  const body = { subscriberIds: people, channel_ids: [channel], scheduled_at: inMs(world, 2 * DAY) };
  const { id } = (await post(world, tenant, body)).body;
  await world.advance(2 * DAY + 10 * SECOND);
  await operate(world, tenant, { status: "suspended" });
  await world.advance(2 * MINUTE);
  await operate(world, tenant, { status: "active" });
  expect(await jobOf(tenant, id)).toMatchObject({ status: "processing" });
  // The watch of the send comes after it.
  await world.advance(11 * MINUTE);

  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 40 } });
});

it("sends that a stop held up beyond their slots keep to the rate when they go on (AMB-111)", async () => {
  const { world, tenant, people, begin } = await phones(20, 1);
  for (let n = 0; n < 4; n++) await begin(people, "marketing");
  await operate(world, tenant, { status: "suspended" });
  await world.advance(30 * MINUTE);
  const before = (await outboxOf(world)).length;
  await operate(world, tenant, { status: "active" });

  await world.advance(15 * MINUTE);

  const sent = (await outboxOf(world)).map(({ at }) => Date.parse(at)).toSorted((a, b) => a - b);
  expect(sent).toHaveLength(80);
  const after = sent.slice(before);
  for (const [n, at] of after.entries()) expect(at - (after[n - 8] ?? 0)).toBeGreaterThanOrEqual(8 * SECOND);
});

it("a send goes on at once where the limit that it waits for is removed, within the quarter of an hour (AMB-111)", async () => {
  const { world, tenant, limit, people, begin } = await phones(40, 0.1);
  const jobs = [];
  for (let n = 0; n < 4; n++) jobs.push(await begin(people, "marketing"));
  await world.advance(10 * SECOND);
  await limit(null);

  await world.advance(15 * MINUTE);

  for (const id of jobs)
    expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 40 } });
});

it("another send waits for no more than a chunk of a campaign that is paused (AMB-111)", async () => {
  const { world, tenant, channel, people, begin } = await phones(40, 1);
  const messages = Array.from({ length: 12 }, () => ({ content: { title: "T", body: "B" }, channel_ids: [channel] }));
  const { id } = (await tenant.call("POST /api/v1/campaigns", { name: "Spring", messages })).body;
  await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  await world.advance(5 * SECOND);
  await tenant.call(`PATCH /api/v1/campaigns/${id}`, { action: "pause" });
  await world.settle();

  const other = await begin(people.slice(0, 1), "marketing");
  await world.advance(5 * MINUTE);

  expect(await jobOf(tenant, other)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
});
