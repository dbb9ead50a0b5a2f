// A send under way is stopped: its workspace is suspended or deleted, or its campaign paused. Nothing more is handed to
// a provider after a group of calls, and what was held goes on.
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { actOnCampaign } from "../../shared/store/campaigns/campaigns.ts";
import { putItem } from "../../shared/store/item.ts";
import { Message } from "../../shared/store/sends/inbox/inbox-items.ts";
import { findJob } from "../../shared/store/sends/jobs/jobs.ts";
import { DeviceItem } from "../../shared/store/subscribers/device-items.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { jobOf, post } from "../support/notify.ts";
import { deviceRow, inboxOf, operate, wholeTable } from "../support/people.ts";
import { openChannels, outboxOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 35;
/** A claim that counts its messages against a cap; its answer. */
const CLAIM_UNDER_CAP = {
  of: "deliver",
  operation: "TransactWriteItems",
  naming: '"F#day#',
  moment: "after",
} as const;

/** Subscribers of one shard, with a phone each: workers plan them as one chunk. */
async function peopleOfOneChunk(world: TestWorld, tenant: Tenant): Promise<string[]> {
  const time = timestamp(world.clock.now());
  const ids = Array.from({ length: PEOPLE }, (_, n) => `00000000-0000-8000-8000-${String(n).padStart(12, "0")}`);
  const rows = ids.flatMap((id) => [
    putItem(Profile, { id }, { id, external_id: id, created_at: time, updated_at: time }),
    putItem(DeviceItem, { subscriber: id, device: id }, deviceRow(id, id, { at: world.clock.now() })),
  ]);
  await tenant.store.writeAll(rows);
  await world.settle();
  return ids;
}

/** A push campaign to `PEOPLE` subscribers. `onClaim` runs once, before a worker claims its second group of ten. */
async function pushCampaign() {
  const between: { onClaim?: () => Promise<unknown> } = {};
  const claim = requests({ of: "deliver", operation: "UpdateItem", naming: '"K#all/0-7#' });
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  claim.each(async () => {
    if (claim.seen() !== 2) return;
    await between.onClaim?.();
    world.clock.jumpTo(world.clock.now() + SECOND);
  });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await peopleOfOneChunk(world, tenant);
  const { call } = tenant;
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [ios] }];
  const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages })).body;
  const act = (action: string, more: object = {}) => call(`PATCH /api/v1/campaigns/${id}`, { action, ...more });
  const release = async () => String((await call(`POST /api/v1/campaigns/${id}/release`)).body.messages[0].job_id);
  const reached = async () => (await outboxOf(world)).map(({ subscriber_id }) => subscriber_id);
  return { world, tenant, people, between, act, release, reached };
}

type Campaign = Awaited<ReturnType<typeof pushCampaign>>;
const stops = {
  suspended: {
    stop: ({ world, tenant }: Campaign) => operate(world, tenant, { status: "suspended" }),
    go: ({ world, tenant }: Campaign) => operate(world, tenant, { status: "active" }),
  },
  paused: {
    stop: async ({ act }: Campaign) => expect((await act("pause")).status).toBe(200),
    go: async ({ act }: Campaign) => expect((await act("resume")).status).toBe(200),
  },
  "paused (and resumed with `skip`)": {
    stop: async ({ act }: Campaign) => expect((await act("pause")).status).toBe(200),
    go: async ({ act }: Campaign) => expect((await act("resume", { overdue: "skip" })).status).toBe(200),
  },
};

it.each([
  ["suspended", "AMB-112"],
  ["paused", "AMB-113"],
  ["paused (and resumed with `skip`)", "AMB-138"],
] as const)("a send that is %s in the middle of a chunk stops after the group, and goes on (%s)", async (how, _) => {
  const campaign = await pushCampaign();
  const { world, tenant, people, between, release, reached } = campaign;
  between.onClaim = () => stops[how].stop(campaign);
  const job = await release();
  await world.settle();
  expect(await reached()).toHaveLength(20);
  await world.advance(2 * DAY);
  expect(await reached()).toHaveLength(20);
  await stops[how].go(campaign);
  await world.advance(how === "suspended" ? 2 * HOUR : 2 * MINUTE);
  expect((await reached()).sort()).toEqual(people.toSorted());
  expect(await jobOf(tenant, job)).toMatchObject({
    status: "completed",
    counts: { sent: PEOPLE, delivered: PEOPLE, failed: 0 },
  });
});

