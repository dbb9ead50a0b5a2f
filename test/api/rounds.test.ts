// Late deliveries: a retry, the end of quiet hours and a fallback are rounds with a time of their own, and both sides
// of a lift are counted from the first claim.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { send } from "../support/people.ts";
import { QUIET, quietSetting, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { addPhone, ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { addReader } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function pushCampaign(people: number) {
  const buyers = await withBuyers(await withTenant(), people);
  const { world, tenant, ids, call, define, buy } = buyers;
  const { ios } = await openChannels(world, tenant, "ios-push");
  for (const id of ids) await addPhone(world, tenant, id, "ios");
  await define({ window_seconds: HOUR / SECOND });
  const release = async (more: object) => {
    const messages = [{ content: { title: "t", body: "b" }, channel_ids: [ios] }];
    const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages, ...more })).body;
    const released = (await call(`POST /api/v1/campaigns/${id}/release`)).body;
    await world.settle();
    return { campaign: String(id), job: String(released.messages[0].job_id) };
  };
  const everyoneBuys = async () => {
    for (const id of ids) await buy(id, 100);
  };
  const lift = async (job: string) => (await call(`GET /api/v1/insights/lift?job_id=${job}`)).body;
  /** Takes the outcome of the only recipient back, as if it was still to be written. */
  const withhold = async () => {
    const touches = await ledgerOf(tenant, ids[0]!);
    const last = touches.at(-1)!;
    await tenant.rows.writeAll([{ kind: "remove", key: last }]);
    return { touches, write: () => tenant.rows.writeAll([{ kind: "put", item: last }]) };
  };
  return { ...buyers, ios, release, everyoneBuys, lift, withhold };
}

it("a provider that refuses for a while makes no lift: both sides count from the first claim (AMB-110, ISG-7)", async () => {
  const { world, ids, release, everyoneBuys, lift, funnel } = await pushCampaign(16);
  for (const subscriber_id of ids)
    await spoil(world, { channel: "ios", outcome: "transient", subscriber_id, times: 2 });
  const { campaign, job } = await release({ holdout_percentage: 50 });
  await everyoneBuys();
  expect(await lift(job)).toMatchObject({ treated: { conversion_rate: 1 }, lift_percentage_points: 0 });
  await world.advance(40 * MINUTE);
  const treated = await outboxOf(world, `?job_id=${job}`);
  const found = await lift(job);
  expect(treated.length).toBeGreaterThan(0);
  expect(treated.length).toBeLessThan(ids.length);
  expect(found).toMatchObject({
    treated: { size: treated.length, converters: treated.length, conversion_rate: 1 },
    holdout: { size: ids.length - treated.length, converters: ids.length - treated.length, conversion_rate: 1 },
    lift_percentage_points: 0,
    significant: false,
  });
  // Nobody had got it by then.
  expect(await funnel(campaign)).toMatchObject({ delivered: treated.length, converted: 0 });
});

it("who waits for the end of quiet hours counts from the first claim, as who is held out does (AMB-110)", async () => {
  const { world, call, ids, release, everyoneBuys, lift } = await pushCampaign(16);
  await call("PATCH /api/v1/workspace", {
    quiet_hours: { ...QUIET, timezone_mode: "workspace" },
    timezone: "Asia/Tokyo",
  });
  const { job } = await release({ holdout_percentage: 50 });
  expect(await outboxOf(world)).toEqual([]);
  await everyoneBuys();
  const { treated, holdout, lift_percentage_points } = await lift(job);
  expect(treated.size + holdout.size).toEqual(ids.length);
  expect(treated.conversion_rate).toBe(1);
  expect(holdout.conversion_rate).toBe(1);
  expect(treated.size > 0).toBe(true);
  expect(holdout.size > 0).toBe(true);
  expect(lift_percentage_points).toBe(0);
});

it.each([
  ["a push put off to the morning", 0],
  ["an inbox message instead of a push that fails in the morning", 1],
])(
  "%s makes no lift of what is bought after it, later than the window of who is held out (AMB-110)",
  async (_, times) => {
    const { world, tenant, call, ids, ios, channel, buy, lift } = await pushCampaign(1);
    const quiet_hours = { ...QUIET, timezone_mode: "workspace" };
    await call("PATCH /api/v1/workspace", { quiet_hours, timezone: "Asia/Tokyo" });
    if (times > 0) await spoil(world, { channel: "ios", outcome: "permanent", times });
    const smart = { channel_arbitration_mode: "smart", channel_ids: [ios, channel] };
    const { job } = await send(world, tenant, { subscriberIds: ids, ...smart });
    await world.advance(TOKYO_MORNING + 10 * MINUTE);
    await buy(ids[0]!, 700);

    expect((await lift(job.id)).treated).toMatchObject({ size: 1, converters: 0 });
  },
);

