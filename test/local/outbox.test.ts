// The outbox through the whole product: what every provider was given by one send, and what faults make of it.
import { describe, expect, it } from "vitest";
import type { OutboxItem } from "../../local/outbox.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { CHAT_APP, channelCalls, kinds, SMS, SMTP, type UploadPath, uploads } from "../support/channels.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPhone, ledgerOf, outboxOf } from "../support/reached.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const AT = "2026-11-20T12:00:00.000Z";
const paths = Object.keys(uploads) as UploadPath[];
const channels = paths.map((path) => kinds[path].type);
const platforms: Record<string, "ios" | "android" | "web"> = { ios: "ios", android: "android", web_push: "web" };

async function verified(world: TestWorld, tenant: Tenant, only?: string): Promise<Record<string, string>> {
  const { create, upload, get } = await channelCalls(world, tenant);
  const ids: Record<string, string> = {};
  for (const path of paths) {
    const { type } = kinds[path];
    if (only !== undefined && type !== only) continue;
    ids[type] = await create(type);
    expect((await upload(ids[type], path)).status).toBe(200);
  }
  await world.settle();
  for (const id of Object.values(ids)) expect(await get(id)).toMatchObject({ status: "active" });
  return ids;
}

async function person(world: TestWorld, tenant: Tenant, external_id: string, phone: string): Promise<string> {
  const body = { external_id, email: `${external_id}@example.org`, attributes: { phone, first_name: external_id } };
  const id = await tenant.upsert(body);
  for (const platform of Object.values(platforms)) await addPhone(world, tenant, id, platform);
  return id;
}

async function stage() {
  const { world, tenant } = await withTenant();
  const ids = await verified(world, tenant);
  const ada = await person(world, tenant, "ada", "+4915112345678");
  const bob = await person(world, tenant, "bob", "+4915112345679");
  await world.settle();
  await world.call("DELETE /_local/meter");
  return { world, tenant, ids, ada, bob };
}

const adas = (world: TestWorld) => outboxOf(world).then(byChannel);
const byChannel = (items: OutboxItem[]) => Object.fromEntries(items.map((item) => [item.channel, item]));

