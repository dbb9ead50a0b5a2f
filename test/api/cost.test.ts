// What a send costs is estimated before it and computed after it (F10): both are held against the operations that are metered.
import { describe, expect, it } from "vitest";
import { equip, fill } from "../../bench/people.ts";
import type { UploadPath } from "../support/channels.ts";
import { withBuyers } from "../support/conversions.ts";
import { SES } from "../support/mails.ts";
import { addPeople, send } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { pricedSend } from "../support/spending.ts";
import type { Headers, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const FIRST_NUMBER = 10_000_000;

/** What a send targets. */
async function targetOf(world: TestWorld, as: Headers, target: string, ids: readonly string[]): Promise<object> {
  if (target === "given") return { subscriberIds: ids };
  if (target === "named") return { external_ids: ids.map((_, n) => `p${n}`) };
  if (target === "all") return { target: { type: "all" } };
  if (target === "segment") {
    const body = { name: "Everybody", rule: { attribute: { external_id: { $exists: true } } } };
    const { id } = (await world.call("POST /api/v1/segments", { as, body })).body;
    await world.settle();
    return { target: { type: "segment", segment_id: id } };
  }
  const { id } = (await world.call("POST /api/v1/lists", { as, body: { name: "Everybody" } })).body;
  for (let from = 0; from < ids.length; from += 500) {
    const body = { subscriber_ids: ids.slice(from, from + 500) };
    await world.call(`POST /api/v1/lists/${id}/subscribers`, { as, body });
  }
  return { target: { type: "list", list_id: id } };
}

it.each([
  ["in_app", 4_000, "all"],
  ["in_app", 100, "given"],
  ["in_app", 2_000, "given"],
  ["in_app", 300, "named"],
  ["sms", 300, "named"],
  ["in_app", 1_000, "list"],
  ["in_app", 1_000, "segment"],
  ["in_app", 1_200, "list"],
  ["ios-push", 1_200, "all"],
  ["email", 300, "given"],
  ["email", 1_000, "list"],
  ["smtp", 300, "all"],
  ["sms", 1_000, "all"],
  // With profiles of so many kilobytes.
  ["in_app", 1_000, "all", 1],
  ["in_app", 1_000, "all", 4],
  ["in_app", 1_200, "all", 12],
  ["email", 300, "all", 4],
  ["sms", 300, "given", 12],
  ["in_app", 300, "list", 9],
  ["ios-push", 300, "segment", 4],
  ...["given", "all", "list", "segment"].flatMap((target) =>
    ["in_app", "ios-push", "email", "smtp", "sms"].map((channel) => [channel, 1, target] as const),
  ),
] as const)(
  "the preview of a send by %s to %d, and its record, are within a tenth of what it takes: %s, of %s KB (F10)",
  { timeout: 300_000 },
  async (by: string, people: number, target: string, kilobytes: number = 0) => {
    const channel = by === "smtp" ? "email" : by;
    const { world, tenant } = await withTenant();
    const as = await tenant.dashboard();
    const channels = channel === "in_app" ? undefined : await openChannels(world, tenant, channel as UploadPath);
    if (by === "email") {
      await world.call(`POST /api/v1/channels/${channels?.email}/credentials/email`, { as, body: SES });
      await world.settle();
    }
    const addresses = { email: { email: "ada@example.com" }, sms: { attributes: { phone: "+4915112345678" } } };
    const long = Object.fromEntries(Array.from({ length: kilobytes }, (_, n) => [`k${n}`, "x".repeat(1_000)]));
    const own: { email?: string; attributes?: object } = addresses[channel as keyof typeof addresses] ?? {};
    const more = kilobytes > 0 ? { ...own, attributes: { ...long, ...own.attributes } } : own;
    // Ids that are looked up by external ids must be theirs.
    const made =
      target === "named"
        ? addPeople(world, tenant, people, (n) => ({ attributes: { phone: `+49151${FIRST_NUMBER + n}` } }))
        : fill(world, tenant, people, more);
    const ids = await made;
    if (channel === "ios-push") await equip(world, tenant, ids);
    const body = {
      title: "Hello",
      body: "World",
      ...(await targetOf(world, as, target, ids)),
      ...(channels && { channel_ids: Object.values(channels) }),
    };
    const { job, estimate, took, within } = await pricedSend(world, tenant, body);
    const { status, counts, cost } = job;
    expect([status, counts.delivered]).toEqual(["completed", people]);
    expect(cost).toEqual(estimate);
    expect(within("write_units", cost)).toBeLessThan(0.1);
    expect(within("read_units", cost)).toBeLessThan(0.1);
    expect(Math.abs(cost.queue_messages - took.messages)).toBeLessThan(Math.max(1, people / 10));
    expect(cost.provider_dollars).toBeCloseTo(by === "email" ? people / 10_000 : 0, 6);
    expect(cost.dollars).toBeCloseTo(cost.service_dollars + cost.provider_dollars, 6);
  },
);

describe("prices of providers", () => {
  const setting = async () => {
    const { world, tenant } = await withTenant();
    const buyers = await withBuyers({ world, tenant }, 3);
    const { sms = "", ios = "" } = await openChannels(world, tenant, "sms", "ios-push");
    for (const [n, external_id] of ["p0", "p1", "p2"].entries()) {
      const body = { external_id, attributes: { phone: `+4915112345${60 + n}` } };
      await tenant.upsert(body);
    }
    await world.settle();
    const price = (channel: string, price_per_message: unknown) =>
      buyers.call(`PATCH /api/v1/channels/${channel}`, { price_per_message });
    const campaign = async () => {
      const content = { title: "Sale", body: "Now" };
      const messages = [
        { content, channel_ids: [sms, buyers.channel] },
        { content, channel_ids: [buyers.channel] },
      ];
      const { id } = (await buyers.call("POST /api/v1/campaigns", { name: "c", messages })).body;
      const released = (await buyers.call(`POST /api/v1/campaigns/${id}/release`)).body;
      await world.settle();
      return { id: String(id), job: String(released.messages[0].job_id) };
    };
    return { ...buyers, sms, ios, price, campaign };
  };

  /** A campaign whose price was changed after it was sent, with one conversion. */
  const soldByCampaign = async () => {
    const given = await setting();
    const { call, sms, price, campaign, define, buy, ids } = given;
    await define();
    await price(sms, 0.08);
    const { id, job } = await campaign();
    await price(sms, 0.5);
    await buy(ids[0]!, 100);
    const { cost } = (await call(`GET /api/v1/notifications/${job}`)).body;
    const report = (await call(`GET /api/v1/campaigns/${id}/report`)).body;
    return { ...given, id, cost, report };
  };

  it("a send costs what the provider charged when it was dispatched, not what it charges now (F10)", async () => {
    const { cost } = await soldByCampaign();
    expect(cost).toMatchObject({ provider_dollars: 0.24, unpriced: [] });
  });

  it("a campaign costs what its messages cost, each by the provider of its channel (F10)", async () => {
    const { cost, report } = await soldByCampaign();
    expect(report.cost.provider_dollars).toBe(0.24);
    expect(report.cost.dollars).toBeGreaterThan(cost.dollars);
    expect(report.by_message[0].dollars).toBe(cost.dollars);
    expect(report.by_channel).toMatchObject([
      { channel: "in_app", provider_dollars: 0 },
      { channel: "sms", provider_dollars: 0.24 },
    ]);
  });

  it("a campaign with one conversion costs that much per conversion, and its funnel costs the same (F10)", async () => {
    const { id, funnel, report } = await soldByCampaign();
    expect(report.cost.per_conversion).toBe(report.cost.dollars);
    const { per_conversion: _, ...rest } = report.cost;
    expect((await funnel(id)).cost).toEqual(rest);
  });

  it("messages without a price are named, and not taken for free (F10)", async () => {
    const { call, sms, campaign } = await setting();
    const body = { title: "Sale", body: "Now", target: { type: "all" }, channel_ids: [sms] };
    const preview = (await call("POST /api/v1/notifications/preview", body)).body;
    expect(preview.cost).toMatchObject({ provider_dollars: 0, unpriced: ["sms"] });
    const report = (await call(`GET /api/v1/campaigns/${(await campaign()).id}/report`)).body;
    expect(report.cost).toMatchObject({ unpriced: ["sms"], per_conversion: null });
    expect(report.by_channel[1]).toMatchObject({ channel: "sms", provider_dollars: null });
  });

  it("a price of 0 that was set is the price, of texts and of mails by SES: nothing is unpriced (F10)", async () => {
    const { world, tenant, call, sms, price } = await setting();
    const { email = "" } = await openChannels(world, tenant, "email");
    await call(`POST /api/v1/channels/${email}/credentials/email`, SES);
    await tenant.upsert({ external_id: "p0", email: "p0@example.com" });
    await world.settle();
    for (const channel of [sms, email]) expect((await price(channel, 0)).body.price_per_message).toBe(0);

    const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids: [sms, email] });

    expect(job.delivered_by_channel).toEqual({ sms: 3, email: 1 });
    expect(job.cost).toMatchObject({ provider_dollars: 0, unpriced: [] });
  });

  it("the price of a channel is refused where its provider has none, and removed by null (F10)", async () => {
    const { call, sms, ios, price } = await setting();
    expect((await price(ios, 0.1)).body.fields).toHaveProperty("price_per_message");
    expect((await price(sms, -1)).status).toBe(422);
    await price(sms, 0.02);
    expect((await price(sms, null)).body).not.toHaveProperty("price_per_message");
    expect((await call(`PATCH /api/v1/channels/${ios}`, { price_per_message: null })).status).toBe(200);
  });
});
