// Web Push: encrypted for the browser, signed for the push service (RFC 8030, 8291, 8292; D-PUSH).
import { createECDH, createHash } from "node:crypto";
import { type Clock, DAY, HOUR, type Ids, SECOND } from "../clock.ts";
import type { Egress, Exchange } from "../egress/egress.ts";
import {
  type Addresses,
  type CredentialsFor,
  jsonOf,
  mergedData,
  type Outcome,
  type Provider,
  rejected,
  retryAfter,
  retryable,
  unproven,
  withoutAnswer,
} from "./provider.ts";
import { openMemory, rawKeyPair, signToken } from "./tokens.ts";
import { encryptPush, MAX_PLAINTEXT_BYTES } from "./web-push-encryption.ts";

type Vapid = CredentialsFor<"web_push">;

/** How long a push service keeps a message for a browser that is away. */
const TTL_SECONDS = (4 * 7 * DAY) / SECOND;
/** RFC 8292 allows 24 hours. */
const TOKEN_MS = 12 * HOUR;
const REUSED_MS = 11 * HOUR;
/** Where the signature alone is tried. */
const CHECKED_ENDPOINT = "https://updates.push.services.mozilla.com/wpush/v2/credentials-check";
const REFUSED = new Set([401, 403]);
const GONE = new Set([404, 410]);
const AGAIN_STATUSES = new Set([429, 500, 503]);

export function webPushProvider({
  egress,
  clock,
  ids,
}: {
  egress: Egress;
  clock: Clock;
  ids: Ids;
}): Provider<Vapid, Addresses["web_push"]> {
  const tokens = openMemory<string>(clock);

  const authorization = (endpoint: string, { public_key, private_key, subject }: Vapid): string => {
    const { origin: aud } = new URL(endpoint);
    const token = tokens.get(`${aud} ${private_key} ${subject}`, REUSED_MS, () => {
      const exp = Math.floor((clock.now() + TOKEN_MS) / SECOND);
      return signToken(rawKeyPair(public_key, private_key), {}, { aud, exp, sub: subject });
    });
    return `vapid t=${token}, k=${public_key}`;
  };

  return {
    send: async (credentials, message) => {
      const { address, job, title, body } = message;
      const { endpoint, keys } = address;
      const refusal = egress.refusal(endpoint, "web-push");
      if (refusal !== undefined) return rejected(`the endpoint ${refusal}`, true);
      const plaintext = Buffer.from(JSON.stringify({ title, body, tag: job, data: mergedData(message) }));
      if (plaintext.length > MAX_PLAINTEXT_BYTES) return rejected("payload_too_large");
      const sealed = sealedFor(plaintext, keys, ids);
      if (!sealed) return rejected("invalid_subscription_keys", true);
      const headers = {
        authorization: authorization(endpoint, credentials),
        "content-encoding": "aes128gcm",
        "content-type": "application/octet-stream",
        ttl: String(TTL_SECONDS),
        urgency: "normal",
        topic: topicOf(job),
      };
      const exchange = await egress.request({ purpose: "web-push", url: endpoint, headers, body: sealed });
      return outcomeOf(exchange, clock.now());
    },
    // Whether the two keys are a pair can be told here; whether a push service takes their signature, by one that has
    // no such subscription: it says so only after it looked at the signature, or does not look at it.
    verify: async (credentials) => {
      const error = pairError(credentials);
      if (error) return { ok: false, error };
      const headers = { authorization: authorization(CHECKED_ENDPOINT, credentials), ttl: "0" };
      const exchange = await egress.request({ purpose: "web-push", url: CHECKED_ENDPOINT, headers });
      if (exchange.outcome !== "answered") return unproven(exchange);
      if (!REFUSED.has(exchange.status)) return { ok: true };
      return { ok: false, error: String(jsonOf(exchange.body).message ?? "The push service refused the signature") };
    },
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

/** At most 32 characters of the base64url alphabet (RFC 8030): of two messages of one job a browser shows one. */
export const topicOf = (job: string): string =>
  createHash("sha256").update(job).digest().subarray(0, 24).toString("base64url");

function sealedFor(plaintext: Buffer, keys: Addresses["web_push"]["keys"], ids: Ids): Buffer | undefined {
  try {
    return encryptPush(plaintext, keys, ids.bytes);
  } catch {
    return undefined;
  }
}

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.outcome !== "answered") return withoutAnswer(exchange);
  const { status, headers } = exchange;
  if (status >= 200 && status < 300)
    return { status: "accepted", ...(headers.location && { providerId: headers.location }) };
  if (AGAIN_STATUSES.has(status)) return retryable(String(status), retryAfter(headers, now));
  if (status > 500) return { status: "unknown", reason: String(status) };
  return rejected(status === 413 ? "payload_too_large" : String(status), GONE.has(status));
}
