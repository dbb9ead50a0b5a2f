// Callbacks of the chat app: only signed ones count, and each counts once (D-WAT, AMB-90).
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { isOptOut } from "../../shared/rules/chat-app-template-states.ts";
import { Profile } from "../../shared/store/subscribers/items.ts";
import { CHAT_APP, channelCalls } from "../support/channels.ts";
import { type Headers, START, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PHONE = "+4915123456789";

async function inboundWorld(credentials: object = CHAT_APP) {
  const { world, tenant } = await withTenant();
  const calls = await channelCalls(world, tenant);
  const id = await calls.create("chat_app");
  await calls.upload(id, "chat_app", { body: credentials });
  const post = (payload: unknown, { secret = CHAT_APP.app_secret, channel = id, headers = {} as Headers } = {}) => {
    const raw = Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
    const signature = `sha256=${createHmac("sha256", secret).update(raw).digest("hex")}`;
    return world.call(`POST /v1/inbound/chat-app/${channel}`, {
      headers: { "content-type": "application/json", "x-hub-signature-256": signature, ...headers },
      raw,
    });
  };
  const person = async (external_id: string, phone: string | null = PHONE): Promise<string> =>
    await tenant.upsert({ external_id, attributes: { phone } });
  const consents = async (subscriber: string) =>
    (await tenant.call(`GET /api/v1/subscribers/${subscriber}/consents`)).body.items;
  return { world, tenant, id, ...calls, post, person, consents };
}

const at = START / 1_000;
const changed = (field: string, value: object, more: object = {}) => ({
  object: "whatsapp_business_account",
  entry: [{ id: CHAT_APP.waba_id, time: at, changes: [{ field, value }], ...more }],
});
const wrote = (text: string, { id = "wamid.1", from = PHONE.slice(1), seconds = at } = {}) =>
  changed("messages", {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: "15550100", phone_number_id: CHAT_APP.phone_number_id },
    messages: [{ from, id, timestamp: String(seconds), type: "text", text: { body: text } }],
  });
const reviewed = (event: string, template: string, { reason = "NONE", time = at } = {}) =>
  changed(
    "message_template_status_update",
    {
      event,
      reason,
      message_template_id: Number(template),
      message_template_name: "order_shipped",
      message_template_language: "en_US",
    },
    { time },
  );

it("the challenge is answered only with the channel's verify token (D-WAT)", async () => {
  const { world, id, create, upload } = await inboundWorld();
  const ask = (channel: string, token: string, challenge = "1158201444", mode = "subscribe") => {
    const query = new URLSearchParams({ "hub.mode": mode, "hub.verify_token": token, "hub.challenge": challenge });
    return world.call(`GET /v1/inbound/chat-app/${channel}?${query}`);
  };
  const good = await ask(id, CHAT_APP.webhook_verify_token);
  expect([good.status, good.body, good.headers["content-type"]]).toEqual([
    200,
    "1158201444",
    "text/plain; charset=utf-8",
  ]);
  expect((await ask(id, "another")).status).toBe(403);
  expect((await ask(id, CHAT_APP.webhook_verify_token, "<script>")).status).toBe(422);
  expect((await ask(id, CHAT_APP.webhook_verify_token, "1", "unsubscribe")).status).toBe(422);
  expect((await ask(UNKNOWN, CHAT_APP.webhook_verify_token)).status).toBe(404);
  for (const missing of ["app_secret", "webhook_verify_token"]) {
    const silent = await create("chat_app");
    await upload(silent, "chat_app", { body: { ...CHAT_APP, [missing]: undefined } });
    expect((await ask(silent, CHAT_APP.webhook_verify_token)).status).toBe(404);
  }
});

