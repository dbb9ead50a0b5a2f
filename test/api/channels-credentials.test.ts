// Credentials are stored and confirmed, and never returned (CRD).

import { createECDH } from "node:crypto";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { credentialSchema } from "../../shared/contract/credentials.ts";
import { calledWorkspace } from "../../shared/http/callbacks.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { ChannelItem, CredentialsItem } from "../../shared/store/channels/items.ts";
import {
  APPLE_KEY,
  CHAT_APP,
  channelCalls,
  form,
  GOOGLE_KEY,
  IOS_FIELDS,
  keyFile,
  kinds,
  SMS,
  SMTP,
  type UploadPath,
  uploads,
} from "../support/channels.ts";
import { opened } from "../support/opened-credentials.ts";
import { UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const paths = Object.keys(uploads) as UploadPath[];

describe.each(paths)("%s", (path) => {
  const { type, short } = kinds[path];

  it("is confirmed by its short name, with exactly these fields (CRD-1, CRD-3, CRD-4, CRD-5, CRD-6, CRD-7, GEN-5, GEN-7, D-EMAIL)", async () => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    const id = await create(type);
    const { status, body } = await upload(id, path);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      channel_id: id,
      type: short,
      created_at: "2026-11-20T12:00:00.000Z",
      updated_at: "2026-11-20T12:00:00.000Z",
      ...(path === "vapid" && { vapid_public_key: expect.stringMatching(/^[\w-]{87}$/) }),
    });
    expect(v.safeParse(credentialSchema(type), await opened(world, tenant, id)).success).toBe(true);
  });

  it("replaces the stored ones: the same confirmation, a later update, and another verification is queued (CRD-8, CHN-11)", async () => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    const id = await create(type);
    const first = await upload(id, path);
    const before = await tenant.store.get(ChannelItem, { id });
    await world.advance(MINUTE);
    const second = await upload(id, path);
    expect(second.body).toMatchObject({ id: first.body.id, created_at: first.body.created_at });
    expect(second.body.updated_at).toBe("2026-11-20T12:01:00.000Z");
    const after = await tenant.store.get(ChannelItem, { id });
    expect(after).toMatchObject({ status: "pending", queued_at: "2026-11-20T12:01:00.000Z" });
    expect(after!.credentials).not.toBe(before!.credentials);
    expect(after!.verification).not.toBe(before!.verification);
  });

  it("is 422 for every other type of channel, 404 for an unknown channel or another workspace's (AMB-19)", async () => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    for (const other of ["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"].filter(
      (each) => each !== type,
    )) {
      const answer = await upload(await create(other), path);
      expect([other, answer.status, answer.body.fields]).toEqual([other, 422, { type: expect.stringContaining(type) }]);
    }
    const stranger = await channelCalls(world, await world.tenant());
    const [foreign, missing] = [await stranger.upload(await create(type), path), await stranger.upload(UNKNOWN, path)];
    expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
  });
});

it("the environment is sandbox by default; the other fields and the key file are required and checked (CRD-3)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("ios");
  await upload(id, "ios-push");
  expect(await opened(world, tenant, id)).toEqual({
    type: "ios_push",
    key: APPLE_KEY,
    ...IOS_FIELDS,
    environment: "sandbox",
  });
  await upload(id, "ios-push", form({ ...IOS_FIELDS, environment: "production" }, keyFile(APPLE_KEY)));
  expect(await opened(world, tenant, id)).toMatchObject({ environment: "production" });

  const refusal = async (fields: Record<string, string>, file?: { name: string; text: string }) => {
    const { status, body } = await upload(id, "ios-push", form(fields, file));
    return [status, ...Object.keys(body.fields ?? {})];
  };
  const good = keyFile(APPLE_KEY);
  const { key_id: _k, ...noKeyId } = IOS_FIELDS;
  const { team_id: _t, ...noTeam } = IOS_FIELDS;
  const { bundle_id: _b, ...noBundle } = IOS_FIELDS;
  expect(await refusal(noKeyId, good)).toEqual([422, "key_id"]);
  expect(await refusal({ ...IOS_FIELDS, key_id: "ABC123DEF" }, good)).toEqual([422, "key_id"]);
  expect(await refusal({ ...IOS_FIELDS, key_id: "ABC123DEFGH" }, good)).toEqual([422, "key_id"]);
  expect(await refusal(noTeam, good)).toEqual([422, "team_id"]);
  expect(await refusal({ ...IOS_FIELDS, team_id: "" }, good)).toEqual([422, "team_id"]);
  expect(await refusal(noBundle, good)).toEqual([422, "bundle_id"]);
  expect(await refusal({ ...IOS_FIELDS, environment: "test" }, good)).toEqual([422, "environment"]);
  expect(await refusal(IOS_FIELDS)).toEqual([422, "key_file"]);
  expect(await refusal(IOS_FIELDS, { name: "file", text: APPLE_KEY })).toEqual([422, "key_file"]);
  const asText = await upload(id, "ios-push", form({ ...IOS_FIELDS, key_file: APPLE_KEY }));
  expect(asText).toMatchObject({ status: 422, body: { fields: { key_file: "must be sent as a file" } } });
  for (const text of ["", "not a key", GOOGLE_KEY.private_key, APPLE_KEY.slice(0, 90)])
    expect(await refusal(IOS_FIELDS, keyFile(text))).toEqual([422, "key_file"]);
  expect(await refusal(IOS_FIELDS, keyFile("x".repeat(65_537)))).toEqual([413]);
  expect((await upload(id, "ios-push", { body: IOS_FIELDS })).status).toBe(400);
});

