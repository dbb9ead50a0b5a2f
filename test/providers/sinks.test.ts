// The embedded providers refuse what the real ones refuse, with the same messages.
import { expect, it } from "vitest";
import { type EgressRequest, openEgress } from "../../shared/egress/egress.ts";
import { rawKeyPair, signToken } from "../../shared/providers/tokens.ts";
import { credentials } from "../support/provider-messages.ts";
import { START } from "../support/world.ts";
import { shared } from "../support/worlds.ts";

const NOW = START / 1_000;
const { key, key_id: kid, team_id: iss } = credentials.ios;
const bearer = (iat = NOW) => `bearer ${signToken(key, { kid }, { iss, iat })}`;
const alert = JSON.stringify({ aps: { alert: { body: "x" } } });
const apns = (headers: Record<string, string>, body = alert): EgressRequest => ({
  purpose: "ios",
  http2: true,
  url: "https://api.push.apple.com/3/device/abc",
  body,
  headers: { authorization: bearer(), "apns-topic": "com.example.app", "apns-push-type": "alert", ...headers },
});

const origin = "https://push.example.com";
const { public_key, private_key, subject: sub } = credentials.web_push;
const vapid = (claims: object = {}) => {
  const token = signToken(rawKeyPair(public_key, private_key), {}, { aud: origin, exp: NOW + 3_600, sub, ...claims });
  return `vapid t=${token}, k=${public_key}`;
};
const push = (headers: Record<string, string>, body: string | Buffer = "x"): EgressRequest => ({
  purpose: "web_push",
  url: `${origin}/send/1`,
  body,
  headers: { authorization: vapid(), ttl: "60", "content-encoding": "aes128gcm", ...headers },
});

const fcm = (authorization: string): EgressRequest => ({
  purpose: "android",
  url: "https://fcm.googleapis.com/v1/projects/shop-1/messages:send",
  headers: { authorization },
  body: JSON.stringify({ message: { token: "t" } }),
});
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const token = (fields: Record<string, string>): EgressRequest => ({
  purpose: "android",
  url: "https://oauth2.googleapis.com/token",
  body: form(fields),
});
const sms = (fields: Record<string, string>): EgressRequest => ({
  purpose: "sms",
  url: "https://rest.nexmo.com/sms/json",
  body: form(fields),
});
const chat = (path: string, authorization: string, body: object): EgressRequest => ({
  purpose: "chat_app",
  url: `https://graph.facebook.com/v23.0/${path}`,
  headers: { authorization },
  body: JSON.stringify(body),
});

const untouched = shared((own) => own.fresh());

it.each<[string, EgressRequest, number, string]>([
  ["APNs without a token", apns({ authorization: "" }), 403, "MissingProviderToken"],
  ["APNs with a token that is none", apns({ authorization: "bearer x.y.z" }), 403, "InvalidProviderToken"],
  ["APNs with an old token", apns({ authorization: bearer(NOW - 3_700) }), 403, "ExpiredProviderToken"],
  ["APNs without a topic", apns({ "apns-topic": "" }), 400, "MissingTopic"],
  ["APNs with a long collapse id", apns({ "apns-collapse-id": "x".repeat(65) }), 400, "BadCollapseId"],
  ["APNs with an id that is none", apns({ "apns-id": "x" }), 400, "BadMessageId"],
  ["APNs with another priority", apns({ "apns-priority": "7" }), 400, "BadPriority"],
  ["APNs with an empty payload", apns({}, ""), 400, "PayloadEmpty"],
  ["APNs with more than 4 KB", apns({}, JSON.stringify({ aps: {}, x: "x".repeat(4_096) })), 413, "PayloadTooLarge"],
  ["FCM without a token", fcm(""), 401, "UNAUTHENTICATED"],
  ["FCM with an unknown token", fcm("Bearer ya29.x"), 401, "UNAUTHENTICATED"],
  ["Google without an assertion", token({ grant_type: "x" }), 400, "unsupported_grant_type"],
  [
    "Google with an assertion that is none",
    token({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: "x.y.z" }),
    400,
    "invalid_grant",
  ],
  ["Web Push without a signature", push({ authorization: "" }), 403, "Missing VAPID token"],
  [
    "Web Push for another audience",
    push({ authorization: vapid({ aud: "https://e.com" }) }),
    403,
    "Invalid VAPID token",
  ],
  ["Web Push too late", push({ authorization: vapid({ exp: NOW - 1 }) }), 403, "Invalid VAPID token"],
  ["Web Push for two days", push({ authorization: vapid({ exp: NOW + 172_800 }) }), 403, "Invalid VAPID token"],
  ["Web Push without TTL", push({ ttl: "" }), 400, "Missing TTL"],
  ["Web Push in the old coding", push({ "content-encoding": "aesgcm" }), 400, "Invalid content encoding"],
  ["Web Push with a long topic", push({ topic: "x".repeat(33) }), 400, "Invalid topic"],
  ["Web Push with more than 4 KB", push({}, Buffer.alloc(4_097)), 413, "Payload too large"],
  ["SMS without an account", sms({ to: "491511234567" }), 200, "Missing api_key"],
  ["SMS without a recipient", sms({ api_key: "a", api_secret: "b" }), 200, "Missing to param"],
  ["SMS to a word", sms({ api_key: "a", api_secret: "b", to: "x", from: "y", text: "z" }), 200, "Invalid value"],
  ["the chat app without a token", chat("1/messages", "", {}), 401, "Invalid OAuth access token"],
  ["the chat app without a message", chat("1/messages", "Bearer x", {}), 400, "Invalid parameter"],
  ["the chat app without a template's words", chat("2/message_templates", "Bearer x", {}), 400, "BODY"],
])("%s (D-PROV)", async (_, request, status, words) => {
  const world = await untouched();
  const { clock, network } = world.depsFor("test");
  const exchange = await openEgress({ clock, network: network! }).request(request);
  expect(exchange).toMatchObject({ kind: "answered", status, body: expect.stringContaining(words) });
  expect((await world.call("GET /_local/outbox")).body.items).toEqual([]);
});