it("a callback without a valid signature is 401; without an app secret 404 (D-WAT)", async () => {
  const { world, tenant, id, post, person, consents, create, upload } = await inboundWorld();
  const subscriber = await person("anna");
  const good = createHmac("sha256", CHAT_APP.app_secret)
    .update(JSON.stringify(wrote("STOP")))
    .digest("hex");
  const bad = [
    ...[
      "",
      "sha256=",
      `sha1=${good}`,
      good,
      `sha256=${good.toUpperCase()}`,
      `sha256=${good}00`,
      `sha256=${good.slice(2)}`,
    ],
    `sha256=${good.replace(/.$/, (last) => (last === "0" ? "1" : "0"))}`,
  ];
  for (const signature of bad)
    expect([signature, (await post(wrote("STOP"), { headers: { "x-hub-signature-256": signature } })).status]).toEqual([
      signature,
      401,
    ]);
  expect((await post(wrote("STOP"), { secret: "another" })).status).toBe(401);
  expect((await world.call(`POST /v1/inbound/chat-app/${id}`, { body: wrote("STOP") })).status).toBe(401);
  expect((await post("{ not json", { secret: "another" })).status).toBe(401);
  const silent = await create("chat_app");
  await upload(silent, "chat_app", { body: { ...CHAT_APP, app_secret: undefined } });
  for (const channel of [silent, UNKNOWN, await create("sms")])
    expect(await post(wrote("STOP"), { channel })).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
  expect(await consents(subscriber)).toEqual([]);
  expect((await post(wrote("STOP"))).status).toBe(200);
  expect(await consents(subscriber)).toHaveLength(1);
  await upload(id, "chat_app", { body: { ...CHAT_APP, app_secret: undefined } });
  expect((await post(wrote("STOP"))).status).toBe(404);
  expect(tenant.id).toBeTruthy();
});

it("a signed invalid body is 400; parts about others or of unknown types are ignored (D-WAT)", async () => {
  const { post, person, consents } = await inboundWorld();
  const subscriber = await person("anna");
  for (const payload of ["", "{ not json", "[]", "null", '"text"', "{}", '{"entry":7}', '{"__proto__":{},"entry":[]}'])
    expect((await post(payload)).status).toBe(400);
  const message = wrote("STOP").entry[0]!;
  const passed = [
    { entry: [] },
    { entry: [{ ...message, id: "another account" }] },
    changed("messages", { ...(message.changes[0]!.value as object), metadata: { phone_number_id: "another number" } }),
    changed("messages", {
      metadata: { phone_number_id: CHAT_APP.phone_number_id },
      statuses: [{ id: "wamid.1", status: "read" }],
    }),
    changed("messages", {
      metadata: { phone_number_id: CHAT_APP.phone_number_id },
      messages: [{ from: "x" }, 7, null],
    }),
    changed("account_update", { event: "VERIFIED_ACCOUNT" }),
    changed("message_template_status_update", { event: "APPROVED" }),
    wrote("STOP", { from: "4915100000000" }),
  ];
  for (const payload of passed)
    expect(await post(payload)).toMatchObject({ status: 200, body: { status: "received" } });
  expect(await consents(subscriber)).toEqual([]);
});

it("an opt-out is stored once as a chat-app consent of every subscriber with the number (AMB-90)", async () => {
  const { tenant, post, person, consents } = await inboundWorld();
  const [anna, anna2, other] = [
    await person("anna"),
    await person("anna at work"),
    await person("bert", "+4915123456780"),
  ];
  for (let repeat = 0; repeat < 3; repeat++)
    expect((await post(wrote(" Stop\n", { seconds: at - 60 }))).status).toBe(200);
  for (const subscriber of [anna, anna2]) {
    expect(await consents(subscriber)).toMatchObject([
      {
        subscriber_id: subscriber,
        channel: "chat_app",
        status: "opted_out",
        express: false,
        consented_at: "2026-11-20T11:59:00.000Z",
        source: "inbound_message",
        evidence: { text: " Stop\n" },
      },
    ]);
    expect(await tenant.store.get(Profile, { id: subscriber })).toMatchObject({ "c:chat_app": "opted_out" });
  }
  expect(await consents(other)).toEqual([]);
  await post(wrote("stop please", { id: "wamid.2" }));
  expect(await consents(anna)).toHaveLength(1);
  await post(wrote("UNSUBSCRIBE", { id: "wamid.3" }));
  expect(await consents(anna)).toHaveLength(2);
});

