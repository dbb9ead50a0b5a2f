// Mails by SES go as fast as SES lets the account send, and no faster.
import { expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { channelRate } from "../../shared/store/channels/pace.ts";
import { channelCalls, SMTP } from "../support/channels.ts";
import { SES } from "../support/mails.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { openChannels, outboxOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** Mails a second of an account in SES's sandbox, and of one that has just left it. */
const SANDBOX = 1;
const USUAL = 14;
const PEOPLE = 40;

async function mailing() {
  const { world, tenant } = await withTenant();
  const { email: channel = "" } = await openChannels(world, tenant, "email");
  const upload = async (body: object) => {
    await (await channelCalls(world, tenant)).upload(channel, "email", { body });
    await world.settle();
  };
  await upload(SES);
  const people = await addPeople(world, tenant, PEOPLE, (n) => ({ email: `p${n}@example.com` }));
  const begin = async (count = PEOPLE) => {
    const { body } = await post(world, tenant, { subscriberIds: people.slice(0, count), channel_ids: [channel] });
    await world.settle();
    return String(body.id);
  };
  const healthOf = async () => (await tenant.call(`GET /api/v1/channels/${channel}/health`)).body;
  return { world, tenant, channel, upload, begin, healthOf };
}

it("mails by SES keep to nine tenths of the account's rate, so that none is throttled (AMB-111)", async () => {
  const { world, tenant, channel, begin, healthOf } = await mailing();
  world.ses.limit(SANDBOX);
  const start = world.clock.now();
  const job = await begin();
  expect((await jobOf(tenant, job)).pacing).toEqual([
    { channel_id: channel, rate_per_second: 0.9, until: expect.any(String) },
  ]);
  await world.advance(2 * MINUTE);
  expect(await jobOf(tenant, job)).toMatchObject({
    status: "completed",
    counts: { delivered: PEOPLE, failed: 0 },
  });
  const times = (await outboxOf(world)).map(({ at }) => Date.parse(at) - start).toSorted((a, b) => a - b);
  expect(times.at(-1)).toBeGreaterThanOrEqual(((PEOPLE - 1) / (0.8 * 0.9)) * SECOND);
  expect(await healthOf()).toMatchObject({ rate_per_second: 0.9, throttle: null, last_error: null });
});

it("the rate of SES is read again every hour (AMB-111)", async () => {
  const { world, tenant, channel, begin } = await mailing();
  world.ses.limit(USUAL);
  await begin(1);
  world.ses.limit(100);
  await begin(1);
  expect(await channelRate(tenant.store, channel)).toBe(12.6);
  await world.advance(HOUR);
  await begin(1);
  expect(await channelRate(tenant.store, channel)).toBe(90);
});

it("a mail channel's own rate is kept instead of that of SES, and one that leaves SES has none (AMB-111)", async () => {
  const { world, tenant, channel, upload, begin } = await mailing();
  world.ses.limit(USUAL);
  await begin(1);
  await tenant.call(`PATCH /api/v1/channels/${channel}`, { rate_per_second: 5 });
  expect(await channelRate(tenant.store, channel)).toBe(5);
  await tenant.call(`PATCH /api/v1/channels/${channel}`, { rate_per_second: null });
  await upload(SMTP);
  await world.advance(MINUTE);
  await begin(1);
  expect(await channelRate(tenant.store, channel)).toBeUndefined();
});

it("while the rate of SES cannot be read, mails go out, and it is read again (AMB-111)", async () => {
  const { world, tenant, channel, begin } = await mailing();
  world.ses.limit(USUAL);
  const fault = { channel: "aws:ses", operation: "GetAccount", times: 1 };
  expect((await world.call("POST /_local/faults", { body: fault })).status).toBe(201);
  const job = await begin(1);
  expect(await jobOf(tenant, job)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  expect(await channelRate(tenant.store, channel)).toBeUndefined();
  await world.advance(5 * MINUTE);
  await begin(1);
  expect(await channelRate(tenant.store, channel)).toBe(12.6);
});
