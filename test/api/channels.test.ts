// Channels as their callers see them (CHN).
import { expect, it } from "vitest";
import { channelTypes } from "../../shared/rules/channel-types.ts";
import { isUsable, listChannels } from "../../shared/store/channels/channels.ts";
import { CredentialsItem } from "../../shared/store/channels/items.ts";
import { channelCalls } from "../support/channels.ts";
import { mailsOf, SES } from "../support/mails.ts";
import { addPeople, send } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a new channel is pending and enabled, and has no fields of a verification (CHN-1, CHN-4, CHN-6, CHN-7, CHN-8, CHN-12)", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);

  const { status, body } = await call("POST /", { body: { type: "ios", name: " Our app " } });
  await world.settle();

  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "ios",
    name: "Our app",
    active: true,
    status: "pending",
    created_at: "2026-11-20T12:00:00.000Z",
  });
  expect((await call(`GET /${body.id}`)).body).toEqual(body);
});

it("a channel has one of seven types (CHN-2, GEN-5, GEN-9)", async () => {
  const { world, tenant } = await withTenant();
  const { call } = await channelCalls(world, tenant);

  expect(channelTypes).toEqual(["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"]);
  for (const type of channelTypes)
    expect(await call("POST /", { body: { type, name: type } })).toMatchObject({ status: 201, body: { type } });
});

it.each<[wrong: string, field: string, change: object]>([
  ["a name that is taken (CHN-3, AMB-18)", "name", { name: "taken" }],
  ["a blank name (CHN-3)", "name", { name: "   " }],
  ["a name of 129 emojis (CHN-3)", "name", { name: "🎉".repeat(129) }],
])("a channel is refused with 422 for %s, naming the %s (CHN-12)", async (_, field, change) => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  await create("sms", "taken");

  const { status, body } = await call("POST /", { body: { type: "ios", name: "free", ...change } });

  expect(status).toBe(422);
  expect(body.code).toBe("VALIDATION_ERROR");
  expect(Object.keys(body.fields)).toEqual([field]);
});

it.each([
  ["128 characters", "n".repeat(128)],
  ["128 emojis", "🎉".repeat(128)],
])("a channel may have a name of %s, also if another workspace has it (CHN-3)", async (_, name) => {
  const { world, tenant } = await withTenant();
  const { create } = await channelCalls(world, await world.tenant());
  await create("sms", name);
  const { call } = await channelCalls(world, tenant);

  expect((await call("POST /", { body: { type: "ios", name } })).status).toBe(201);
});

it("a channel of a type outside the plan is refused with its own body (CHN-13, ERR-20)", async () => {
  const { world, tenant } = await withTenant({ plan: "growth" });
  const { call } = await channelCalls(world, tenant);

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

it("channels are listed oldest first, as each is read (CHN-14, CHN-15)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create, get } = await channelCalls(world, tenant);
  await world.advance(1_000);
  const ios = await create("ios");
  await world.advance(1_000);
  const email = await create("email");

  const { channels } = (await call("GET /")).body;

  expect(channels.map(({ type }: { type: string }) => type)).toEqual(["in_app", "ios", "email"]);
  expect(channels.slice(1)).toEqual([await get(ios), await get(email)]);
});

it.each([
  ["its state", { active: false }],
  ["its name", { name: "third" }],
  ["nothing", {}],
])("a change of a channel changes %s alone (CHN-16)", async (_, body) => {
  const { world, tenant } = await withTenant();
  const { call, create, get } = await channelCalls(world, tenant);
  const id = await create("sms", "first");
  const before = await get(id);

  const answer = await call(`PATCH /${id}`, { body });

  expect(answer.status).toBe(200);
  expect(answer.body).toEqual({ ...before, ...body });
});

it("the name that a channel gave up is free (CHN-3, CHN-16)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  await call(`PATCH /${await create("sms", "first")}`, { body: { name: "second" } });

  expect((await call("POST /", { body: { type: "ios", name: "first" } })).status).toBe(201);
});

