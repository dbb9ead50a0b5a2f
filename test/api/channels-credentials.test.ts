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
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const paths = Object.keys(uploads) as UploadPath[];

describe.each(paths)("%s", (path) => {
  const { type, short } = kinds[path];

  it(`credentials of ${path} are confirmed by their short name, with exactly these fields (CRD-1, CRD-3, CRD-4, CRD-5, CRD-6, CRD-7, GEN-5, GEN-7, D-EMAIL)`, async () => {
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

  it(`credentials of ${path} replace the stored ones, and are verified anew (CRD-8, CHN-11)`, async () => {
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

  it(`credentials of ${path} are refused with 422 for every other type of channel (AMB-19)`, async () => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    for (const other of ["ios", "android", "web_push", "email", "in_app", "sms", "chat_app"].filter(
      (each) => each !== type,
    )) {
      const answer = await upload(await create(other), path);
      expect(answer.status, other).toBe(422);
      expect(answer.body.fields, other).toEqual({ type: expect.stringContaining(type) });
    }
  });
});

describe("the credentials of iOS", () => {
  const iosIn = async ({ withTenant }: Pick<ReturnType<typeof worlds>, "withTenant">) => {
    const { world, tenant } = await withTenant();
    const { create, upload } = await channelCalls(world, tenant);
    const id = await create("ios");
    return {
      opened: () => opened(world, tenant, id),
      upload: (...parts: Parameters<typeof form>) => upload(id, "ios-push", form(...parts)),
      uploadAsJson: () => upload(id, "ios-push", { body: IOS_FIELDS }),
    };
  };
  const setting = () => iosIn({ withTenant });
  const untouched = shared(iosIn);
  const good = keyFile(APPLE_KEY);

  it.each([
    ["sandbox by default", {}, "sandbox"],
    ["that of the form", { environment: "production" }, "production"],
  ])("credentials of iOS have the environment %s (CRD-3)", async (_, more, environment) => {
    const ios = await setting();
    await ios.upload({ ...IOS_FIELDS, ...more }, good);

    expect(await ios.opened()).toEqual({ type: "ios_push", key: APPLE_KEY, ...IOS_FIELDS, environment });
  });

  const without = (field: keyof typeof IOS_FIELDS): Record<string, string> =>
    Object.fromEntries(Object.entries(IOS_FIELDS).filter(([name]) => name !== field));
  it.each<[what: string, field: string, ...Parameters<typeof form>]>([
    ["without a key id", "key_id", without("key_id"), good],
    ["with a key id of nine characters", "key_id", { ...IOS_FIELDS, key_id: "ABC123DEF" }, good],
    ["with a key id of eleven characters", "key_id", { ...IOS_FIELDS, key_id: "ABC123DEFGH" }, good],
    ["without a team", "team_id", without("team_id"), good],
    ["with an empty team", "team_id", { ...IOS_FIELDS, team_id: "" }, good],
    ["without a bundle", "bundle_id", without("bundle_id"), good],
    ["with another environment", "environment", { ...IOS_FIELDS, environment: "test" }, good],
    ["without a key file", "key_file", IOS_FIELDS],
    ["with a file of another name", "key_file", IOS_FIELDS, { name: "file", text: APPLE_KEY }],
    ["with an empty key", "key_file", IOS_FIELDS, keyFile("")],
    ["with a text in place of a key", "key_file", IOS_FIELDS, keyFile("not a key")],
    ["with a key of another algorithm", "key_file", IOS_FIELDS, keyFile(GOOGLE_KEY.private_key)],
    ["with a part of a key", "key_file", IOS_FIELDS, keyFile(APPLE_KEY.slice(0, 90))],
  ])("credentials of iOS are refused with 422 %s (CRD-3)", async (_, field, ...parts) => {
    const { status, body } = await (await untouched()).upload(...parts);

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual([field]);
  });

  it("credentials of iOS are refused with the key as a text, which must be sent as a file (CRD-3)", async () => {
    const { status, body } = await (await untouched()).upload({ ...IOS_FIELDS, key_file: APPLE_KEY });

    expect(status).toBe(422);
    expect(body.fields).toEqual({ key_file: "must be sent as a file" });
  });

  it("credentials of iOS are refused with 413 with a key file of over 64 KB (CRD-3)", async () => {
    expect((await (await untouched()).upload(IOS_FIELDS, keyFile("x".repeat(65_537)))).status).toBe(413);
  });

  it("credentials of iOS are a form, and no JSON (CRD-3)", async () => {
    expect((await (await untouched()).uploadAsJson()).status).toBe(400);
  });
});

it("a service-account key is kept with the fields that a push needs (CRD-4)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("android");

  await upload(id, "android-push");

  const { project_id, client_email, private_key, private_key_id } = GOOGLE_KEY;
  const kept = { project_id, client_email, private_key, private_key_id };
  expect(await opened(world, tenant, id)).toEqual({ type: "android_push", ...kept });
});

const android = shared(async (own) => {
  const { world, tenant } = await own.withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("android");
  return (...parts: Parameters<typeof form>) => upload(id, "android-push", form(...parts));
});
const googleKey = (change: object) => JSON.stringify({ ...GOOGLE_KEY, ...change });
it.each([
  ["nothing", ""],
  ["a JSON text that is cut off", "{"],
  ["null", "null"],
  ["a list", "[]"],
  ["a text", '"text"'],
  ["an empty object", "{}"],
  ["a key of a user", googleKey({ type: "authorized_user" })],
  ["no project", googleKey({ project_id: undefined })],
  ["no client", googleKey({ client_email: undefined })],
  ["no private key", googleKey({ private_key: undefined })],
  ["a private key that is none", googleKey({ private_key: "not a key" })],
])("a service-account key is refused with 422 for %s in its file (CRD-4, AMB-91)", async (_, text) => {
  const { status, body } = await (await android())({}, keyFile(text));

  expect(status).toBe(422);
  expect(Object.keys(body.fields)).toEqual(["key_file"]);
});

it("a service-account key is refused without its file (CRD-4)", async () => {
  const { body } = await (await android())({});

  expect(body.fields).toEqual({ key_file: "is required" });
});

it("a key pair of web push is generated with each upload, and its public key belongs to the sealed private one (CRD-5)", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("web_push");
  const { vapid_public_key: first } = (await upload(id, "vapid")).body;
  const sealed = (await opened(world, tenant, id)) as { private_key: string; public_key: string; subject: string };
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(sealed.private_key, "base64url");

  expect(pair.getPublicKey("base64url")).toBe(first);
  expect(sealed.public_key).toBe(first);
  expect(sealed.subject).toMatch(/^mailto:/);
  expect((await upload(id, "vapid")).body.vapid_public_key).not.toBe(first);
});

it.each([
  ["sms", "sms", SMS, ["api_key", "api_secret", "sender_id"]],
  ["chat_app", "chat_app", CHAT_APP, ["access_token", "phone_number_id", "waba_id"]],
  ["email", "email", SMTP, ["provider", "from_email", "host"]],
] as const)("the credentials %s need each of their fields, not empty (CRD-6, CRD-7, D-EMAIL)", async (...kind) => {
  const [path, type, body, required] = kind;
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create(type);
  for (const field of required)
    for (const value of [undefined, "", null]) {
      const answer = await upload(id, path, { body: { ...body, [field]: value } });
      expect(answer.status, `${field} ${value}`).toBe(422);
      expect(Object.keys(answer.body.fields), `${field} ${value}`).toEqual([field]);
    }
});

it.each([
  ["chat_app", "chat_app", { ...CHAT_APP, app_secret: undefined, webhook_verify_token: undefined }],
  ["email", "email", { provider: "ses", from_email: "a@example.com" }],
] as const)("the credentials %s need no others (CRD-7, D-EMAIL, AMB-91)", async (path, type, body) => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);

  expect((await upload(await create(type), path, { body })).status).toBe(200);
});

