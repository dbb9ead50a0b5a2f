// One message per channel type, with valid credentials, for tests of providers.
import { createECDH, generateKeyPairSync } from "node:crypto";
import { type CredentialsFor, credentialExample } from "../../shared/contract/credentials.ts";
import type { Addresses, AddressKinds, OutgoingMessage, Providers } from "../../shared/providers/provider.ts";
import { type ProvidedChannel, providedChannels } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";

const pem = { format: "pem", type: "pkcs8" } as const;
const p256 = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

const pair = () => {
  const ecdh = createECDH("prime256v1");
  ecdh.generateKeys();
  return ecdh;
};
const vapid = pair();
/** The browser's side of the subscription. */
export const browser = { keys: pair(), auth: Buffer.alloc(16, 7).toString("base64url") };

/** Of a channel whose credentials are no more than values: those that the reference shows. */
const shown = Object.fromEntries(
  providedChannels.map((channel) => [
    channel,
    { type: channels[channel].credentials.type, ...credentialExample(channel) },
  ]),
);

export const credentials = {
  ...shown,
  ios: {
    type: "ios_push",
    key: p256().privateKey.export(pem) as string,
    key_id: "ABCDE12345",
    team_id: "TEAM123456",
    bundle_id: "com.example.app",
    environment: "production",
  },
  android: {
    type: "android_push",
    project_id: "shop-1",
    client_email: "push@shop-1.iam.gserviceaccount.com",
    private_key: rsa.privateKey.export(pem) as string,
  },
  web_push: {
    type: "vapid",
    public_key: vapid.getPublicKey("base64url"),
    subject: "mailto:ops@example.com",
    private_key: vapid.getPrivateKey("base64url"),
  },
} as { [T in ProvidedChannel]: CredentialsFor<T> };

const addressKinds: AddressKinds = {
  token: { token: "a1".repeat(32) },
  subscription: {
    endpoint: "https://push.example.com/send/abc",
    keys: { p256dh: browser.keys.getPublicKey("base64url"), auth: browser.auth },
  },
  email: { email: "ada@example.org" },
  phone: { phone: "+4915112345678" },
};
export const addresses = Object.fromEntries(
  providedChannels.map((channel) => [channel, addressKinds[channels[channel].address]]),
) as Addresses;

export const JOB = "0193b0a0-0000-7000-8000-000000000001";
export const SUBSCRIBER = "0193b0a0-0000-8000-8000-0000000000aa";

export function messageFor<T extends ProvidedChannel>(
  channel: T,
  more: Partial<OutgoingMessage<Addresses[T]>> = {},
): OutgoingMessage<Addresses[T]> {
  return {
    tenant: "tenant-1",
    job: JOB,
    subscriber: SUBSCRIBER,
    target: channel,
    address: addresses[channel],
    title: "Hello Ada",
    body: "The sale begins – today.",
    ...more,
  };
}

/** Sends by channel type; the compiler cannot see that the three belong together. */
export const sendBy = <T extends ProvidedChannel>(
  providers: Providers,
  channel: T,
  more: Partial<OutgoingMessage<Addresses[T]>> = {},
  own: Partial<CredentialsFor<T>> = {},
) =>
  (providers[channel] as Providers["sms"]).send(
    { ...credentials[channel], ...own } as never,
    messageFor(channel, more) as never,
  );

export const verifyBy = <T extends ProvidedChannel>(
  providers: Providers,
  channel: T,
  own: Partial<CredentialsFor<T>> = {},
) => (providers[channel] as Providers["sms"]).verify({ ...credentials[channel], ...own } as never, "tenant");

/** Google's answer to a request for a token, which Android needs. */
export const GOOGLE_TOKEN = { status: 200, body: { access_token: "ya29.x", expires_in: 3_600 } };
