// Smart sends: the best class for each subscriber, and aggregate statistics (SMA-1 to SMA-9, D-ARB, AMB-96).
import { describe, expect, it } from "vitest";
import { DAY, MINUTE } from "../../shared/kernel/clock.ts";
import { noteEngagement } from "../../shared/store/subscribers/engagement.ts";
import { AnswersItem } from "../../shared/store/subscribers/statistics-items.ts";
import { mailing } from "../support/mails.ts";
import { jobOf } from "../support/notify.ts";
import { addPeople, reachedOf, send } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { testSend } from "../support/test-sends.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const smart = { channel_arbitration_mode: "smart" };

describe("ranking of a send", () => {
  it("a smart send ranks by a person's own history from 5 deliveries within 90 days, else by the default (SMA-3, SMA-4, SMA-5, SMA-7)", async () => {
    const { world, tenant } = await withTenant();
    const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
    for (let n = 0; n < 5; n++) await send(world, tenant, { subscriberIds: n < 4 ? [ada, bob] : [ada] });
    const readout = async () => (await send(world, tenant, { subscriberIds: [ada, bob], ...smart })).job;
    expect((await readout()).channel_arbitration).toEqual({
      chosen: [
        { class: "in_app", source: "default", subscribers: 1 },
        { class: "in_app", source: "personal", subscribers: 1 },
      ],
      suppressed_devices: 0,
      rank_errors: 0,
      fallback_steps: 0,
      fallback_dedup_errors: 0,
    });
    // Now bob has five too; when 90 days are over, both have none.
    expect((await readout()).channel_arbitration.chosen).toEqual([
      { class: "in_app", source: "personal", subscribers: 2 },
    ]);
    await world.advance(91 * DAY);
    expect((await readout()).channel_arbitration.chosen).toEqual([
      { class: "in_app", source: "default", subscribers: 2 },
    ]);
  });

  it("messages of an inbox are in a person's history for 90 days, longer than the inbox shows them (SMA-3, D-ARB, INB-4)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    for (let n = 0; n < 5; n++) await send(world, tenant, { subscriberIds: [ada] });

    await world.advance(80 * DAY);

    const { job } = await send(world, tenant, { subscriberIds: [ada], ...smart });
    expect(job.channel_arbitration.chosen).toEqual([{ class: "in_app", source: "personal", subscribers: 1 }]);
  });

  it("tests, and pushes that failed, are no deliveries of a person's history (SMA-3, D-ARB, RDA-9)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    const chosen = async (more: object) =>
      (await send(world, tenant, { subscriberIds: [ada], ...smart, ...more })).job.channel_arbitration.chosen;
    await tenant.call("PATCH /api/v1/workspace", { test_subscriber_ids: [ada] });
    for (let n = 0; n < 5; n++) expect((await testSend(tenant)).status).toBe(200);
    expect(await chosen({})).toMatchObject([{ class: "in_app", source: "default" }]);

    const channel_ids = [(await openChannels(world, tenant, "ios-push")).ios];
    await addPhone(world, tenant, ada, "ios");
    await spoil(world, { channel: "ios", outcome: "permanent" });
    for (let n = 0; n < 5; n++)
      expect((await send(world, tenant, { subscriberIds: [ada], channel_ids })).job.counts.failed).toBe(1);
    await mend(world);
    expect(await chosen({ channel_ids })).toMatchObject([{ class: "push", source: "default" }]);
  });

  it("the workspace's history counts from 100 deliveries, for subscribers without their own (SMA-5, D-ARB)", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 100);
    const readout = async () =>
      (await send(world, tenant, { subscriberIds: ids.slice(0, 1), ...smart })).job.channel_arbitration.chosen;
    await send(world, tenant, { subscriberIds: ids.slice(1) });

    expect(await readout()).toEqual([{ class: "in_app", source: "default", subscribers: 1 }]);
    expect(await readout()).toEqual([{ class: "in_app", source: "tenant", subscribers: 1 }]);
  });

  it("an explicit send has no readout (SMA-9)", async () => {
    const { world, tenant } = await withTenant();
    const [ada] = (await addPeople(world, tenant, 1)) as [string];

    expect((await send(world, tenant, { subscriberIds: [ada] })).job).not.toHaveProperty("channel_arbitration");
  });

  it("a history that cannot be read counts as a rank error, and the default order decides (SMA-7)", async () => {
    // Rows are not checked here: the test damages one.
    const { world, tenant } = await withTenant({ onRead: () => undefined });
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    await tenant.store.transact(noteEngagement(tenant.store, ada, { interaction: "inapp_click", platform: "web" }));
    const answers = await tenant.store.get(AnswersItem, { subscriber: ada });
    const counter = Object.keys(answers ?? {}).find((name) => name.startsWith("we:"));
    await tenant.store.change(AnswersItem, { subscriber: ada }, { set: { [counter as "we:"]: "many" as never } });
    const { job } = await send(world, tenant, { subscriberIds: [ada], ...smart });

    expect(job.counts.delivered).toBe(1);
    expect(job.channel_arbitration).toMatchObject({
      chosen: [{ class: "in_app", source: "default", subscribers: 1 }],
      rank_errors: 1,
    });
  });
});

