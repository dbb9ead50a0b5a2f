// The settings of channels without their secrets, and their health (RDA-15).
import { expect, it } from "vitest";
import { DAY, HOUR, MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import { CHAT_APP, channelCalls, IOS_FIELDS, SMS, SMTP } from "../support/channels.ts";
import { mailing, SES } from "../support/mails.ts";
import { post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("settings are what was uploaded without its secrets, and follow every upload (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const ids = await openChannels(world, tenant, "ios-push", "android-push", "vapid", "sms", "chat_app", "email");
  const { get, call, upload } = await channelCalls(world, tenant);
  const settings = async (type: string) => (await get(ids[type]!)).settings;
  expect(await settings("ios")).toEqual({ ...IOS_FIELDS, environment: "sandbox" });
  expect(Object.keys(await settings("android"))).toEqual(["project_id", "client_email"]);
  expect(Object.keys(await settings("web_push"))).toEqual(["vapid_public_key"]);
  expect(await settings("sms")).toEqual({ sender_id: SMS.sender_id });
  expect(await settings("chat_app")).toEqual({
    phone_number_id: CHAT_APP.phone_number_id,
    waba_id: CHAT_APP.waba_id,
  });
  const { password: _, ...smtp } = SMTP;
  expect(await settings("email")).toEqual(smtp);
  await upload(ids.email!, "email", { body: { provider: "ses", from_email: "a@example.com" } });
  expect(await settings("email")).toEqual({ provider: "ses", from_email: "a@example.com" });
  const all = JSON.stringify((await call("GET /")).body);
  for (const secret of [SMS.api_key, SMS.api_secret, CHAT_APP.access_token, SMTP.password, "PRIVATE"])
    expect(all).not.toContain(secret);
  const inApp = (await call("GET /")).body.channels.find(({ type }: { type: string }) => type === "in_app");
  expect(inApp).not.toHaveProperty("settings");
});

it("health: the last answers of the provider, the throttle, and what uses the channel (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const { ios: channel = "" } = await openChannels(world, tenant, "ios-push");
  const { call } = await channelCalls(world, tenant);
  const health = async () => (await call(`GET /${channel}/health`)).body;
  const [ada = ""] = await addPeople(world, tenant, 1);
  await addPhone(world, tenant, ada, "ios");
  const verified = {
    can_send: true,
    active: true,
    status: "active",
    verification_error: null,
    verification_requested_at: null,
    used_by: { campaigns: [], schedules: [], journeys: [] },
    bounce_rate: null,
    complaint_rate: null,
    domain: null,
  };
  const silent = { last_success_at: null, last_error: null, rate_per_second: null, throttle: null, busy_until: null };
  expect(await health()).toEqual({
    ...verified,
    ...silent,
    verified_at: expect.any(String),
    checked_at: timestamp(world.clock.now()),
  });
  const send = () => post(world, tenant, { subscriberIds: [ada], channel_ids: [channel] });
  await send();
  await world.settle();
  const first = timestamp(world.clock.now());
  expect(await health()).toMatchObject({ ...verified, ...silent, last_success_at: first });

  await world.advance(HOUR);
  await spoil(world, { channel: "ios", outcome: "permanent", times: 1 });
  await send();
  await world.settle();
  const failing = await health();
  expect(failing).toMatchObject({ last_success_at: first, last_error: { at: timestamp(world.clock.now()) } });
  expect(failing.last_error.reason).not.toBe("");

  await spoil(world, { channel: "ios", outcome: "rate_limited", times: 2 });
  await send();
  await world.settle();
  expect(await health()).toMatchObject({ rate_per_second: 35, throttle: { rate_per_second: 35 } });
  await mend(world);
  await world.advance(3 * HOUR);
  const healed = await health();
  expect(healed).toMatchObject({ rate_per_second: null, throttle: null });
  expect(healed.last_success_at > first).toBe(true);

  await call(`PATCH /${channel}`, { body: { active: false } });
  expect(await health()).toMatchObject({ can_send: false, active: false });
  const messages = [{ content: { title: "t", body: "b" }, channel_ids: [channel] }];
  const body = { name: "Spring", messages, scheduled_at: timestamp(world.clock.now() + DAY) };
  const { id } = (await tenant.call("POST /api/v1/campaigns", body)).body;
  await tenant.call(`POST /api/v1/campaigns/${id}/release`);
  expect((await health()).used_by).toEqual({ campaigns: [{ id, name: "Spring" }], schedules: [], journeys: [] });
});

it("rates of bounces and complaints count each mail once, for SES alone (RDA-15)", async () => {
  const { world, tenant } = await withTenant();
  const { mail, channel } = await mailing(world, tenant, "bounce@simulator.amazonses.com");
  await mail();
  await world.advance(MINUTE);
  const { call } = await channelCalls(world, tenant);
  expect(SES.provider).toBe("ses");
  expect((await call(`GET /${channel}/health`)).body).toMatchObject({ bounce_rate: 1, complaint_rate: 0 });
});
