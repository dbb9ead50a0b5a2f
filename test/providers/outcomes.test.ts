// The outcome of each documented answer of a provider, row by row.
import { expect, it } from "vitest";
import type { SinkAnswer, SinkRequest } from "../../local/providers/sink.ts";
import type { Outcome } from "../../shared/providers/provider.ts";
import { openProviders } from "../../shared/providers/providers.ts";
import { type ProvidedChannel, providedChannels } from "../../shared/rules/channel-types.ts";
import { answeringNetwork } from "../support/networks.ts";
import { addresses, GOOGLE_TOKEN, sendBy } from "../support/provider-messages.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** Sends a message by a channel whose provider gives this answer. */
async function sendTo(channel: ProvidedChannel, answer: SinkAnswer) {
  const world = await fresh();
  const sink = ({ host }: SinkRequest) => (host === "oauth2.googleapis.com" ? GOOGLE_TOKEN : answer);
  const providers = openProviders({ ...world.depsFor("test"), network: answeringNetwork(sink) });
  const message = channel === "web_push" ? { address: subscribedAt("fcm.googleapis.com") } : {};
  return { addressDead: false, ...(await sendBy(providers, channel, message)) };
}

const subscribedAt = (host: string) => ({ ...addresses.web_push, endpoint: `https://${host}/send/abc` });

type Row = [answer: string, kind: Outcome["kind"], more?: object];
const dead = { addressDead: true };
const alive = { addressDead: false };

const apns: Row[] = [
  ["200", "accepted", { providerId: expect.any(String) }],
  ["400 BadDeviceToken", "rejected", dead],
  ["400 BadTopic", "rejected", alive],
  ["400 DeviceTokenNotForTopic", "rejected", alive],
  ["400 BadCollapseId", "rejected", alive],
  ["400 PayloadEmpty", "rejected", alive],
  ["400 TopicDisallowed", "rejected", alive],
  ["400 IdleTimeout", "retryable"],
  ["403 InvalidProviderToken", "rejected", alive],
  ["403 MissingProviderToken", "rejected", alive],
  ["403 ExpiredProviderToken", "retryable"],
  ["404 BadPath", "rejected", alive],
  ["405 MethodNotAllowed", "rejected", alive],
  ["410 Unregistered", "rejected", dead],
  ["410 ExpiredToken", "rejected", dead],
  ["413 PayloadTooLarge", "rejected", alive],
  ["429 TooManyProviderTokenUpdates", "retryable"],
  ["429 TooManyRequests", "retryable"],
  ["500 InternalServerError", "retryable"],
  ["503 ServiceUnavailable", "retryable"],
  ["503 Shutdown", "retryable"],
  ["502 ", "unknown"],
  ["504 ", "unknown"],
];

it.each(apns)("APNs %s: %s (NTF-23)", async (answer, kind, more = {}) => {
  const [code, reason] = answer.split(" ");
  const body = reason === undefined ? "" : { reason };
  expect(await sendTo("ios", { status: Number(code), body })).toMatchObject({ kind, ...more });
});

const fcm: Row[] = [
  ["400 INVALID_ARGUMENT message.token", "rejected", dead],
  ["400 INVALID_ARGUMENT message.data", "rejected", alive],
  ["401 THIRD_PARTY_AUTH_ERROR", "rejected", alive],
  ["401 UNAUTHENTICATED", "retryable"],
  ["403 SENDER_ID_MISMATCH", "rejected", alive],
  ["403 PERMISSION_DENIED", "rejected", alive],
  ["404 UNREGISTERED", "rejected", dead],
  ["404 NOT_FOUND", "rejected", alive],
  ["429 QUOTA_EXCEEDED", "retryable"],
  ["500 INTERNAL", "retryable"],
  ["503 UNAVAILABLE", "retryable"],
  ["502 BAD_GATEWAY", "unknown"],
];

it.each(fcm)("FCM %s: %s (NTF-23)", async (answer, kind, more = {}) => {
  const [code, word, field] = answer.split(" ");
  const details = [{ errorCode: word }, ...(field ? [{ fieldViolations: [{ field }] }] : [])];
  const body = { error: { code: Number(code), status: word, message: word, details } };
  expect(await sendTo("android", { status: Number(code), body })).toMatchObject({ kind, ...more });
});