it.each(["suspended", "paused"] as const)(
  "a send that is %s while a provider refuses for now is tried again only afterwards (AMB-112, AMB-113)",
  async (how) => {
    const campaign = await pushCampaign();
    const { world, tenant, people, release, reached } = campaign;
    await spoil(world, { channel: "ios", outcome: "transient", times: PEOPLE });
    const job = await release();
    await world.settle();
    await stops[how].stop(campaign);
    await world.advance(HOUR);
    expect(await reached()).toEqual([]);
    await stops[how].go(campaign);
    await world.advance(2 * HOUR);
    expect((await reached()).sort()).toEqual(people.toSorted());
    expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: PEOPLE } });
  },
);

it("an inbox message whose worker stopped before a pause is not written again, though one of its group is erased meanwhile (AMB-113, F1)", async () => {
  const claim = requests({ of: "deliver", operation: "UpdateItem", naming: '"K#all/0-7#' });
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [inbox] = (await tenant.call("GET /api/v1/channels")).body.channels;
  const [gone, ...others] = (await peopleOfOneChunk(world, tenant)).slice(0, 3);
  claim.each(() => {
    if (claim.seen() > 1) throw new Error("the worker stopped");
  });
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [ios, inbox.id] }];
  const { id } = (await tenant.call("POST /api/v1/campaigns", { name: "c", messages })).body;
  await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  await world.settle();
  await tenant.call(`DELETE /api/v1/subscribers/${gone}`);
  // As another worker takes it over.
  claim.next(async () => {
    await actOnCampaign(tenant.store, id, "pause");
    world.clock.jumpTo(world.clock.now() + SECOND);
  });
  await world.advance(HOUR);
  expect(claim.isAwaited()).toBe(false);

  await tenant.call(`PATCH /api/v1/campaigns/${id}`, { action: "resume" });
  await world.advance(HOUR);

  for (const other of others) expect(await inboxOf(world, tenant, other)).toHaveLength(1);
});

it("a queued send of a suspended workspace waits, and reaches everyone once it is active again (AMB-112)", async () => {
  const campaign = await pushCampaign();
  const { world, people, release, reached } = campaign;
  await release();
  await stops.suspended.stop(campaign);
  await world.advance(2 * DAY);
  expect(await reached()).toEqual([]);
  await stops.suspended.go(campaign);
  await world.advance(2 * HOUR);
  expect((await reached()).sort()).toEqual(people.toSorted());
});

it.each(["queued", "in the middle of a chunk"])(
  "a deleted workspace's send is canceled, %s (AMB-112)",
  async (when) => {
    const { world, tenant, between, release, reached } = await pushCampaign();
    const remove = () => operate(world, tenant, { status: "deleted" });
    if (when !== "queued") between.onClaim = remove;
    const job = await release();
    if (when === "queued") await remove();
    await world.settle();
    const count = when === "queued" ? 0 : 20;
    expect(await reached()).toHaveLength(count);
    await world.advance(DAY);
    expect(await reached()).toHaveLength(count);
    expect(await findJob(tenant.store, job)).toMatchObject({ status: "canceled", error: "the workspace was deleted" });
  },
);

