// Channels as their callers see them (CHN).

import { expect, it } from "vitest";
import { channelTypes } from "../../shared/rules/channel-types.ts";
import { isUsable, listChannels } from "../../shared/store/channels/channels.ts";
import { CredentialsItem } from "../../shared/store/channels/items.ts";
import { channelCalls } from "../support/channels.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

it("a new channel is pending and enabled, and has no fields of a verification (CHN-1, CHN-4, CHN-6, CHN-7, CHN-8, CHN-12)", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);
  const answer = await call("POST /", { body: { type: "ios", name: " Our app " } });
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "ios",
    name: "Our app",
    active: true,
    status: "pending",
    created_at: "2026-11-20T12:00:00.000Z",
  });
  await world.settle();
  expect((await call(`GET /${answer.body.id}`)).body).toEqual(answer.body);
});

it("accepts exactly the seven types (CHN-2, GEN-5, GEN-9)", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);
  const wanted = ["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"];
  expect(channelTypes).toEqual(wanted);
  for (const type of wanted)
    expect(await call("POST /", { body: { type, name: type } })).toMatchObject({ status: 201, body: { type } });
  for (const type of ["chat-app", "whatsapp", "push", "IOS", ""])
    expect(await call("POST /", { body: { type, name: "x" } })).toMatchObject({
      status: 422,
      body: { code: "VALIDATION_ERROR", fields: { type: expect.any(String) } },
    });
});

it("names are 1 to 128 characters and unique in their workspace: 422 naming the field (CHN-3, CHN-12, AMB-18)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  const name = "n".repeat(128);
  await create("sms", name);
  for (const taken of [name, "", "   ", `${name}n`, "🎉".repeat(129), 7, undefined]) {
    const answer = await call("POST /", { body: { type: "ios", name: taken } });
    expect([answer.status, answer.body.code, Object.keys(answer.body.fields)]).toEqual([
      422,
      "VALIDATION_ERROR",
      ["name"],
    ]);
  }
  const other = await channelCalls(world, await world.tenant());
  for (const free of [name, "🎉".repeat(128)])
    expect((await other.call("POST /", { body: { type: "ios", name: free } })).status).toBe(201);
});

it("a type outside the plan is refused with its own body (CHN-13, ERR-20)", async () => {
  const world = await fresh();
  const { call } = await channelCalls(world, await world.tenant({ plan: "growth" }));
  expect(await call("POST /", { body: { type: "chat_app", name: "x" } })).toMatchObject({
    status: 403,
    body: {
      error: "channel_type_not_permitted",
      allowed: ["ios", "android", "web_push", "email", "in_app", "sms"],
      upgrade_required: true,
    },
  });
  expect((await call("POST /", { body: { type: "sms", name: "x" } })).status).toBe(201);
});

it("lists every channel of the workspace, oldest first, and gets one (CHN-14, CHN-15)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  const made = [];
  for (const type of ["ios", "email"]) {
    await world.advance(1_000);
    made.push(await create(type));
  }
  const { status, body } = await call("GET /");
  expect(status).toBe(200);
  expect(body.channels.map(({ type }: { type: string }) => type)).toEqual(["in_app", "ios", "email"]);
  expect(body.channels.slice(1).map(({ id }: { id: string }) => id)).toEqual(made);
  expect((await call(`GET /${made[1]}`)).body).toEqual(body.channels[2]);
  const other = await channelCalls(world, await world.tenant());
  for (const id of [made[0], UNKNOWN]) expect((await other.call(`GET /${id}`)).status).toBe(404);
});

it("changes the given fields only, and refuses a name that is taken (CHN-16, CHN-3)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  const id = await create("sms", "first");
  await create("sms", "second");
  expect(await call(`PATCH /${id}`, { body: { active: false } })).toMatchObject({
    status: 200,
    body: { id, name: "first", active: false, status: "pending" },
  });
  expect((await call(`PATCH /${id}`, { body: { name: "third" } })).body).toMatchObject({
    name: "third",
    active: false,
  });
  expect((await call(`PATCH /${id}`, { body: {} })).body).toMatchObject({ name: "third", active: false });
  expect(await call(`PATCH /${id}`, { body: { name: "second" } })).toMatchObject({
    status: 422,
    body: { fields: { name: expect.any(String) } },
  });
  for (const body of [{ active: "yes" }, { name: "n".repeat(129) }, { type: "ios" }, { status: "active" }])
    expect((await call(`PATCH /${id}`, { body })).status).toBe(422);
  expect((await call(`PATCH /${UNKNOWN}`, { body: { active: true } })).status).toBe(404);
  expect((await call("POST /", { body: { type: "ios", name: "first" } })).status).toBe(201);
});

it("deletes a channel; one with stored credentials only with force (CHN-17)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create, upload } = await channelCalls(world, tenant);
  const bare = await create("sms", "bare");
  expect(await call(`DELETE /${bare}`)).toMatchObject({ status: 204, body: "" });
  expect((await call(`DELETE /${bare}`)).status).toBe(404);
  expect((await call("POST /", { body: { type: "sms", name: "bare" } })).status).toBe(201);

  const held = await create("sms", "held");
  await upload(held, "sms");
  for (const query of ["", "?force=false"])
    expect(await call(`DELETE /${held}${query}`)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  expect((await call(`DELETE /${held}?force=maybe`)).status).toBe(422);
  expect((await call(`GET /${held}`)).status).toBe(200);
  expect((await call(`DELETE /${held}?force=true`)).status).toBe(204);
  expect((await call(`GET /${held}`)).status).toBe(404);
  expect(await tenant.store.queryRows(CredentialsItem, { channel: held })).toEqual({ items: [] });
});

it("an in-app channel verifies at once without credentials, as often as it is asked (D-INAPP-CH, CHN-18)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create, get } = await channelCalls(world, tenant);
  const id = await create("in_app");
  expect(await get(id)).toMatchObject({ status: "pending" });
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "active", verified_at: "2026-11-20T12:00:00.000Z" });
  await world.advance(60_000);
  expect(await call(`POST /${id}/verify`)).toMatchObject({ status: 202, body: { status: "queued" } });
  const [asked] = (await listChannels(tenant.store)).filter((channel) => channel.id === id);
  expect([asked!.status, isUsable(asked!)]).toEqual(["pending", true]);
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "active", verified_at: "2026-11-20T12:01:00.000Z" });
});

it("verify is 404 without credentials, and for an unknown channel (CHN-18)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  for (const id of [await create("sms"), UNKNOWN])
    expect(await call(`POST /${id}/verify`)).toMatchObject({ status: 404, body: { code: "NOT_FOUND" } });
});

it("a workspace holds at most 100 channels", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);
  for (let n = 1; n < 100; n++)
    expect((await call("POST /", { body: { type: "sms", name: `${n}` } })).status).toBe(201);
  expect(await call("POST /", { body: { type: "sms", name: "100" } })).toMatchObject({
    status: 429,
    body: { code: "QUOTA_EXCEEDED" },
  });
});
