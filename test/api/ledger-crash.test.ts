// The worker crashes between any two of its steps: no send arrives twice, and what may have gone out is unconfirmed.
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { findJob } from "../../shared/store/sends/jobs/jobs.ts";
import { type Death, mortal } from "../support/mortal.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, send } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 12;
/** Dozens of crashes, each with the time that queues take to notice. */
const PATIENCE_MS = 240_000;

it(
  "a crash at any step causes no double send, and leaves at most one group unconfirmed (F1, T1)",
  async () => {
    const worker = mortal("deliver");
    const { world, tenant } = await withTenant({ hooks: worker.hooks });
    const { ios } = await openChannels(world, tenant, "ios-push");
    const people = await addPeople(world, tenant, PEOPLE);
    for (const id of people) await addPhone(world, tenant, id, "ios");
    const run = async (n: number, moment: "before" | "after") => {
      worker.dieAt(n, moment);
      const { id } = (await post(world, tenant, { subscriberIds: people, channel_ids: [ios] })).body;
      await world.settle();
      const deaths = worker.deaths();
      worker.revive();
      await world.advance(9 * MINUTE);
      const job = await jobOf(tenant, id);
      const given = (await outboxOf(world, `?job_id=${id}`)).map(({ subscriber_id }) => subscriber_id);
      const rows = (await Promise.all(people.map((one) => ledgerOf(tenant, one))))
        .flat()
        .filter((row) => row.job === id);
      const at = `step ${n} ${moment}`;
      expect(new Set(given).size, `${at}`).toEqual(given.length);
      const unconfirmed = job.fail_reasons.delivery_unconfirmed ?? 0;
      expect(job.counts.delivered + unconfirmed, `${at}`).toEqual(PEOPLE);
      expect(job.counts.failed, `${at}`).toEqual(unconfirmed);
      expect(unconfirmed <= 10, `${at}`).toBe(true);
      const states = rows.map(({ state }) => state);
      expect(states.filter((state) => state === "sent").length, `${at}`).toEqual(job.counts.delivered);
      expect(states.filter((state) => state === "unknown").length, `${at}`).toEqual(unconfirmed);
      expect(given.length).toBeGreaterThanOrEqual(job.counts.delivered);
      return deaths;
    };
    const deaths = await run(1_000, "before");
    expect(deaths.length).toBeGreaterThan(8);
    for (const [n, moment] of deaths) await run(n, moment);
  },
  PATIENCE_MS,
);

it.each([
  ["several people", 3],
  ["one person", 1],
])(
  "a crash at any step of a send to %s counts whom each channel did not reach once, as the ledger has it (AMB-139, F1)",
  async (_, size) => {
    const worker = mortal("deliver");
    const { world, tenant } = await withTenant({ hooks: worker.hooks });
    const { ios, sms } = await openChannels(world, tenant, "ios-push", "sms");
    const people = await addPeople(world, tenant, size);
    for (const id of people) {
      await addPhone(world, tenant, id, "ios");
      await tenant.call(`PATCH /api/v1/subscribers/${id}`, { attributes: { phone: "+4915112345678" } });
    }
    await spoil(world, { channel: "sms", outcome: "transient", times: 1_000 });
    const lost = { ios: 0, sms: 0 };
    const run = async (attempt: "first" | "last", [n, moment]: Death) => {
      const dieIn = async (one: "first" | "last", working: () => Promise<unknown>): Promise<Death[]> => {
        if (one === attempt) worker.dieAt(n, moment);
        await working();
        const deaths = worker.deaths();
        worker.revive();
        return deaths;
      };
      const { id } = (await post(world, tenant, { subscriberIds: people, channel_ids: [ios, sms] })).body;
      const first = await dieIn("first", () => world.settle());
      await world.advance(10 * MINUTE);
      const last = await dieIn("last", () => world.advance(30 * MINUTE));
      await world.advance(40 * MINUTE);
      const rows = (await Promise.all(people.map((one) => ledgerOf(tenant, one)))).flat();
      const ended = (channel: string, ...states: unknown[]) =>
        rows.filter((row) => row.job === id && row.channel === channel && states.includes(row.state)).length;
      const { failed_by_channel, uncertain_by_channel } = (await findJob(tenant.store, id))!;
      const failed = { ios: ended("ios", "failed", "unknown"), sms: ended("sms", "failed", "unknown") };
      const uncertain = { ios: ended("ios", "unknown"), sms: ended("sms", "unknown") };
      const at = `step ${n} ${moment} of the ${attempt} attempt`;
      expect({ ios: 0, ...failed_by_channel }, at).toEqual(failed);
      expect({ ios: 0, sms: 0, ...uncertain_by_channel }, at).toEqual(uncertain);
      expect(failed.sms, at).toBe(size);
      lost.ios += failed.ios;
      lost.sms += failed.sms;
      return attempt === "first" ? first : last;
    };
    for (const attempt of ["first", "last"] as const) {
      const deaths = await run(attempt, [1_000, "before"]);
      expect(deaths.length).toBeGreaterThan(3);
      for (const death of deaths) await run(attempt, death);
    }
    expect(lost.ios).toBeGreaterThan(0);
    await world.advance(HOUR);

    const { buckets } = (await tenant.call("GET /api/v1/insights/series?group_by=channel")).body;
    const shown = (channel: string) =>
      buckets.reduce((sum: number, { group, failed }: Bucket) => sum + (group === channel ? failed : 0), 0);
    expect({ ios: shown("ios"), sms: shown("sms") }).toEqual(lost);
  },
  PATIENCE_MS,
);