it("a service-account key is JSON with its fields, or 422 naming the file (CRD-4, AMB-91)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("android");
  await upload(id, "android-push");
  const { project_id, client_email, private_key, private_key_id } = GOOGLE_KEY;
  expect(await opened(world, tenant, id)).toEqual({
    type: "android_push",
    project_id,
    client_email,
    private_key,
    private_key_id,
  });
  const without = (field: string) => JSON.stringify({ ...GOOGLE_KEY, [field]: undefined });
  const wrong = [
    ...["", "{", "null", "[]", '"text"', "{}", JSON.stringify({ ...GOOGLE_KEY, type: "authorized_user" })],
    ...["project_id", "client_email", "private_key"].map(without),
    JSON.stringify({ ...GOOGLE_KEY, private_key: "not a key" }),
  ];
  for (const text of wrong) {
    const { status, body } = await upload(id, "android-push", form({}, keyFile(text)));
    expect([text.slice(0, 60), status, Object.keys(body.fields)]).toEqual([text.slice(0, 60), 422, ["key_file"]]);
  }
  expect((await upload(id, "android-push", form({}))).body.fields).toEqual({ key_file: "is required" });
});

it("the key pair is generated: the public key belongs to the sealed private one, and each pair is different (CRD-5)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("web_push");
  const { vapid_public_key: first } = (await upload(id, "vapid")).body;
  const sealed = (await opened(world, tenant, id)) as { private_key: string; public_key: string; subject: string };
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(sealed.private_key, "base64url");
  expect([pair.getPublicKey("base64url"), sealed.public_key]).toEqual([first, first]);
  expect(sealed.subject).toMatch(/^mailto:/);
  expect((await upload(id, "vapid")).body.vapid_public_key).not.toBe(first);
});

it.each([
  ["sms", "sms", SMS, ["api_key", "api_secret", "sender_id"]],
  ["chat_app", "chat_app", CHAT_APP, ["access_token", "phone_number_id", "waba_id"]],
  ["email", "email", SMTP, ["provider", "from_email", "host"]],
] as const)(
  "%s: what is required, empty or unknown is 422 naming it (CRD-6, CRD-7, D-EMAIL, AMB-91)",
  async (path, type, body, required) => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    const id = await create(type);
    for (const field of required)
      for (const value of [undefined, "", 7, null]) {
        const answer = await upload(id, path, { body: { ...body, [field]: value } });
        expect([field, value, answer.status, Object.keys(answer.body.fields)]).toEqual([field, value, 422, [field]]);
      }
    expect((await upload(id, path, { body: { ...body, more: "x" } })).body.fields).toEqual({
      more: "is not a known field",
    });
    const optional = {
      sms: SMS,
      chat_app: { ...CHAT_APP, app_secret: undefined, webhook_verify_token: undefined },
      email: { provider: "ses", from_email: "a@example.com" },
    };
    expect((await upload(id, path, { body: optional[path] })).status).toBe(200);
  },
);

it.each([
  ["127.0.0.1", 587, "host"],
  ["169.254.169.254", 25, "host"],
  ["::1", 465, "host"],
  ["mail.internal", undefined, "host"],
  ["smtp.example.com", 22, "port"],
])(
  "the SMTP server %s:%s is refused when it is uploaded, naming the %s (ARC-16, D-EMAIL)",
  async (host, port, field) => {
    const { world, tenant } = await withTenant();
    const { create, upload, get } = await channelCalls(world, tenant);
    const id = await create("email");
    const { status, body } = await upload(id, "email", { body: { ...SMTP, host, port } });
    expect([status, Object.keys(body.fields)]).toEqual([422, [field]]);
    expect(await tenant.store.get(CredentialsItem, { channel: id })).toBeUndefined();
    expect((await get(id)).status).toBe("pending");
  },
);

it("with an app secret the provider may call back about existing channels only (CRD-7)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload, call } = await channelCalls(world, tenant);
  const called = calledWorkspace.open(world.depsFor("test"))("" as TenantId);
  const ownerOf = async (channel: string) => (await called(channel))?.store.tenant;
  const [silent, calling] = [await create("chat_app"), await create("chat_app")];
  await upload(silent, "chat_app", { body: { ...CHAT_APP, app_secret: undefined } });
  await upload(calling, "chat_app");
  expect([await ownerOf(silent), await ownerOf(calling)]).toEqual([undefined, tenant.id]);
  const stranger = await channelCalls(world, await world.tenant());
  expect((await stranger.call(`DELETE /${calling}?force=true`)).status).toBe(404);
  expect(await ownerOf(calling)).toBe(tenant.id);
  await call(`DELETE /${calling}?force=true`);
  expect(await ownerOf(calling)).toBeUndefined();
});
