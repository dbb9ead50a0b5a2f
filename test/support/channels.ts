// Channels and credentials for tests, with real key files and multipart bodies.
import { generateKeyPairSync } from "node:crypto";
import { credentialExample } from "../../shared/contract/credentials.ts";
import { type ProvidedChannel, providedChannels } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

const pem = { type: "pkcs8", format: "pem" } as const;

/** A token-signing key in the format of Apple. */
export const APPLE_KEY = String(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export(pem));
const RSA_KEY = String(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export(pem));

/** A service-account key in the format of Google. */
export const GOOGLE_KEY = {
  type: "service_account",
  project_id: "shop-app",
  private_key_id: "0123456789abcdef",
  private_key: RSA_KEY,
  client_email: "push@shop-app.iam.gserviceaccount.com",
  token_uri: "https://oauth2.googleapis.com/token",
};

export const IOS_FIELDS = { key_id: "ABC123DEFG", team_id: "TEAM123456", bundle_id: "com.example.shop" };
export const SMS = { api_key: "0a1b2c3d", api_secret: "sms-secret-4711", sender_id: "Shop" };
export const CHAT_APP = {
  access_token: "chat-access-token-4711",
  phone_number_id: "106540352242922",
  waba_id: "102290129340398",
  app_secret: "chat-app-secret-4711",
  webhook_verify_token: "chat-verify-token-4711",
};
export const SMTP = {
  provider: "smtp",
  from_email: "shop@example.com",
  from_name: "Shop",
  host: "smtp.example.com",
  port: 587,
  username: "shop",
  password: "smtp-password-4711",
};

const BOUNDARY = "a-boundary";

/** A multipart body of text fields and one file. */
export function form(fields: Record<string, string>, file?: { name: string; text: string }) {
  const parts = Object.entries(fields).map(
    ([name, value]) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`,
  );
  if (file)
    parts.push(
      `content-disposition: form-data; name="${file.name}"; filename="key.p8"\r\n` +
        `content-type: application/octet-stream\r\n\r\n${file.text}`,
    );
  const raw = Buffer.from(`${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join("")}--${BOUNDARY}--\r\n`);
  return { raw, headers: { "content-type": `multipart/form-data; boundary=${BOUNDARY}` } };
}

export const keyFile = (text: string) => ({ name: "key_file", text });

export type UploadPath = (typeof channels)[ProvidedChannel]["credentials"]["path"];

/** Path of the credential endpoint → channel type and short name (AMB-19, CRD-1). */
export const kinds = Object.fromEntries(
  providedChannels.map((type) => {
    const { path, type: short } = channels[type].credentials;
    return [path, { path, type, short }];
  }),
) as Record<UploadPath, { path: UploadPath; type: ProvidedChannel; short: string }>;

interface UploadBody {
  body?: object;
  raw?: Buffer;
  headers?: Record<string, string>;
}

const own: Partial<Record<UploadPath, () => UploadBody>> = {
  "ios-push": () => form(IOS_FIELDS, keyFile(APPLE_KEY)),
  "android-push": () => form({}, keyFile(JSON.stringify(GOOGLE_KEY))),
  vapid: () => ({}),
  sms: () => ({ body: SMS }),
  chat_app: () => ({ body: CHAT_APP }),
  email: () => ({ body: SMTP }),
};

/** A valid body of each credential endpoint, by the last segment of its path: else that of the reference. */
export const uploads = Object.fromEntries(
  Object.values(kinds).map(({ path, type }) => [path, own[path] ?? (() => ({ body: credentialExample(type) }))]),
) as Record<UploadPath, () => UploadBody>;

/** Calls the channel endpoints of one workspace. */
export async function channelCalls(world: TestWorld, tenant: Tenant) {
  const as = await tenant.dashboard();
  let made = 0;
  const call = async (
    route: string,
    options: { body?: unknown; headers?: Headers; raw?: Buffer } = {},
  ): Promise<Answer> =>
    world.call(route.replace(" /", " /api/v1/channels/").replace(/\/$/, ""), {
      as: await tenant.dashboard(),
      ...options,
    });
  const create = async (type: string, name = `${type} ${++made}`): Promise<string> =>
    (await call("POST /", { body: { type, name } })).body.id;
  const upload = (id: string, path: UploadPath, options: object = uploads[path]()): Promise<Answer> =>
    call(`POST /${id}/credentials/${path}`, options);
  const get = async (id: string) => (await call(`GET /${id}`)).body;
  return { as, call, create, upload, get };
}
