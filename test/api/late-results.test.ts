// What comes back after a message was handed over changes every number that was made before.
import { describe, expect, it } from "vitest";
import { follow, mailing, mailsOf, tellOfMail } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { ledgerOf, openChannels, spoil } from "../support/reached.ts";
import { testSend } from "../support/test-sends.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const DAY = 24 * 60 * MINUTE;
const BOUNCES = "bounce@simulator.amazonses.com";
const PHONE = "+4915112345678";
const COMPLAINS = "complaint@simulator.amazonses.com";

const reader = (world: TestWorld, tenant: Tenant) => async (route: string, body?: object) =>
  (await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) })).body;

describe("a mail that comes back", () => {
  it("a mail that comes back is not among the delivered ones, but among the bounced ones, as its recipient says (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant, BOUNCES);
    const { job } = await mail();
    await world.advance(MINUTE);
    const read = reader(world, tenant);
    const record = await read(`GET /api/v1/notifications/${job.id}`);
    expect(record).toMatchObject({ counts: { sent: 1, delivered: 0, bounced: 1 }, delivered_by_channel: { email: 0 } });
    const { items } = await read(`GET /api/v1/notifications/${job.id}/recipients`);
    expect(items).toMatchObject([{ subscriber_id: ada, state: "bounced" }]);
  });

  it("a complaint that is told twice counts once, and is no failure of its worker (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant, COMPLAINS);
    const { job } = await mail();
    await world.advance(MINUTE);
    const [row] = await ledgerOf(tenant, ada);
    const at = String(Date.parse(String(row!.sk).split("#")[1]!));
    const tags = { tenant: [tenant.id], job: [job.id], subscriber: [ada], at: [at] };
    const complaint = { complainedRecipients: [{ emailAddress: COMPLAINS }] };
    const before = world.logs.length;

    await tellOfMail(world, { eventType: "Complaint", mail: { tags }, complaint });

    const { counts } = await reader(world, tenant)(`GET /api/v1/notifications/${job.id}`);
    expect(counts).toMatchObject({ delivered: 1, complained: 1 });
    expect(world.logs.slice(before).filter(({ level }) => level !== "info")).toEqual([]);
  });

  it("a mail that comes back is not among the deliveries of its hour (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { mail } = await mailing(world, tenant, BOUNCES);
    await mail();
    await world.advance(MINUTE);
    await world.advance(20 * MINUTE);

    expect((await reader(world, tenant)("GET /api/v1/insights/heatmap")).cells).toEqual([]);
  });

  it("a mail that comes back leaves the recipient delivered whom another channel reached (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel } = await mailing(world, tenant, BOUNCES);
    const read = reader(world, tenant);
    const { channels } = await read("GET /api/v1/channels");
    const inApp = channels.find(({ type }: { type: string }) => type === "in_app").id;
    const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, inApp] });
    await world.advance(MINUTE);
    const record = await read(`GET /api/v1/notifications/${job.id}`);

    expect(record).toMatchObject({
      counts: { delivered: 1, bounced: 0 },
      delivered_by_channel: { email: 0, in_app: 1 },
    });
  });

  it.each([
    ["reaches by a later attempt", { channel: "sms", times: 1 }],
    ["had reached by an earlier attempt", { channel: "email", times: 2 }],
  ] as const)(
    "a mail that comes back leaves the recipient delivered whom another channel %s (AMB-139)",
    async (_, spoilt) => {
      const { world, tenant } = await withTenant();
      const { ada, channel } = await mailing(world, tenant, BOUNCES);
      const { sms = "" } = await openChannels(world, tenant, "sms");
      await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { attributes: { phone: PHONE } });
      await spoil(world, { ...spoilt, outcome: "transient" });
      const { job } = await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, sms] });
      await world.advance(40 * MINUTE);
      const read = reader(world, tenant);
      const figures = { sent: 1, delivered: 1, bounced: 0 };

      expect(await read(`GET /api/v1/notifications/${job.id}`)).toMatchObject({
        counts: { ...figures, failed: 0 },
        delivered_by_channel: { email: 0, sms: 1 },
      });
      expect((await read("GET /api/v1/insights/series")).buckets).toMatchObject([figures]);
    },
  );

  it("a mail that comes back is taken from the arm of its recipient (AMB-139, CRP-1)", async () => {
    const { world, tenant } = await withTenant();
    const { channel } = await mailing(world, tenant, BOUNCES);
    const read = reader(world, tenant);
    const content = { title: "t", body: "b" };
    const messages = [{ content, variant_b: content, split_percentage: 99, channel_ids: [channel] }];
    const { id } = await read("POST /api/v1/campaigns", { name: "News", messages, target: { type: "all" } });
    await read(`POST /api/v1/campaigns/${id}/release`);
    await world.advance(MINUTE);

    expect((await read(`GET /api/v1/campaigns/${id}/report`)).by_variant).toMatchObject([
      { variant_id: "a", delivered: 0 },
      { variant_id: "b", delivered: 0 },
    ]);
  });

  it("the webhook of the end of a send counts what had come back by then (AMB-139, WEV-8)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel } = await mailing(world, tenant, BOUNCES);
    const { sms = "" } = await openChannels(world, tenant, "sms");
    await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { attributes: { phone: PHONE } });
    const read = reader(world, tenant);
    const input = { target_url: "https://hooks.example.com/in", events: ["notification.terminal"] };
    const hook = await read("POST /api/v1/webhooks", input);
    await spoil(world, { channel: "sms", outcome: "transient", times: 10 });
    await send(world, tenant, { subscriberIds: [ada], channel_ids: [channel, sms] });
    await world.advance(40 * MINUTE);

    const { items } = await read(`GET /api/v1/webhooks/${hook.id}/deliveries`);
    expect(items).toMatchObject([{ payload: { data: { delivered: 0 } } }]);
  });

  it("mails of one arm that come back leave the deliveries of the other (AMB-139, CRP-1)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, channel } = await mailing(world, tenant);
    const read = reader(world, tenant);
    const emails = Array.from({ length: 12 }, (_, n) => (n % 2 ? `p${n}@example.com` : BOUNCES));
    const ids = await Promise.all(emails.map((email, n) => tenant.upsert({ external_id: `p${n}`, email })));
    await world.settle();
    const content = { title: "t", body: "b" };
    const messages = [{ content, variant_b: content, split_percentage: 50, channel_ids: [channel] }];
    const { id } = await read("POST /api/v1/campaigns", { name: "News", messages, target: { type: "all" } });
    const { job_id } = (await read(`POST /api/v1/campaigns/${id}/release`)).messages[0];
    await world.advance(MINUTE);
    const fates = await Promise.all(
      [ada, ...ids].map(async (who) => read(`GET /api/v1/notifications/${job_id}/recipients/${who}`)),
    );
    const reached = (arm: string) =>
      fates.filter(({ variant_id, state }) => variant_id === arm && state === "delivered").length;

    expect(fates.filter(({ state }) => state === "bounced")).toHaveLength(6);
    expect((await read(`GET /api/v1/campaigns/${id}/report`)).by_variant).toMatchObject([
      { variant_id: "a", delivered: reached("a") },
      { variant_id: "b", delivered: reached("b") },
    ]);
  });

  it("a mail that comes back moves in the report, the funnel and the series of its campaign (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { channel } = await mailing(world, tenant, BOUNCES);
    const read = reader(world, tenant);
    const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel] }];
    const { id } = await read("POST /api/v1/campaigns", { name: "News", messages, target: { type: "all" } });
    await read(`POST /api/v1/campaigns/${id}/release`);
    await world.advance(MINUTE);
    await world.advance(20 * MINUTE);
    const moved = { sent: 1, delivered: 0, bounced: 1 };
    const source = `source_type=campaign&source_id=${id}`;

    expect(await read(`GET /api/v1/campaigns/${id}/report`)).toMatchObject({
      ...moved,
      by_channel: [{ channel: "email", delivered: 0, bounced: 1 }],
    });
    expect(await read(`GET /api/v1/insights/funnel?${source}`)).toMatchObject(moved);
    expect((await read(`GET /api/v1/insights/series?${source}`)).buckets).toMatchObject([moved]);
    expect((await read("GET /api/v1/insights/series")).buckets).toMatchObject([moved]);
    expect((await read("GET /api/v1/insights/series?group_by=channel")).buckets).toMatchObject([
      { group: "email", delivered: 0, bounced: 1 },
    ]);
  });

  it("a mail that comes back counts on the day of the mail (AMB-139)", async () => {
    const { world, tenant } = await withTenant();
    const { ada, mail } = await mailing(world, tenant);
    const { job } = await mail();
    await world.advance(DAY);
    const [row] = await ledgerOf(tenant, ada);
    const at = String(Date.parse(String(row!.sk).split("#")[1]!));
    await tellOfMail(world, {
      eventType: "Bounce",
      mail: { tags: { tenant: [tenant.id], job: [job.id], subscriber: [ada], at: [at] } },
      bounce: {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: [{ emailAddress: "ada@example.com" }],
      },
    });
    const { buckets } = await reader(world, tenant)("GET /api/v1/insights/series");

    expect(buckets).toMatchObject([{ sent: 1, delivered: 0, bounced: 1 }]);
  });
});

