// Web Push: encrypted for the browser, signed for the push service (RFC 8030, 8291, 8292; D-PUSH).
import { createECDH, createHash } from "node:crypto";
import type { CredentialsFor } from "../contract/credentials.ts";
import { type Egress, TIMEOUT_MS } from "../egress/egress.ts";
import { type Clock, DAY, HOUR, SECOND } from "../kernel/clock.ts";
import type { Ids } from "../kernel/ids.ts";
import {
  type Addresses,
  type AnsweredExchange,
  jsonOf,
  type OutgoingMessage,
  type Provider,
  rejected,
  retryable,
  unverifiable,
  unverified,
} from "./provider.ts";
import { fitted, mergedData, type PushAnswer, pushOutcome } from "./push.ts";
import { openTokenCache, rawKeyPair, signToken } from "./tokens.ts";
import { encryptPush, MAX_PLAINTEXT_BYTES } from "./web-push-encryption.ts";

type Vapid = CredentialsFor<"web_push">;

/** How long a push service keeps a message for an offline browser. */
const TTL_SECONDS = (4 * 7 * DAY) / SECOND;
/** RFC 8292 allows 24 hours. */
const TOKEN_MS = 12 * HOUR;
const REUSED_MS = 11 * HOUR;
/** An endpoint without a subscription: requests to it check only the signature. */
const CHECKED_ENDPOINT = "https://updates.push.services.mozilla.com/wpush/v2/credentials-check";
const REFUSED = new Set([401, 403]);
const GONE = new Set([404, 410]);
/** The push services of browsers. A page may name any other host, which only affects its own subscription. */
const SERVICES =
  /^(fcm\.googleapis\.com|android\.googleapis\.com|(.+\.)?(push\.services\.mozilla|push\.apple|notify\.windows)\.com)$/;
const MAX_LOCATION_CHARACTERS = 200;
/** A group of recipients waits for its slowest answer. */
const OTHER_HOST_TIMEOUT_MS = 3 * SECOND;

/** Pushes to browsers (RFC 8030): the content is encrypted for the subscription, and the request signed with the VAPID key. */
export function webPushProvider({
  egress,
  clock,
  ids,
}: {
  egress: Egress;
  clock: Clock;
  ids: Ids;
}): Provider<Vapid, Addresses["web_push"]> {
  const tokens = openTokenCache(
    clock,
    REUSED_MS,
    ({ aud, private_key, subject }: Vapid & { aud: string }) => `${aud} ${private_key} ${subject}`,
    ({ aud, public_key, private_key, subject }) => {
      const exp = Math.floor((clock.now() + TOKEN_MS) / SECOND);
      return signToken(rawKeyPair(public_key, private_key), {}, { aud, exp, sub: subject });
    },
  );
  const authorization = (endpoint: string, credentials: Vapid): string => {
    const token = tokens.get({ ...credentials, aud: new URL(endpoint).origin });
    return `vapid t=${token}, k=${credentials.public_key}`;
  };

  return {
    send: async (credentials, message) => {
      const { endpoint, keys } = message.address;
      const { collapse_key: tag = message.job, ttl_seconds = TTL_SECONDS } = message.push ?? {};
      const refusal = egress.refusal(endpoint, "web_push");
      if (refusal !== undefined) return rejected(`the endpoint ${refusal}`, { addressDead: true });
      const plaintextOf = (shortened: typeof message) => Buffer.from(JSON.stringify(payloadOf(shortened, tag)));
      const sent = fitted(message, (candidate) => plaintextOf(candidate).length <= MAX_PLAINTEXT_BYTES);
      if (!sent) return rejected("payload_too_large");

      const plaintext = plaintextOf(sent.message);
      const sealed = sealedFor(plaintext, keys, ids);
      if (!sealed) return rejected("invalid_subscription_keys", { addressDead: true });
      const headers = {
        authorization: authorization(endpoint, credentials),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(ttl_seconds),
        urgency: "normal",
        topic: topicOf(tag),
      };

      // Another host never slows the channel, nor sets how long a send waits.
      const isOfService = SERVICES.test(new URL(endpoint).hostname);
      const timeoutMs = isOfService ? TIMEOUT_MS : OTHER_HOST_TIMEOUT_MS;
      const exchange = await egress.request({ purpose: "web_push", url: endpoint, headers, body: sealed, timeoutMs });
      const outcome = pushOutcome(exchange, clock.now(), sent, readAnswer);
      return outcome.kind === "retryable" && !isOfService ? retryable(outcome.reason) : outcome;
    },
    // Checks that the keys are a pair, then that a push service accepts their signature. A push service reports an
    // unknown subscription only after it has checked the signature, or it does not check signatures.
    verify: async (credentials) => {
      const error = pairError(credentials);
      if (error) return unverified(error);
      const headers = { authorization: authorization(CHECKED_ENDPOINT, credentials), ttl: "0" };
      const exchange = await egress.request({ purpose: "web_push", url: CHECKED_ENDPOINT, headers });
      if (exchange.kind !== "answered") return unverifiable(exchange);
      if (!REFUSED.has(exchange.status)) return { kind: "verified" };
      return unverified(String(jsonOf(exchange.body).message ?? "The push service refused the signature"));
    },
  };
}

/** The payload for `showNotification`: a button is an action, and its target is in the data. */
function payloadOf(message: OutgoingMessage<Addresses["web_push"]>, tag: string) {
  const { title, body, push: { image_url: image, buttons, badge } = {} } = message;
  return {
    title,
    body,
    tag,
    ...(image !== undefined && { image }),
    ...(buttons && { actions: buttons.map(({ id: action, title: label }) => ({ action, title: label })) }),
    data: { ...mergedData(message), ...(badge !== undefined && { badge }) },
  };
}

function pairError({ public_key, private_key }: Vapid): string | undefined {
  const pair = createECDH("prime256v1");
  try {
    pair.setPrivateKey(Buffer.from(private_key, "base64url"));
  } catch {
    return "The private key is no key of P-256";
  }
  const isPair = pair.getPublicKey("base64url") === public_key;
  return isPair ? undefined : "The public key does not belong to the private key";
}

/** At most 32 base64url characters (RFC 8030): a browser shows only one of two messages of a job. */
const topicOf = (job: string): string =>
  createHash("sha256").update(job).digest().subarray(0, 24).toString("base64url");

function sealedFor(plaintext: Buffer, keys: Addresses["web_push"]["keys"], ids: Ids): Buffer | undefined {
  try {
    return encryptPush(plaintext, keys, ids.bytes);
  } catch {
    return undefined;
  }
}

const readAnswer = ({ status, headers }: AnsweredExchange): PushAnswer => ({
  isAccepted: status >= 200 && status < 300,
  providerId: headers.location?.slice(0, MAX_LOCATION_CHARACTERS),
  reason: status === 413 ? "payload_too_large" : String(status),
  addressDead: GONE.has(status),
});