const webPush: Row[] = [
  ["200", "accepted"],
  ["201", "accepted"],
  ["202", "accepted"],
  ["301", "rejected", alive],
  ["307", "rejected", alive],
  ["400", "rejected", alive],
  ["401", "rejected", alive],
  ["403", "rejected", alive],
  ["404", "rejected", dead],
  ["410", "rejected", dead],
  ["413", "rejected", { reason: "payload_too_large" }],
  ["429", "retryable"],
  ["500", "retryable"],
  ["502", "unknown"],
  ["503", "retryable"],
  ["504", "unknown"],
];

it.each(webPush)("Web Push %s: %s (NTF-23)", async (code, kind, more = {}) => {
  expect(await sendTo("web_push", { status: Number(code), body: "" })).toMatchObject({ kind, ...more });
});

const sms: Row[] = [
  ["0", "accepted", { providerId: "m-1" }],
  ["1", "retryable", { reason: "throttled" }],
  ["2", "rejected", alive],
  ["3", "rejected", alive],
  ["4", "rejected", { reason: "invalid_credentials" }],
  ["5", "retryable"],
  ["6", "rejected", alive],
  ["7", "rejected", dead],
  ["8", "rejected", alive],
  ["9", "rejected", { reason: "quota_violation" }],
  ["10", "retryable"],
  ["11", "rejected"],
  ["12", "rejected", { reason: "message_too_long" }],
  ["14", "rejected"],
  ["15", "rejected", { reason: "invalid_sender" }],
  ["22", "rejected"],
  ["23", "rejected"],
  ["29", "rejected", { reason: "destination_not_permitted" }],
  ["32", "rejected"],
  ["33", "rejected", dead],
  ["77", "rejected", { reason: "status_77" }],
];

it.each(sms)("SMS status %s: %s (NTF-23)", async (code, kind, more = {}) => {
  const messages = [{ status: code, "message-id": "m-1" }];
  expect(await sendTo("sms", { status: 200, body: { messages } })).toMatchObject({ kind, ...more });
});

it.each([
  [429, "retryable"],
  [503, "retryable"],
  [401, "rejected"],
  [500, "unknown"],
  [502, "unknown"],
  [200, "unknown"],
])("SMS without a status, HTTP %i: %s (NTF-23)", async (code, kind) => {
  expect(await sendTo("sms", { status: code, body: "<html>" })).toMatchObject({ kind });
});

it.each([
  ["android", 400, { error: { details: [null] } }],
  ["android", 400, { error: { details: [{ fieldViolations: null }] } }],
  ["sms", 200, { messages: [null] }],
  ["chat_app", 200, { messages: [null] }],
  ["chat_app", 200, { messages: "failed" }],
] as const)(
  "an answer that is not of the protocol of %s leaves its message unconfirmed: %i %j (NTF-23)",
  async (channel, status, body) => {
    expect(await sendTo(channel, { status, body })).toMatchObject({ kind: "unknown" });
  },
);

it.each(providedChannels.filter((channel) => channel !== "email"))(
  "a 503 of %s is a throttle where it says when to try again, and an attempt where it does not (AMB-111)",
  async (channel) => {
    const later = await sendTo(channel, { status: 503, body: "", headers: { "retry-after": "5" } });

    expect(later).toMatchObject({ kind: "retryable", isThrottled: true, retryAfterSeconds: 5 });
    expect(await sendTo(channel, { status: 503, body: "" })).not.toHaveProperty("isThrottled");
  },
);

it("SMS with one accepted part is accepted (NTF-23)", async () => {
  const messages = [{ status: "1" }, { status: "0", "message-id": "m-2" }];
  expect(await sendTo("sms", { status: 200, body: { messages } })).toMatchObject({
    kind: "accepted",
    providerId: "m-2",
  });
});