it.each<[wrong: string, body: object]>([
  ["a name that is taken (CHN-3)", { name: "taken" }],
  ["a type", { type: "ios" }],
  ["a status", { status: "active" }],
])("a change of a channel is refused with 422 for %s (CHN-16)", async (_, body) => {
  const { world, tenant } = await withTenant();
  const { call, create, get } = await channelCalls(world, tenant);
  await create("sms", "taken");
  const id = await create("sms", "free");
  const before = await get(id);

  const answer = await call(`PATCH /${id}`, { body });

  expect(answer.status).toBe(422);
  expect(Object.keys(answer.body.fields)).toEqual(Object.keys(body));
  expect(await get(id)).toEqual(before);
});

it("a channel that is deleted frees its name (CHN-17)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  const id = await create("sms", "bare");

  await call(`DELETE /${id}`);

  expect((await call("POST /", { body: { type: "sms", name: "bare" } })).status).toBe(201);
});

it.each([
  [409, "without force", ""],
  [409, "with force=false", "?force=false"],
  [422, "with a force that is neither", "?force=maybe"],
])("%i is the answer to a deletion of a channel with credentials %s (CHN-17)", async (status, _, query) => {
  const { world, tenant } = await withTenant();
  const { call, create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");

  expect((await call(`DELETE /${id}${query}`)).status).toBe(status);

  expect((await call(`GET /${id}`)).status).toBe(200);
});

it("a channel with credentials is deleted with force, and its credentials with it (CHN-17)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  await upload(id, "sms");

  expect((await call(`DELETE /${id}?force=true`)).status).toBe(204);

  expect((await call(`GET /${id}`)).status).toBe(404);
  expect(await tenant.store.queryRows(CredentialsItem, { channel: id })).toEqual({ items: [] });
});

it("an in-app channel is verified at once without credentials (D-INAPP-CH)", async () => {
  const { world, tenant } = await withTenant();
  const { create, get } = await channelCalls(world, tenant);
  const id = await create("in_app");
  expect(await get(id)).toMatchObject({ status: "pending" });

  await world.settle();

  expect(await get(id)).toMatchObject({ status: "active", verified_at: "2026-11-20T12:00:00.000Z" });
});

it("an in-app channel is verified again when it is asked to, and usable meanwhile (D-INAPP-CH, CHN-18)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create, get } = await channelCalls(world, tenant);
  const id = await create("in_app");
  await world.advance(60_000);

  const { status, body } = await call(`POST /${id}/verify`);

  expect(status).toBe(202);
  expect(body.status).toBe("queued");
  const asked = (await listChannels(tenant.store)).find((channel) => channel.id === id)!;
  expect(asked.status).toBe("pending");
  expect(isUsable(asked)).toBe(true);
  await world.settle();
  expect(await get(id)).toMatchObject({ status: "active", verified_at: "2026-11-20T12:01:00.000Z" });
});

it("a channel without credentials is not verified: 404 (CHN-18)", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);

  const { status, body } = await call(`POST /${await create("sms")}/verify`);

  expect(status).toBe(404);
  expect(body.code).toBe("NOT_FOUND");
});

it("the channel after the 100th of a workspace is refused with 429", async () => {
  const { world, tenant } = await withTenant();
  const { call, create } = await channelCalls(world, tenant);
  for (let n = 1; n < 100; n++) await create("sms", `${n}`);

  const { status, body } = await call("POST /", { body: { type: "sms", name: "100" } });

  expect(status).toBe(429);
  expect(body.code).toBe("QUOTA_EXCEEDED");
  expect((await call("GET /")).body.channels).toHaveLength(100);
});

it("of two channels of one type that a send names the first one sends (NTF-23)", async () => {
  const { world, tenant } = await withTenant();
  const opened: string[] = [];
  for (const from_email of ["first@example.com", "second@example.com"]) {
    const { email = "" } = await openChannels(world, tenant, "email");
    await tenant.call(`PATCH /api/v1/channels/${email}`, { name: from_email });
    await tenant.call(`POST /api/v1/channels/${email}/credentials/email`, { ...SES, from_email });
    await world.settle();
    opened.push(email);
  }
  await addPeople(world, tenant, 1, () => ({ email: "ada@example.com" }));

  const senders: unknown[] = [];
  for (const channel_ids of [opened, opened.toReversed()]) {
    const { job } = await send(world, tenant, { target: { type: "all" }, channel_ids });
    for (const { headers } of await mailsOf(world, `&job_id=${job.id}`)) senders.push(headers.From);
  }

  expect(senders).toEqual(["Shop <first@example.com>", "Shop <second@example.com>"]);
});