it.each([
  ["127.0.0.1", 587, "host"],
  ["smtp.example.com", 22, "port"],
])(
  "the SMTP server %s:%s is refused when it is uploaded, naming the %s (ARC-16, D-EMAIL)",
  async (host, port, field) => {
    const { world, tenant } = await withTenant();
    const { create, upload, get } = await channelCalls(world, tenant);
    const id = await create("email");
    const { status, body } = await upload(id, "email", { body: { ...SMTP, host, port } });

    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual([field]);
    expect(await tenant.store.get(CredentialsItem, { channel: id })).toBeUndefined();
    expect((await get(id)).status).toBe("pending");
  },
);

describe("callbacks of a chat app", () => {
  /** A chat app with these credentials, and the workspace that a callback about its channel is for. */
  const calling = async (credentials: object = CHAT_APP) => {
    const { world, tenant } = await withTenant();
    const { create, upload, call } = await channelCalls(world, tenant);
    const id = await create("chat_app");
    await upload(id, "chat_app", { body: credentials });
    const called = calledWorkspace.open(world.depsFor("test"))("" as TenantId);
    return { world, tenant, id, call, owner: async () => (await called(id))?.store.tenant };
  };

  it("a chat app with an app secret may call back about its channel (CRD-7)", async () => {
    const { tenant, owner } = await calling();

    expect(await owner()).toBe(tenant.id);
  });

  it("a chat app without an app secret may not call back (CRD-7)", async () => {
    const { owner } = await calling({ ...CHAT_APP, app_secret: undefined });

    expect(await owner()).toBeUndefined();
  });

  it("a chat app may not call back about a channel that was deleted (CRD-7)", async () => {
    const { id, call, owner } = await calling();

    await call(`DELETE /${id}?force=true`);

    expect(await owner()).toBeUndefined();
  });

  it("another workspace cannot take a channel's callbacks away (CRD-7, GEN-8)", async () => {
    const { world, tenant, id, owner } = await calling();
    const stranger = await channelCalls(world, await world.tenant());

    expect((await stranger.call(`DELETE /${id}?force=true`)).status).toBe(404);

    expect(await owner()).toBe(tenant.id);
  });
});