describe("GET /_local/outbox", () => {
  it("the outbox shows what each provider was given, in the provider's own words (NTF-23)", async () => {
    const { world, tenant, ada } = await stage();
    const message = { title: "Hello {{ subscriber.first_name }}", body: "The sale begins", data: { order: 7 } };
    const { id } = (await post(world, tenant, { subscriberIds: [ada], ...message })).body;
    await world.settle();
    const given = await adas(world);
    expect(Object.keys(given).sort()).toEqual([...channels].sort());
    for (const item of Object.values(given))
      expect(item).toMatchObject({
        id: expect.any(String),
        subscriber_id: ada,
        job_id: id,
        title: "Hello ada",
        body: "The sale begins",
        headers: expect.any(Object),
        at: AT,
      });
    const data = { notification_id: id, subscriber_id: ada };
    const reference = `${id}:${ada}`;
    expect(given).toMatchObject({
      ios: {
        to: expect.stringMatching(/^ios-/),
        payload: { aps: { alert: { title: "Hello ada", body: "The sale begins" } }, order: 7, ...data },
        headers: {
          authorization: expect.stringMatching(/^bearer \[redacted [0-9a-f]{8}\]$/),
          "apns-topic": "com.example.shop",
          "apns-push-type": "alert",
          "apns-collapse-id": id,
        },
      },
      android: {
        to: expect.stringMatching(/^android-/),
        payload: { notification: { title: "Hello ada", body: "The sale begins" }, data: { order: "7", ...data } },
        headers: { authorization: expect.stringMatching(/^Bearer \[redacted/), host: "fcm.googleapis.com" },
      },
      web_push: {
        to: `https://push.example.com/${ada}`,
        payload: { title: "Hello ada", body: "The sale begins", data: { order: 7, ...data } },
        headers: { authorization: expect.stringMatching(/^vapid \[redacted/), "content-encoding": "aes128gcm" },
      },
      sms: {
        to: "+4915112345678",
        payload: { from: "Shop", to: "4915112345678", text: "Hello ada\nThe sale begins", "client-ref": reference },
        headers: { host: "rest.nexmo.com" },
      },
      chat_app: {
        to: "+4915112345678",
        payload: { messaging_product: "whatsapp", type: "text", biz_opaque_callback_data: reference },
        headers: { host: "graph.facebook.com" },
      },
      email: {
        to: "ada@example.org",
        payload: expect.stringMatching(/^From: Shop <shop@example\.com>\r\n/),
        headers: { Subject: "Hello ada", "X-Notification-Id": id, "X-Subscriber-Id": ada },
      },
    });
    // One for each message, and one to Google for the token.
    const { providers } = (await world.call("GET /_local/meter")).body;
    expect(providers).toEqual({ requests: channels.length + 1 });
    const secrets = [SMS.api_key, SMS.api_secret, CHAT_APP.access_token, SMTP.password, "ya29.", "eyJ"];
    expect(secrets.filter((secret) => JSON.stringify(given).includes(secret))).toEqual([]);
  });

  it("selects by channel, job and subscriber, the oldest first, up to a limit", async () => {
    const { world, tenant, ada, bob } = await stage();
    const first = (await post(world, tenant, { subscriberIds: [ada, bob] })).body.id;
    await world.settle();
    await world.advance(MINUTE);
    const second = (await post(world, tenant, { subscriberIds: [bob] })).body.id;
    await world.settle();
    const all = await outboxOf(world);
    expect(all.map(({ at }) => at)).toEqual(all.map(({ at }) => at).sort());
    expect(all.map(({ job_id }) => job_id)).toEqual([...Array(12).fill(first), ...Array(6).fill(second)]);
    expect(await outboxOf(world, "?limit=5")).toEqual(all.slice(0, 5));
    const wanted = await outboxOf(world, `?channel=sms&subscriber_id=${bob}`);
    expect(wanted.map(({ job_id, to }) => [job_id, to])).toEqual([
      [first, "+4915112345679"],
      [second, "+4915112345679"],
    ]);
    expect(await outboxOf(world, `?job_id=${second}&subscriber_id=${ada}`)).toEqual([]);
    expect((await world.call("DELETE /_local/outbox")).status).toBe(204);
    expect(await outboxOf(world)).toEqual([]);
  });
});

it.each(channels.filter((channel) => channel !== "email" && channel !== "chat_app"))(
  "%s does not go out to somebody for whom title and body are blank (D-LIQUID)",
  async (channel) => {
    const { world, tenant } = await withTenant();
    const ids = await verified(world, tenant, channel);
    const ada = await person(world, tenant, "ada", "+4915112345678");
    const blank = { title: "{{ subscriber.nickname }}", body: "{{ subscriber.nickname }}" };
    const { id } = (await post(world, tenant, { subscriberIds: [ada], channel_ids: [ids[channel]], ...blank })).body;
    await world.settle();

    expect(await outboxOf(world)).toEqual([]);
    expect((await jobOf(tenant, id)).counts).toMatchObject({ delivered: 0, failed: 1 });
  },
);

describe.each(channels)("POST /_local/faults of %s", (channel) => {
  it("a fault of a provider answers so as often as it says, that subscriber alone", async () => {
    const { world, tenant } = await withTenant();
    const ids = await verified(world, tenant, channel);
    const bob = await person(world, tenant, "bob", "+4915112345679");
    const fates = [
      ["permanent", "failed", 0],
      ["invalid_token", "failed", 0],
      ["transient", "sent", 1],
      ["rate_limited", "sent", 1],
      ["timeout", "unknown", 0],
    ] as const;
    for (const [n, [outcome, state, given]] of fates.entries()) {
      const ada = await person(world, tenant, `ada-${outcome}`, `+491511234560${n}`);
      const body = { channel, outcome, times: 1, subscriber_id: ada };
      expect((await world.call("POST /_local/faults", { body })).status).toBe(201);
      const send = async () => {
        const audience = { subscriberIds: [ada, bob], channel_ids: [ids[channel]] };
        const { id } = (await post(world, tenant, audience)).body;
        await world.advance(3 * MINUTE);
        return { id, of: async (who: string) => (await outboxOf(world, `?job_id=${id}&subscriber_id=${who}`)).length };
      };
      const spoilt = await send();
      expect([outcome, await spoilt.of(ada), await spoilt.of(bob)]).toEqual([outcome, given, 1]);
      const row = (await ledgerOf(tenant, ada)).filter(({ job }) => job === spoilt.id).at(-1);
      expect(row?.state).toBe(state);
      expect((await jobOf(tenant, spoilt.id)).counts).toMatchObject({ delivered: 1 + given, failed: 1 - given });
      const whole = await send();
      expect(await whole.of(bob)).toBe(1);
      // A push token or a number that the provider gave up is not used again; one that was refused may be.
      if (outcome !== "invalid_token") expect(await whole.of(ada)).toBe(1);
    }
  });

  it("a fault of a provider verify: refuses the credentials in its words, as often as it says", async () => {
    const { world, tenant } = await withTenant();
    const { create, upload, get, call } = await channelCalls(world, tenant);
    const body = { channel: `verify:${channel}`, outcome: "permanent", message: "revoked yesterday", times: 1 };
    expect((await world.call("POST /_local/faults", { body })).status).toBe(201);
    const id = await create(channel);
    await upload(id, paths.find((path) => kinds[path].type === channel)!);
    await world.settle();
    expect(await get(id)).toMatchObject({ status: "invalid", verification_error: "revoked yesterday" });
    await call(`POST /${id}/verify`);
    await world.settle();
    expect(await get(id)).toMatchObject({ status: "active" });
  });
});

it("a channel of SES gives the same outbox, and its simulator's addresses are taken (D-EMAIL)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, get } = await channelCalls(world, tenant);
  const id = await create("email");
  const body = { provider: "ses", from_email: "shop@example.com", from_name: "Shop" };
  expect((await upload(id, "email", { body })).status).toBe(200);
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "active" });
  const told: [string, string | undefined][] = [];
  world.ses.onEvent(({ eventType, mail }) => told.push([eventType, mail.destination[0]]));
  for (const name of ["bounce", "complaint", "success"]) {
    const email = `${name}@simulator.amazonses.com`;
    await tenant.upsert({ external_id: name, email });
  }
  await world.settle();
  const { id: job } = (await post(world, tenant, { target: { type: "all" }, channel_ids: [id] })).body;
  await world.settle();
  const given = await outboxOf(world, `?channel=email&job_id=${job}`);
  expect(given.map(({ to }) => to.split("@")[0]).sort()).toEqual(["bounce", "complaint", "success"]);
  const fates = (name: string) => told.filter(([, to]) => to?.startsWith(name)).map(([type]) => type);
  expect(["bounce", "complaint", "success"].map(fates)).toEqual([
    ["Send", "Bounce"],
    ["Send", "Delivery", "Complaint"],
    ["Send", "Delivery"],
  ]);
});