describe("fallback", () => {
  const withPhone = async () => {
    const { world, tenant } = await withTenant();
    const { ios } = await openChannels(world, tenant, "ios-push");
    const [ada] = (await addPeople(world, tenant, 1)) as [string];
    await addPhone(world, tenant, ada, "ios");
    await addPhone(world, tenant, ada, "ios");
    return { world, tenant, ios, ada, body: { subscriberIds: [ada], ...smart } };
  };

  it("of a smart send only the first class is sent to; devices of the others are reported as suppressed, without names (SMA-2, SMA-7, SMA-8)", async () => {
    const { world, tenant, ada, body } = await withPhone();
    const { job } = await send(world, tenant, body);
    expect(job.delivered_by_channel).toEqual({ ios: 1 });
    expect(job.channel_arbitration).toMatchObject({
      chosen: [{ class: "push", source: "default", subscribers: 1 }],
      suppressed_devices: 0,
      fallback_steps: 0,
    });
    // A subscriber who answers in the inbox and never to a push is reached there, without a push.
    for (let n = 0; n < 5; n++) await send(world, tenant, { subscriberIds: [ada] });
    await tenant.store.transact(noteEngagement(tenant.store, ada, { interaction: "inapp_click", platform: "web" }));
    const { job: second } = await send(world, tenant, body);
    expect(second.delivered_by_channel).toEqual({ in_app: 1 });
    expect(second.channel_arbitration).toMatchObject({
      chosen: [{ class: "in_app", source: "personal", subscribers: 1 }],
      suppressed_devices: 2,
    });
    expect(JSON.stringify(second.channel_arbitration)).not.toContain(ada);
  });

  it("a smart send falls back when every device failed permanently, along the same ranking, each class once (SMA-6)", async () => {
    const { world, tenant, ada, body } = await withPhone();
    await spoil(world, { channel: "ios", outcome: "permanent" });
    const { job } = await send(world, tenant, body);
    expect(job).toMatchObject({ status: "completed", counts: { delivered: 1, failed: 0 } });
    expect(job.delivered_by_channel).toEqual({ in_app: 1 });
    expect(job.channel_arbitration).toMatchObject({
      chosen: [{ class: "push", source: "default", subscribers: 1 }],
      fallback_steps: 1,
      fallback_dedup_errors: 0,
    });
    expect(await reachedOf(world, tenant, [ada], job.id)).toEqual([ada]);
  });

  it("who is reached by the fallback of a smart send has no reason, though the attempt before has its own (SMA-6)", async () => {
    const { world, tenant, ada, body } = await withPhone();
    await spoil(world, { channel: "ios", outcome: "permanent" });
    const { job } = await send(world, tenant, body);
    // Counted as delivered, so without the reason of the device: fail_reasons has none either.
    const route = `GET /api/v1/notifications/${job.id}/recipients`;
    const { items } = (await tenant.call(route)).body;
    expect(items).toMatchObject([{ state: "delivered", reason: null, channel: "in_app" }]);
    expect(job.fail_reasons).toMatchObject({});
    const explained = (await tenant.call(`${route}/${ada}`)).body;
    expect(explained.reason).toBeNull();
    expect(explained.attempts[0].reason).toBe("DeviceTokenNotForTopic");
  });

  it("a smart send does not fall back while one device may still be reached, nor after a call without an answer (SMA-6)", async () => {
    const { world, tenant, ada, body } = await withPhone();
    await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
    const one = await send(world, tenant, body);
    expect(one.job.delivered_by_channel).toEqual({ ios: 1 });
    expect(one.job.channel_arbitration.fallback_steps).toBe(0);
    await mend(world);
    await spoil(world, { channel: "ios", outcome: "timeout" });
    const { job } = await send(world, tenant, body);
    await world.advance(2 * MINUTE);
    const ended = await jobOf(tenant, job.id);
    expect(ended.fail_reasons).toEqual({ delivery_unconfirmed: 1 });
    expect(ended.channel_arbitration.fallback_steps).toBe(0);
    expect(await reachedOf(world, tenant, [ada])).toEqual([]);
  });

  it("transient failures that run out end failed, without a fallback (AMB-96)", async () => {
    const { world, tenant, ada, body } = await withPhone();
    await spoil(world, { channel: "ios", outcome: "transient" });
    const { job } = await send(world, tenant, body);
    await world.advance(60 * MINUTE);
    const ended = await jobOf(tenant, job.id);

    expect(ended.status).toBe("failed");
    expect(ended.channel_arbitration.fallback_steps).toBe(0);
    expect(await reachedOf(world, tenant, [ada])).toEqual([]);
  });
});

it("a smart send leaves out the class that a person answers best where their address is suppressed (SMA-2, AMB-128)", async () => {
  const { world, tenant } = await withTenant();
  const { ada, channel, mail } = await mailing(world, tenant);
  const { ios } = await openChannels(world, tenant, "ios-push");
  await addPhone(world, tenant, ada, "ios");
  const opened = { interaction: "email_opened", platform: "email" };
  for (let n = 0; n < 5; n++) {
    await mail();
    await tenant.store.transact(noteEngagement(tenant.store, ada, opened));
  }
  const body = { subscriberIds: [ada], channel_ids: [channel, ios], ...smart };
  const chosen = async () => (await send(world, tenant, body)).job.channel_arbitration.chosen;
  expect(await chosen()).toMatchObject([{ class: "email", source: "personal" }]);

  await tenant.call("POST /api/v1/suppressions", { address: "ada@example.com" });

  expect(await chosen()).toMatchObject([{ class: "push" }]);
});