it("the newest consent counts: a late opt-out is only added to the history (AMB-90)", async () => {
  const { tenant, post, person, consents } = await inboundWorld();
  const anna = await person("anna");
  const consent = { channel: "chat_app", status: "opted_in" };
  await tenant.upsert({ external_id: "anna", consent });
  await post(wrote("STOP", { seconds: at - 3_600 }));
  expect((await consents(anna)).map(({ status }: { status: string }) => status).sort()).toEqual([
    "opted_in",
    "opted_out",
  ]);
  expect(await tenant.store.get(Profile, { id: anna })).toMatchObject({ "c:chat_app": "opted_in" });
  await post(wrote("STOP", { id: "wamid.2", seconds: at }));
  expect(await tenant.store.get(Profile, { id: anna })).toMatchObject({ "c:chat_app": "opted_out" });
});

it("a message that says STOP opts out whoever gets its phone number later (AMB-130)", async () => {
  const { post, person, consents } = await inboundWorld();
  await post(wrote("STOP"));
  const later = await person("later");
  expect(await consents(later)).toMatchObject([{ channel: "chat_app", status: "opted_out", source: "address" }]);
});

it("a number that was changed, removed or erased matches no subscriber (AMB-90)", async () => {
  const { world, tenant, post, person, consents } = await inboundWorld();
  const [moved, cleared, erased] = [await person("moved"), await person("cleared"), await person("erased")];
  await person("moved", "+4915123456700");
  await person("cleared", null);
  expect((await tenant.call(`DELETE /api/v1/subscribers/${erased}`)).status).toBe(204);
  await world.advance(DAY);
  expect((await post(wrote("STOP"))).status).toBe(200);
  for (const subscriber of [moved, cleared]) expect(await consents(subscriber)).toEqual([]);
  const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
  expect(JSON.stringify((Items as object[]).filter((item) => JSON.stringify(item).includes(erased)))).not.toMatch(
    /i3pk|inbound_message/,
  );
});

it("an opt-out text is the whole message, in any case (AMB-90)", () => {
  for (const text of ["STOP", "stop", " Stop ", "STOPALL", "unsubscribe", "Cancel", "END", "quit\n"])
    expect(isOptOut(text)).toBe(true);
  for (const text of ["", "stop it", "please stop", "stopp", "ends", "no", "s t o p"])
    expect(isOptOut(text)).toBe(false);
  fc.assert(fc.property(fc.string({ minLength: 1 }), (more) => more.trim() === "" || !isOptOut(`stop ${more} x`)));
});

it("a callback reports the review of a template; a late or repeated one changes nothing (WAT-5, D-WAT)", async () => {
  const { id, call, post } = await inboundWorld();
  const body = { name: "order_shipped", body: "On its way." };
  const template = (await call(`POST /${id}/chat-app-templates`, { body })).body;
  const shown = async () => (await call(`GET /${id}/chat-app-templates`)).body.items[0];
  await post(reviewed("APPROVED", "4711"));
  expect(await shown()).toEqual(template);
  const { provider_template_id } = (await call(`POST /${id}/chat-app-templates/${template.id}/submit`)).body;
  await post(reviewed("REJECTED", "4711", { reason: "SPAM" }));
  expect(await shown()).toMatchObject({ status: "pending" });
  await post(reviewed("REJECTED", provider_template_id, { reason: "SPAM", time: at + 10 }));
  expect(await shown()).toMatchObject({ status: "rejected", status_reason: "SPAM" });
  await post(reviewed("APPROVED", provider_template_id, { time: at + 20 }));
  expect(await shown()).toMatchObject({ status: "approved" });
  expect(await shown()).not.toHaveProperty("status_reason");
  for (const time of [at + 10, at + 20])
    await post(reviewed("REJECTED", provider_template_id, { reason: "SPAM", time }));
  await post(reviewed("SOMETHING_NEW", provider_template_id, { time: at + 30 }));
  expect(await shown()).toMatchObject({ status: "approved" });
});
