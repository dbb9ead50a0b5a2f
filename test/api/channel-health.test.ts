// The settings of channels without their secrets, and their health (RDA-15).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { CHAT_APP, channelCalls, IOS_FIELDS, SMS, SMTP, type UploadPath } from "../support/channels.ts";
import { mailing } from "../support/mails.ts";
import { post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const { password, ...smtpWithoutPassword } = SMTP;

it.each<[path: UploadPath, settings: object]>([
  ["ios-push", { ...IOS_FIELDS, environment: "sandbox" }],
  ["android-push", { project_id: expect.any(String), client_email: expect.any(String) }],
  ["vapid", { vapid_public_key: expect.any(String) }],
  ["sms", { sender_id: SMS.sender_id }],
  ["chat_app", { phone_number_id: CHAT_APP.phone_number_id, waba_id: CHAT_APP.waba_id }],
  ["email", smtpWithoutPassword],
])("the settings of a channel are what was uploaded by %s without its secrets (RDA-15)", async (path, settings) => {
  const { world, tenant } = await withTenant();
  const [id] = Object.values(await openChannels(world, tenant, path));
  const { get, call } = await channelCalls(world, tenant);

  expect((await get(id!)).settings).toEqual(settings);

  const all = JSON.stringify((await call("GET /")).body);
  for (const secret of [SMS.api_key, SMS.api_secret, CHAT_APP.access_token, password, "PRIVATE"])
    expect(all).not.toContain(secret);
});

it("the settings of a channel follow every upload (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const { email = "" } = await openChannels(world, tenant, "email");
  const { get, upload } = await channelCalls(world, tenant);
  const body = { provider: "ses", from_email: "a@example.com" };

  await upload(email, "email", { body });

  expect((await get(email)).settings).toEqual(body);
});

it("the inbox has no settings (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);

  const inbox = (await call("GET /")).body.channels.find(({ type }: { type: string }) => type === "in_app");

  expect(inbox).not.toHaveProperty("settings");
});

/** A workspace with a push channel and a subscriber with a phone. */
async function pushing() {
  const { world, tenant } = await withTenant();
  const { ios = "" } = await openChannels(world, tenant, "ios-push");
  const { call } = await channelCalls(world, tenant);
  const [ada = ""] = await addPeople(world, tenant, 1);
  await addPhone(world, tenant, ada, "ios");
  const send = async (more: object = {}) => {
    await post(world, tenant, { subscriberIds: [ada], channel_ids: [ios], ...more });
    await world.settle();
  };
  const health = async () => (await call(`GET /${ios}/health`)).body;
  const now = () => timestamp(world.clock.now());
  return { world, tenant, ios, call, send, health, now };
}

it("the health of a channel that has sent nothing says when it was verified, and nothing else (RDA-15)", async () => {
  const { health, now } = await pushing();

  expect(await health()).toEqual({
    can_send: true,
    active: true,
    status: "active",
    verified_at: expect.any(String),
    verification_error: null,
    verification_requested_at: null,
    last_success_at: null,
    last_error: null,
    rate_per_second: null,
    throttle: null,
    busy_until: null,
    bounce_rate: null,
    complaint_rate: null,
    domain: null,
    used_by: { campaigns: [], schedules: [], journeys: [], experiences: [] },
    checked_at: now(),
  });
});

it("the health of a channel has the last success and the last error of its provider (RDA-15)", async () => {
  const { world, send, health, now } = await pushing();
  await send();
  const succeeded = now();
  await world.advance(HOUR);
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });

  await send();

  const last_error = { at: now(), reason: expect.stringMatching(/./) };
  expect(await health()).toMatchObject({ last_success_at: succeeded, last_error });
});

it("the health of a channel says nothing of an address that its provider knows as dead (RDA-15)", async () => {
  const { world, send, health } = await pushing();
  await spoil(world, { channel: "ios", outcome: "invalid_token", times: 1 });

  await send();

  expect(await health()).toMatchObject({ last_success_at: null, last_error: null });
});

it("the health of a channel has the rate that its provider throttles it to (RDA-15)", async () => {
  const { world, send, health } = await pushing();
  await spoil(world, { channel: "ios", outcome: "rate_limited", times: 2 });

  await send();

  expect(await health()).toMatchObject({ rate_per_second: 35, throttle: { rate_per_second: 35 } });
});

it("a channel that is not throttled any more has no rate, and a new success (RDA-15)", async () => {
  const { world, send, health, now } = await pushing();
  await spoil(world, { channel: "ios", outcome: "rate_limited", times: 2 });
  await send();
  const throttled = now();
  await mend(world);

  await world.advance(3 * HOUR);

  const healed = await health();
  expect(healed).toMatchObject({ rate_per_second: null, throttle: null });
  expect(healed.last_success_at > throttled).toBe(true);
});

it("a channel is busy until the messages of both categories have taken up their shares of its rate (RDA-15)", async () => {
  const { world, ios, call, send, health } = await pushing();
  await call(`PATCH /${ios}`, { body: { rate_per_second: 1 } });
  const begun = world.clock.now();

  await send();
  await send({ category: "transactional" });

  // A second at four fifths of the rate, and one at the fifth that is left for the other category.
  expect(Date.parse((await health()).busy_until)).toBeGreaterThanOrEqual(begun + 5 * SECOND);
});

it("a channel whose slots are all in the past is not busy (RDA-15)", async () => {
  const { world, ios, call, send, health } = await pushing();
  await call(`PATCH /${ios}`, { body: { rate_per_second: 1 } });
  await send();

  await world.advance(HOUR);

  expect(await health()).toMatchObject({ rate_per_second: 1, busy_until: null });
});

it("a channel that is switched off cannot send, and its health says so (RDA-15)", async () => {
  const { ios, call, health } = await pushing();

  await call(`PATCH /${ios}`, { body: { active: false } });

  expect(await health()).toMatchObject({ can_send: false, active: false });
});

it("the health of a channel names the campaigns that use it (RDA-15)", async () => {
  const { world, tenant, ios, health } = await pushing();
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [ios] }];
  const campaign = { name: "Spring", messages, scheduled_at: timestamp(world.clock.now() + DAY) };
  const { id } = (await tenant.call("POST /api/v1/campaigns", campaign)).body;

  await tenant.call(`POST /api/v1/campaigns/${id}/release`);

  expect((await health()).used_by).toEqual({
    campaigns: [{ id, name: "Spring" }],
    schedules: [],
    journeys: [],
    experiences: [],
  });
});

it("the health of a channel of SES has its rates of bounces and complaints (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const { mail, channel } = await mailing(world, tenant, "bounce@simulator.amazonses.com");
  const { call } = await channelCalls(world, tenant);

  await mail();
  await world.advance(MINUTE);

  expect((await call(`GET /${channel}/health`)).body).toMatchObject({ bounce_rate: 1, complaint_rate: 0 });
});