interface Bucket {
  group: string;
  failed: number;
}

it("a send whose messages ended among the dead letters is taken up by its watch (OPS-1, AMB-57)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 3);
  for (const id of people) await addPhone(world, tenant, id, "ios");
  worker.dieAt(1, "before");
  const { id } = (await post(world, tenant, { target: { type: "all" }, channel_ids: [ios] })).body;
  await world.settle();
  for (let hour = 0; hour < 3 && world.sqs.depth("deliver-dead").visible === 0; hour++) await world.advance(HOUR);
  expect(world.sqs.depth("deliver-dead").visible).toBeGreaterThan(0);
  worker.revive();

  await world.advance(HOUR);

  expect(await jobOf(tenant, id)).toMatchObject({ status: "completed", counts: { delivered: 3 } });
  expect(await outboxOf(world)).toHaveLength(3);
});

it("who a cap refuses is known as such after a crash, also in a later group (D-CAP, F1)", async () => {
  const claim = requests({ of: "deliver", operation: "TransactWriteItems", naming: '"F#day#', moment: "after" });
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const people = await addPeople(world, tenant, 32);
  for (const id of people) await addPhone(world, tenant, id, "ios");
  await tenant.call("PATCH /api/v1/workspace", { frequency_caps: [{ category: "marketing", max: 1, per: "day" }] });
  const capped = people[30]!;
  await send(world, tenant, { subscriberIds: [capped], channel_ids: [ios] });
  claim.each((input) => {
    const isLastGroup = JSON.stringify(input).includes(people[31]!);
    if (isLastGroup) throw new Error("the worker stopped");
  });

  const { job } = await send(world, tenant, { subscriberIds: people, channel_ids: [ios] });
  claim.pass();
  await world.advance(10 * MINUTE);

  expect(await jobOf(tenant, job.id)).toMatchObject({
    status: "completed",
    counts: { sent: 31, delivered: 30, failed: 1, skipped: 1 },
    skip_reasons: { capped: 1 },
    fail_reasons: { delivery_unconfirmed: 1 },
  });
});

it("a crash at any step of the last attempt leads to no fallback (SMA-6, AMB-96, F1)", async () => {
  const worker = mortal("deliver");
  const { world, tenant } = await withTenant({ hooks: worker.hooks });
  const { ios, email } = await openChannels(world, tenant, "ios-push", "email");
  const ada = await tenant.upsert({ external_id: "ada", email: "ada@example.com" });
  await addPhone(world, tenant, ada, "ios");
  await spoil(world, { channel: "ios", outcome: "transient" });
  const smart = { subscriberIds: [ada], channel_ids: [ios, email], channel_arbitration_mode: "smart" };
  const run = async (n: number, moment: "before" | "after") => {
    const { job } = await send(world, tenant, smart);
    await world.advance(30 * MINUTE);
    worker.dieAt(n, moment);
    await world.advance(10 * MINUTE);
    const deaths = worker.deaths();
    worker.revive();
    await world.advance(10 * MINUTE);
    const { status, counts, channel_arbitration } = await jobOf(tenant, job.id);
    const ended = { status, failed: counts.failed, fallbacks: channel_arbitration.fallback_steps };
    expect(ended, `step ${n} ${moment}`).toEqual({ status: "failed", failed: 1, fallbacks: 0 });
    return deaths;
  };
  const deaths = await run(1_000, "before");
  expect(deaths.length).toBeGreaterThan(3);

  for (const [n, moment] of deaths) await run(n, moment);

  expect(await outboxOf(world, "?channel=email")).toEqual([]);
});

it("an inbox message whose worker stopped before it claimed the group counts when the send is stopped (AMB-112, F1)", async () => {
  const claim = requests({ of: "deliver", operation: "UpdateItem", naming: '"K#request#' });
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [first] = (await tenant.call("GET /api/v1/channels")).body.channels;
  const people = await addPeople(world, tenant, 3);
  for (const id of people) await addPhone(world, tenant, id, "ios");
  claim.each(() => {
    if (claim.seen() > 1) throw new Error("the worker stopped");
  });
  const { job } = await send(world, tenant, { subscriberIds: people, channel_ids: [ios, first.id] });
  await operate(world, tenant, { status: "deleted" });
  claim.pass();
  await world.advance(HOUR);
  await operate(world, tenant, { status: "active" });

  for (const id of people) expect(await inboxOf(world, tenant, id)).toHaveLength(1);
  expect(await jobOf(tenant, job.id)).toMatchObject({
    status: "canceled",
    counts: { total: 3, delivered: 3, failed: 0, skipped: 0 },
    delivered_by_channel: { in_app: 3 },
  });
});

it("a send that is paused closes what its chunks have done, also where its worker stopped before (AMB-113, AMB-57)", async () => {
  const closing = requests({ naming: "ranges_closed" });
  const { world, tenant } = await withTenant({ hooks: closing.hooks });
  const [channel] = (await tenant.call("GET /api/v1/channels")).body.channels;
  await addPeople(world, tenant, 3);
  closing.fail();
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel.id] }];
  const { id } = (await tenant.call("POST /api/v1/campaigns", { name: "c", messages })).body;
  const { body } = await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  await world.advance(HOUR);
  expect(closing.seen()).toBeGreaterThan(3);
  await tenant.call(`PATCH /api/v1/campaigns/${id}`, { action: "pause" });
  closing.pass();
  await world.advance(12 * HOUR);

  const job = body.messages[0].job_id;
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: 3 } });
});