it.each([
  ["sms", 3_200, { messages: [{ status: "0", "message-id": "m-1" }] }],
  ["chat_app", 4_096, { messages: [{ id: "m-1" }] }],
] as const)(
  "%s takes a text of %i characters, and refuses a longer one without a request (NTF-23)",
  async (channel, max, body) => {
    const world = await fresh();
    let asked = 0;
    const network = answeringNetwork(() => {
      asked++;
      return { status: 200, body };
    });
    const providers = openProviders({ ...world.depsFor("test"), network });
    const send = (length: number) => sendBy(providers, channel, { title: "", body: "x".repeat(length) });

    expect(await send(max)).toMatchObject({ kind: "accepted" });
    expect(await send(max + 1)).toMatchObject({ kind: "rejected", reason: "message_too_long" });
    expect(asked).toBe(1);
  },
);

const chatApp: Row[] = [
  ["400 100", "rejected"],
  ["401 0", "rejected"],
  ["401 190", "rejected"],
  ["403 10", "rejected"],
  ["403 200", "rejected"],
  ["503 2", "retryable"],
  ["400 4", "retryable"],
  ["400 80007", "retryable"],
  ["429 130429", "retryable"],
  ["500 131000", "unknown"],
  ["500 1", "unknown"],
  ["403 131005", "rejected"],
  ["400 131008", "rejected"],
  ["400 131009", "rejected"],
  ["500 131016", "retryable"],
  ["400 131021", "rejected"],
  ["400 131026", "rejected"],
  ["400 131047", "rejected"],
  ["400 131048", "retryable"],
  ["400 131051", "rejected"],
  ["400 131056", "retryable"],
  ["400 132000", "rejected"],
  ["404 132001", "rejected"],
  ["400 132015", "rejected"],
  ["503 133004", "retryable"],
  ["500", "unknown"],
  ["502", "unknown"],
  ["503", "retryable"],
];

it.each(chatApp)("chat app %s: %s (NTF-23)", async (answer, kind) => {
  const [http, code] = answer.split(" ");
  const body = code === undefined ? "" : { error: { code: Number(code), message: "…" } };
  expect(await sendTo("chat_app", { status: Number(http), body })).toMatchObject({ kind });
});

it.each<[channel: ProvidedChannel, what: string, body: object | string, kind: Outcome["kind"]]>([
  ["android", "nothing", "", "unknown"],
  ["android", "the page of a proxy", "<html>Welcome</html>", "unknown"],
  ["chat_app", "nothing", "", "unknown"],
  ["chat_app", "the page of a proxy", "<html>Welcome</html>", "unknown"],
  ["chat_app", "no message", { messages: [] }, "unknown"],
  ["chat_app", "an error", { error: { code: 131026, message: "…" } }, "rejected"],
  ["chat_app", "an error that passes", { error: { code: 131056, message: "…" } }, "retryable"],
])("%s, HTTP 200 with %s: a message is not taken for sent (NTF-23)", async (channel, _, body, kind) => {
  expect(await sendTo(channel, { status: 200, body })).toMatchObject({ kind });
});

it.each(["ios", "android", "web_push", "sms", "chat_app"] as const)(
  "%s says how long to wait where the provider does (NTF-23)",
  async (channel) => {
    const answer = { status: 429, headers: { "retry-after": "17" }, body: {} };
    expect(await sendTo(channel, answer)).toMatchObject({ kind: "retryable", retryAfterSeconds: 17 });
  },
);

it.each([
  ["fcm.googleapis.com", { isThrottled: true, retryAfterSeconds: 86_400 }],
  ["updates.push.services.mozilla.com", { isThrottled: true, retryAfterSeconds: 86_400 }],
  ["web.push.apple.com", { isThrottled: true, retryAfterSeconds: 86_400 }],
  ["wns2-par02p.notify.windows.com", { isThrottled: true, retryAfterSeconds: 86_400 }],
  ["push.example.com", {}],
  ["notify.windows.com.example.com", {}],
])("Web Push: what %s says of waiting is of %j for the channel (AMB-111)", async (host, more) => {
  const world = await fresh();
  const answer = { status: 429, headers: { "retry-after": "86400" }, body: "" };
  const providers = openProviders({ ...world.depsFor("test"), network: answeringNetwork(() => answer) });

  const outcome = await sendBy(providers, "web_push", { address: subscribedAt(host) });

  expect(outcome).toEqual({ kind: "retryable", reason: "429", ...more });
});