it("complaints and opt-outs by a link are counted with the send (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { mail } = await mailing(world, tenant, COMPLAINS);
  const { job, mail: letter } = await mail();
  await world.advance(MINUTE);
  await follow(world, "POST", letter.unsubscribe!);
  const record = await reader(world, tenant)(`GET /api/v1/notifications/${job.id}`);

  expect(record.counts).toMatchObject({ delivered: 1, bounced: 0, complained: 1, unsubscribed: 1 });
});

it.each([
  ["a complaint", COMPLAINS, undefined, { delivered: 1, bounced: 0, complained: 1, failed: 0, uncertain: 0 }],
  ["a bounce", BOUNCES, undefined, { delivered: 0, bounced: 1, complained: 0, failed: 0, uncertain: 0 }],
  ["a refusal", "ada@example.com", "permanent", { delivered: 0, bounced: 0, complained: 0, failed: 1, uncertain: 0 }],
  ["a call without an answer", "ada@example.com", "timeout", { delivered: 0, bounced: 0, complained: 0, uncertain: 1 }],
])(
  "the funnel, the report of a send, its days and those of a category tell %s from all else (ISG-1, RDA-10, AMB-139)",
  async (_, to, outcome, told) => {
    const { world, tenant } = await withTenant();
    const { channel } = await mailing(world, tenant, to);
    const read = reader(world, tenant);
    if (outcome) await spoil(world, { channel: "email", outcome, times: 9 });
    const content = { title: "t", body: "b" };
    const input = { name: "News", category: "transactional", target: { type: "all" } };
    const { id } = await read("POST /api/v1/campaigns", { ...input, messages: [{ content, channel_ids: [channel] }] });
    await read(`POST /api/v1/campaigns/${id}/release`);
    await world.advance(MINUTE);

    expect(await read(`GET /api/v1/insights/funnel?source_type=campaign&source_id=${id}`)).toMatchObject(told);
    const { delivered, bounced, complained } = told;
    const { buckets } = await read("GET /api/v1/insights/series?group_by=category");
    expect(buckets).toMatchObject([{ group: "transactional", delivered, bounced, complained }]);
    const days = (await read(`GET /api/v1/insights/series?source_type=campaign&source_id=${id}`)).buckets;
    expect(days).toMatchObject([told]);
    const { items } = await read("GET /api/v1/notifications");
    expect(await read(`GET /api/v1/notifications/${items[0].id}/report`)).toMatchObject(told);
  },
);