it("a message put off to the morning counts for what is bought within its window from then (AMB-109, D-ATTRIB)", async () => {
  const { world, call, ids, release, buy, funnel, summary } = await pushCampaign(1);
  await call("PATCH /api/v1/workspace", {
    quiet_hours: { ...QUIET, timezone_mode: "workspace" },
    timezone: "Asia/Tokyo",
  });
  const { campaign } = await release({});
  await world.advance(TOKYO_MORNING + 10 * MINUTE);
  await buy(ids[0]!, 700);
  expect(await funnel(campaign)).toMatchObject({ delivered: 1, converted: 1, revenue_cents: 700 });
  expect(await summary("campaign")).toMatchObject([{ source_id: campaign, conversions: 1, revenue_cents: 700 }]);
  await world.advance(HOUR);
  await buy(ids[0]!, 50);
  expect(await funnel(campaign)).toMatchObject({ converted: 1, revenue_cents: 700 });
});

it.each<[written: string, later: number]>([
  ["within its round", 30 * SECOND],
  ["ten minutes later, by the worker that took it over,", 10 * MINUTE],
])("an event before the outcome, which is written %s counts then, and once (AMB-109, D-ATTRIB)", async (_, later) => {
  const { world, ids, release, buy, funnel, summary, withhold } = await pushCampaign(1);
  await spoil(world, { channel: "ios", outcome: "transient", times: 1 });
  const { campaign, job } = await release({});
  await world.advance(2 * MINUTE);
  const { touches, write } = await withhold();
  await buy(ids[0]!, 700);
  await world.advance(later);
  expect(await funnel(campaign)).toMatchObject({ delivered: 1, converted: 0 });
  await write();
  await world.advance(15 * MINUTE);
  expect(touches.map(({ state, job: of }) => [state, of])).toEqual([
    ["retryable", job],
    ["sent", job],
  ]);
  expect(await funnel(campaign)).toMatchObject({ converted: 1, revenue_cents: 700 });
  expect(await summary("campaign")).toMatchObject([{ source_id: campaign, conversions: 1, revenue_cents: 700 }]);
});

it("a fallback of the next morning is unread, on the live stream, and lives from then (AMB-109, INB-7, SSE-4)", async () => {
  const { world, tenant, call, configure } = await quietSetting(withTenant);
  await configure({ quiet_hours: { ...QUIET, timezone_mode: "workspace" }, timezone: "Asia/Tokyo" });
  const { id, open, tell } = await addReader(world, tenant);
  await addPhone(world, tenant, id, "ios");
  const channels = (await call("GET /api/v1/channels")).body.channels;
  const channel_ids = channels.map((channel: { id: string }) => channel.id);
  await spoil(world, { channel: "ios", outcome: "permanent" });
  const smart = { subscriberIds: [id], channel_ids, channel_arbitration_mode: "smart", title: "Good morning" };
  const { job } = await send(world, tenant, smart);
  expect(job).toMatchObject({ status: "processing", deferred: 1 });
  await world.advance(TOKYO_MORNING - 10 * MINUTE);
  await tell("Good night");
  await world.call("POST /v1/in-app/messages/read", { as: tenant.sdk, body: { subscriber_id: id } });
  await world.advance(10 * MINUTE - 20 * SECOND);
  const stream = await open();
  await world.advance(80 * SECOND);
  const inbox = async () =>
    (await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk })).body.messages;
  const [morning, night] = await inbox();
  expect(night).toMatchObject({ content: { title: "Good night" }, status: "read" });
  expect(morning).toMatchObject({ content: { title: "Good morning" }, status: "unread" });
  const handedOver = Date.parse(morning.created_at);
  expect(world.clock.now() - handedOver).toBeLessThanOrEqual(MINUTE + SECOND);
  expect(morning.expires_at).toBe(timestamp(handedOver + 30 * DAY));
  expect(stream.frames().map(({ data }) => data.title)).toEqual(["Good morning"]);
});

it("an event of somebody who is identified before the outcome is written counts once it is, and once (AMB-109, IDN-2)", async () => {
  const { world, tenant, ids, release, buy, funnel, withhold } = await pushCampaign(1);
  await spoil(world, { channel: "ios", outcome: "transient", times: 1 });
  const { campaign } = await release({});
  await world.advance(2 * MINUTE);
  const { write } = await withhold();
  await buy({ anonymous: "visitor" }, 700);
  const body = { anonymous_id: "visitor", subscriber_id: ids[0]! };
  await world.call("POST /v1/events/identify", { as: tenant.server, body });
  await world.advance(30 * SECOND);
  expect(await funnel(campaign)).toMatchObject({ delivered: 1, converted: 0 });
  await write();
  await world.advance(10 * MINUTE);
  expect(await funnel(campaign)).toMatchObject({ converted: 1, revenue_cents: 700 });
});
