// A provider that gets too many messages: what it throttles was not tried, waits, and goes out when it may.
import { expect, it } from "vitest";
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import { jobOf } from "../support/notify.ts";
import { addPeople, send } from "../support/people.ts";
import { addPhone, ledgerOf, openChannels, outboxOf, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 25;

async function setting(path: "ios-push" | "android-push" | "email" | "sms" | "chat_app") {
  const { world, tenant } = await withTenant();
  const channels = await openChannels(world, tenant, path);
  const [[channel, id] = []] = Object.entries(channels);
  const people = await addPeople(world, tenant, PEOPLE, (n) => ({
    email: `p${n}@example.com`,
    attributes: { phone: `+49151123456${10 + n}` },
    consent: {
      channel: path === "chat_app" ? "chat_app" : "sms",
      status: "opted_in" as const,
      consented_at: timestamp(world.clock.now()),
    },
  }));
  if (channel === "ios" || channel === "android") for (const one of people) await addPhone(world, tenant, one, channel);
  return { world, tenant, people, channel, body: { subscriberIds: people, channel_ids: [id] } };
}

it.each(["ios-push", "android-push", "email", "sms", "chat_app"] as const)(
  "by %s: everyone is reached, in one attempt each (AMB-111)",
  async (path) => {
    const { world, tenant, people, channel, body } = await setting(path);
    await spoil(world, { channel, outcome: "rate_limited", times: 65 });
    const { job } = await send(world, tenant, body);
    expect(job).toMatchObject({ status: "processing", counts: { sent: PEOPLE, delivered: 0, failed: 0 } });
    await world.advance(HOUR);
    expect(await jobOf(tenant, job.id)).toMatchObject({
      status: "completed",
      counts: { sent: PEOPLE, delivered: PEOPLE, failed: 0 },
    });
    expect((await outboxOf(world)).map(({ subscriber_id }) => subscriber_id).sort()).toEqual(people.toSorted());
    const rows = (await Promise.all(people.map((one) => ledgerOf(tenant, one)))).flat();
    expect(rows.map(({ state, tries }) => [state, (tries as string[]).length])).toEqual(people.map(() => ["sent", 1]));
  },
);

it("who was throttled to the end has failed, with a row that says so (AMB-111)", async () => {
  const { world, tenant, people, channel, body } = await setting("sms");
  // A quarter of an hour each time: the channel's own waits would make more than a thousand tries of a day.
  await spoil(world, { channel, outcome: "rate_limited", retry_after_seconds: 900, times: 100_000 });
  const { job } = await send(world, tenant, { ...body, subscriberIds: people.slice(0, 1) });
  await world.advance(DAY + HOUR);

  expect(await jobOf(tenant, job.id)).toMatchObject({ status: "failed", counts: { failed: 1 } });
  const rows = await ledgerOf(tenant, people[0]!);
  expect(rows.map(({ state }) => state)).toEqual(["failed"]);
});

it("a chunk that waits through more than sixteen messages is not stopped as a loop (OPS-1, AMB-111)", async () => {
  const { world, tenant, channel, body } = await setting("sms");
  await spoil(world, { channel, outcome: "rate_limited", times: 90 });
  const { job } = await send(world, tenant, body);
  await world.advance(HOUR);

  expect(await jobOf(tenant, job.id)).toMatchObject({ status: "completed", counts: { delivered: PEOPLE } });
  expect(world.sqs.depth("deliver-dead")).toMatchObject({ visible: 0 });
});