it("an opt-out is counted with the send whose link it used, not with a later one (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { mail } = await mailing(world, tenant);
  const { job, mail: letter } = await mail();
  await world.advance(MINUTE);
  const { job: receipt } = await mail({ category: "transactional" });
  await world.advance(MINUTE);
  await follow(world, "POST", letter.unsubscribe!);
  const countsOf = async ({ id }: { id: string }) =>
    (await reader(world, tenant)(`GET /api/v1/notifications/${id}`)).counts.unsubscribed;

  expect(await countsOf(job)).toBe(1);
  expect(await countsOf(receipt)).toBe(0);
});

it("an opt-out by the link of a test mail is counted with no send (AMB-139, RDA-9)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel, mail } = await mailing(world, tenant);
  const { job } = await mail();
  const read = reader(world, tenant);
  await read("PATCH /api/v1/workspace", { test_subscriber_ids: [ada] });
  expect((await testSend(tenant, { to: [ada], channel_ids: [channel] })).status).toBe(200);
  await follow(world, "POST", (await mailsOf(world)).at(-1)!.unsubscribe!);

  expect((await read(`GET /api/v1/notifications/${job.id}`)).counts.unsubscribed).toBe(0);
  expect((await read(`GET /api/v1/subscribers/${ada}/consents`)).items).toMatchObject([{ status: "opted_out" }]);
});

it("an opt-out is counted once with a send, also of who opted in again and uses its link another time (AMB-139)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, mail } = await mailing(world, tenant);
  const { job, mail: letter } = await mail();
  await world.advance(MINUTE);
  await follow(world, "POST", letter.unsubscribe!);
  const read = reader(world, tenant);
  await read(`POST /api/v1/subscribers/${ada}/consents`, { channel: "email", status: "opted_in" });
  await follow(world, "POST", letter.unsubscribe!);
  expect((await read(`GET /api/v1/notifications/${job.id}`)).counts.unsubscribed).toBe(1);
  const [said] = (await read(`GET /api/v1/subscribers/${ada}/consents`)).items;
  expect(said).toMatchObject({ channel: "email", status: "opted_out" });
});
