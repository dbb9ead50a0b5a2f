// What comes back after a message was handed over changes every number that was made before.
import { describe, expect, it } from "vitest";
import { graphOf, journeySetting } from "../support/journeys.ts";
import { follow, mailing, mailsOf, SES, tellOfMail } from "../support/mails.ts";
import { send } from "../support/people.ts";
import { ledgerOf, openChannels, spoil } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

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

describe("the outcome of a journey's send step", () => {
  const mailingJourney = async (...others: "sms"[]) => {
    const setting = await journeySetting(await fresh());
    const { world, tenant, call, active } = setting;
    const { email = "", ...more } = await openChannels(world, tenant, "email", ...others);
    await call(`POST /api/v1/channels/${email}/credentials/email`, SES);
    await world.settle();
    const message = { channel_ids: [email, ...Object.values(more)], content: { title: "Hello", body: "b" } };
    const id = await active(graphOf({ m: { send: message }, end: "exit" } as never));
    const reached = async (address: string) => {
      const body = { external_id: "ada", email: address, attributes: { phone: PHONE } };
      await tenant.upsert(body);
      await setting.track("ada", "signed_up");
      await world.advance(MINUTE);
      return (await setting.stats(id)).steps.m.outcomes;
    };
    return { ...setting, id, reached };
  };

  it("the outcome of a journey's send step is failed where its message failed (AMB-142)", async () => {
    const { world, reached, call, id } = await mailingJourney();
    await spoil(world, { channel: "email", outcome: "permanent", times: 1 });
    expect(await reached("ada@example.com")).toEqual({ failed: 1 });
    const [job] = (await call(`GET /api/v1/notifications?source_type=journey&source_id=${id}`)).body.items;
    expect(job.counts).toMatchObject({ delivered: 0, failed: 1 });
  });

  it("the outcome of a journey's send step is bounced where its mail came back, and so are the funnel and the run (AMB-142)", async () => {
    const { reached, call, id } = await mailingJourney();
    expect(await reached(BOUNCES)).toEqual({ bounced: 1 });
    const funnel = (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body;
    expect(funnel).toMatchObject({ sent: 1, delivered: 0, bounced: 1 });
  });

  it.each([
    ["sent", { eventType: "Delivery" }, { delivered: 1, failed: 0, uncertain: 0, bounced: 0 }],
    [
      "bounced",
      { eventType: "Bounce", bounce: { bounceType: "Permanent", bouncedRecipients: [] } },
      { delivered: 0, failed: 0, uncertain: 0, bounced: 1 },
    ],
  ])(
    "the outcome of a journey's send step is %s once that is known of a mail without an answer, and so are the funnel, the series and the heatmap (AMB-139, AMB-142)",
    async (outcome, event, figures) => {
      const { world, tenant, reached, call, id, stats } = await mailingJourney();
      await spoil(world, { channel: "email", outcome: "timeout", times: 2 });
      await reached("ada@example.com");
      await world.advance(60 * MINUTE);
      const outcomes = async () => (await stats(id)).steps.m.outcomes;
      expect(await outcomes()).toEqual({ failed: 1 });
      const { items } = (await call("GET /api/v1/subscribers?external_id=ada")).body;
      const ada: string = items[0].id;
      const [row] = await ledgerOf(tenant, ada);
      const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
      const tags = { tenant: [tenant.id], job: [String(row!.job)], subscriber: [ada], at };
      await tellOfMail(world, { ...event, mail: { tags } });
      expect(await outcomes()).toEqual({ [outcome]: 1 });
      const of = `source_type=journey&source_id=${id}`;
      expect((await call(`GET /api/v1/insights/funnel?${of}`)).body).toMatchObject(figures);
      const { delivered, bounced } = figures;
      const { buckets } = (await call("GET /api/v1/insights/series?group_by=channel")).body;
      expect(buckets).toMatchObject([{ group: "email", delivered, bounced }]);
      const { cells } = (await call("GET /api/v1/insights/heatmap")).body;
      expect(cells).toMatchObject(delivered > 0 ? [{ delivered }] : []);
    },
  );

  it("the outcome of a journey's send step is sent again where another channel reaches by a later attempt whose mail came back (AMB-142)", async () => {
    const { world, reached, call, id, stats } = await mailingJourney("sms");
    await spoil(world, { channel: "sms", outcome: "transient", times: 2 });
    expect(await reached(BOUNCES)).toEqual({ bounced: 1 });
    await world.advance(20 * MINUTE);

    expect((await stats(id)).steps.m.outcomes).toEqual({ sent: 1 });
    const funnel = (await call(`GET /api/v1/insights/funnel?source_type=journey&source_id=${id}`)).body;
    expect(funnel).toMatchObject({ sent: 1, delivered: 1, bounced: 0 });
  });

  it("the outcome of a journey's send step stays sent where its message arrived (AMB-142)", async () => {
    const { reached, world } = await mailingJourney();

    expect(await reached("ada@example.com")).toEqual({ sent: 1 });
    expect(await mailsOf(world)).toHaveLength(1);
  });
});
