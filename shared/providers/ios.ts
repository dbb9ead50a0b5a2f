// iOS push by Apple's APNs: HTTP/2 with a provider token (D-PUSH).
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import type { Exchange } from "../egress/exchange.ts";
import { type Clock, MINUTE, SECOND } from "../kernel/clock.ts";
import { MAX_COLLAPSE_KEY } from "../rules/content-kinds.ts";
import { uuidOfText } from "../store/hash.ts";
import {
  type Addresses,
  type AnsweredExchange,
  jsonOf,
  type OutgoingMessage,
  type Provider,
  rejected,
  unverifiable,
  unverified,
} from "./provider.ts";
import { fitted, isRetryableStatus, mergedData, type PushAnswer, pushOutcome } from "./push.ts";
import { openTokenCache, signToken } from "./tokens.ts";

type IosPush = CredentialsFor<"ios">;

const HOSTS = { sandbox: "api.sandbox.push.apple.com", production: "api.push.apple.com" } as const;
/** Apple accepts a token for an hour, and refuses tokens that are renewed within 20 minutes. */
const TOKEN_MS = 50 * MINUTE;
const MAX_PAYLOAD_BYTES = 4_096;
/** The app was removed, or the token is of another environment. */
const DEAD = new Set(["BadDeviceToken", "Unregistered", "ExpiredToken"]);
const RETRYABLE = new Set([
  "ExpiredProviderToken",
  "IdleTimeout",
  "InternalServerError",
  "ServiceUnavailable",
  "Shutdown",
  "TooManyProviderTokenUpdates",
  "TooManyRequests",
]);
const NO_DEVICE = "0".repeat(64);

/** Pushes by Apple's service over HTTP/2, with a signed token for each key of a team. */
export function iosProvider({ egress, clock }: { egress: Egress; clock: Clock }): Provider<IosPush, Addresses["ios"]> {
  const tokens = openTokenCache(
    clock,
    TOKEN_MS,
    ({ team_id, key_id, key }: IosPush) => `${team_id} ${key_id} ${key}`,
    ({ team_id, key_id, key }) =>
      signToken(key, { kid: key_id }, { iss: team_id, iat: Math.floor(clock.now() / SECOND) }),
  );

  const request = async (
    credentials: IosPush,
    { token, environment = credentials.environment }: Addresses["ios"],
    headers: Record<string, string>,
    payload: string,
  ): Promise<Exchange> => {
    const exchange = await egress.request({
      purpose: "ios",
      http2: true,
      url: `https://${HOSTS[environment]}/3/device/${encodeURIComponent(token)}`,
      headers: {
        authorization: `bearer ${tokens.get(credentials)}`,
        "apns-topic": credentials.bundle_id,
        "apns-push-type": "alert",
        "content-type": "application/json",
        ...headers,
      },
      body: payload,
    });
    if (exchange.kind === "answered" && reasonOf(exchange.body) === "ExpiredProviderToken") tokens.delete(credentials);
    return exchange;
  };

  return {
    send: async (credentials, message) => {
      const { job, target, push: { collapse_key, ttl_seconds } = {} } = message;
      const sent = fitted(message, (candidate) => Buffer.byteLength(payloadOf(candidate)) <= MAX_PAYLOAD_BYTES);
      if (!sent) return rejected("payload_too_large");
      const id = uuidOfText(`${job}/${target}`);
      const expiresAt = ttl_seconds === 0 ? 0 : Math.floor(clock.now() / SECOND) + (ttl_seconds ?? 0);
      const headers = {
        "apns-id": id,
        "apns-collapse-id": collapseId(collapse_key, job),
        "apns-priority": "10",
        ...(ttl_seconds !== undefined && { "apns-expiration": String(expiresAt) }),
      };
      const exchange = await request(credentials, message.address, headers, payloadOf(sent.message));
      return pushOutcome(exchange, clock.now(), sent, (answer) => readAnswer(answer, id));
    },
    verify: async (credentials) => {
      const exchange = await request(credentials, { token: NO_DEVICE }, {}, JSON.stringify({ aps: { alert: "" } }));
      if (exchange.kind !== "answered") return unverifiable(exchange);
      const { status, body } = exchange;
      const reason = reasonOf(body);
      // Apple reports an unknown device only if key and topic are correct.
      if (status === 200 || DEAD.has(reason)) return { kind: "verified" };
      return unverified(reason || `Apple answered ${status}`, {
        isTemporary: RETRYABLE.has(reason) || isRetryableStatus(status),
      });
    },
  };
}

function payloadOf(message: OutgoingMessage<Addresses["ios"]>): string {
  const { title, body, push = {}, category = "marketing" } = message;
  const { image_url, buttons, sound = "default", badge } = push;
  const aps = {
    alert: { ...(title && { title }), body },
    sound,
    "thread-id": category,
    ...(badge !== undefined && { badge }),
    // The app's service extension loads the image. The app registers a category of this name, with its buttons.
    ...((image_url !== undefined || buttons) && { "mutable-content": 1 }),
    ...(buttons && { category: buttons.map(({ id }) => id).join(".") }),
  };
  return JSON.stringify({ ...mergedData(message), aps });
}

/** A key whose values made it too long is replaced by its hash, so that the same keys still collapse. */
const collapseId = (key: string | undefined, job: string): string =>
  key === undefined || (Buffer.byteLength(key) <= MAX_COLLAPSE_KEY && PRINTABLE.test(key))
    ? (key ?? job)
    : uuidOfText(key);

/** A header has no other characters. */
const PRINTABLE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

function readAnswer({ status, headers, body }: AnsweredExchange, id: string): PushAnswer {
  const reason = reasonOf(body);
  return {
    isAccepted: status === 200,
    providerId: headers["apns-id"] ?? id,
    reason: reason || String(status),
    isRetryable: RETRYABLE.has(reason),
    addressDead: DEAD.has(reason) || status === 410,
  };
}

const reasonOf = (body: string): string => String(jsonOf(body).reason ?? "");