it("a restored workspace sees the whole audience of a send that its deletion stopped (AMB-112)", async () => {
  const { world, tenant, people, release, reached, between } = await pushCampaign();
  await spoil(world, { channel: "ios", outcome: "transient", times: 3 });
  between.onClaim = () => operate(world, tenant, { status: "deleted" });
  const job = await release();
  await world.settle();
  const delivered = (await reached()).length;
  await world.advance(HOUR);
  await operate(world, tenant, { status: "active" });
  const skipped = PEOPLE - delivered;
  expect(await jobOf(tenant, job)).toMatchObject({
    status: "canceled",
    counts: { total: PEOPLE, sent: delivered, delivered, failed: 0, skipped, held_out: 0 },
    skip_reasons: { canceled: skipped },
  });
  const list = (await tenant.call(`GET /api/v1/notifications/${job}/recipients?state=canceled&limit=100`)).body;
  expect(list.items).toHaveLength(skipped);
  const [first] = list.items;
  const why = (await tenant.call(`GET /api/v1/notifications/${job}/recipients/${first.subscriber_id}`)).body;
  expect(why.decision).toBe("canceled");
  expect(why.state).toBe("canceled");
  expect(people).toContain(first.subscriber_id);
});

it("no inbox message follows a deletion, where its worker stopped after a claim that counts against a cap (AMB-112, D-CAP)", async () => {
  const claim = requests(CLAIM_UNDER_CAP);
  claim.next(() => {
    throw new Error("the worker stopped");
  });
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  const people = await peopleOfOneChunk(world, tenant);
  const frequency_caps = [{ category: "marketing", max: 9, per: "day" }];
  await tenant.call("PATCH /api/v1/workspace", { frequency_caps });
  const { id } = (await post(world, tenant, { subscriberIds: people.slice(0, 3), title: "Hi", body: "Hello" })).body;
  await world.settle();
  expect(claim.isAwaited()).toBe(false);
  await operate(world, tenant, { status: "deleted" });
  await world.advance(DAY);
  const messages = await Promise.all(people.map((subscriber) => tenant.store.queryAll(Message, { subscriber })));
  expect(messages.flat()).toEqual([]);
  await operate(world, tenant, { status: "active" });
  const counts = { total: 3, sent: 0, delivered: 0, failed: 0, skipped: 3, held_out: 0 };
  expect(await jobOf(tenant, id)).toMatchObject({ status: "canceled", counts, skip_reasons: { canceled: 3 } });
});

it.each([
  ["a deletion", "deleted", { status: "canceled", counts: { delivered: 0 } }],
  ["a suspension", "suspended", { status: "completed", counts: { delivered: 3 } }],
] as const)(
  "no push follows %s, where a claim that counts against a cap took long (AMB-112, D-CAP)",
  async (_, status, end) => {
    const claim = requests(CLAIM_UNDER_CAP);
    const { world, tenant } = await withTenant({ hooks: claim.hooks });
    const takesLong = () => world.clock.jumpTo(world.clock.now() + 10 * SECOND);
    claim.each(takesLong);
    const { ios } = await openChannels(world, tenant, "ios-push");
    const people = await peopleOfOneChunk(world, tenant);
    const frequency_caps = [{ category: "marketing", max: 9, per: "day" }];
    await tenant.call("PATCH /api/v1/workspace", { frequency_caps });
    const send = async (to: string[]) => {
      const { id } = (await post(world, tenant, { subscriberIds: to, channel_ids: [ios] })).body;
      await world.settle();
      return String(id);
    };
    await send(people.slice(0, 3));
    expect(await outboxOf(world)).toHaveLength(3);
    claim.each(async () => {
      await operate(world, tenant, { status });
      takesLong();
    });
    const stopped = await send(people.slice(3, 6));
    await world.advance(HOUR);
    expect(await outboxOf(world)).toHaveLength(3);
    claim.each(takesLong);
    await operate(world, tenant, { status: "active" });
    await world.advance(HOUR);
    expect(await jobOf(tenant, stopped)).toMatchObject(end);
    expect(await outboxOf(world)).toHaveLength(3 + end.counts.delivered);
    // Each was counted by the claim, and not again by the one after it.
    const counters = (await wholeTable(world)).filter(({ sk }) => sk.S?.startsWith("F#day#"));
    expect(counters.map(({ marketing }) => marketing?.N)).toEqual(people.slice(0, 6).map(() => "1"));
  },
);
