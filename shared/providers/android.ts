// Android push by Firebase Cloud Messaging, HTTP v1, with an access token for a service account (D-PUSH).
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import type { Exchange } from "../egress/exchange.ts";
import { type Clock, HOUR, MINUTE, SECOND } from "../kernel/clock.ts";
import {
  type Addresses,
  type AnsweredExchange,
  jsonOf,
  type Outcome,
  type OutgoingMessage,
  type Provider,
  refusedForNow,
  rejected,
  retryable,
  unverifiable,
  unverified,
  type Verification,
} from "./provider.ts";
import { fitted, mergedData, pushOutcome } from "./push.ts";
import { openTokenCache, signToken } from "./tokens.ts";

type AndroidPush = CredentialsFor<"android">;

/** Google's own URL; that of an uploaded key is ignored, so that a tenant cannot redirect assertions. */
const TOKEN_URL = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
const TOKEN_MS = 50 * MINUTE;
const MAX_PAYLOAD_BYTES = 4_096;
const RETRYABLE = new Set(["QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL", "UNAUTHENTICATED"]);
/** Names that Google reserves: it refuses messages with them, which other channels send. */
const RESERVED = /^(from$|message_type$|google|gcm)/;
const NO_DEVICE = "credentials-check";

/** Pushes by Firebase Cloud Messaging, with an access token for each service account. */
export function androidProvider({
  egress,
  clock,
}: {
  egress: Egress;
  clock: Clock;
}): Provider<AndroidPush, Addresses["android"]> {
  const tokens = openTokenCache(
    clock,
    TOKEN_MS,
    ({ client_email, private_key }: AndroidPush) => `${client_email} ${private_key}`,
    (credentials) => exchangeToken({ egress, clock }, credentials),
  );

  /** An access token, or the failed exchange. */
  const accessToken = async (credentials: AndroidPush): Promise<string | Exchange> => {
    const token = await tokens.get(credentials);
    if (typeof token !== "string") tokens.delete(credentials);
    return token;
  };

  const request = async (credentials: AndroidPush, token: string, body: object): Promise<Exchange> => {
    const exchange = await egress.request(requestOf(credentials.project_id, token, body));
    if (exchange.kind === "answered" && exchange.status === 401) tokens.delete(credentials);
    return exchange;
  };

  return {
    send: async (credentials, outgoing) => {
      const sent = fitted(outgoing, (message) => bytesOf(messageOf(message)) <= MAX_PAYLOAD_BYTES);
      if (!sent) return rejected("payload_too_large");
      const message = messageOf(sent.message);
      const token = await accessToken(credentials);
      if (typeof token !== "string") return withoutToken(token, clock.now());
      const exchange = await request(credentials, token, { message });
      return pushOutcome(exchange, clock.now(), sent, (answer) => {
        const refusal = refusalOf(answer);
        const { name } = jsonOf(answer.body);
        return {
          isAccepted: answer.status === 200 && name !== undefined,
          providerId: name,
          reason: refusal.code,
          isRetryable: RETRYABLE.has(refusal.code),
          addressDead: isDead(refusal),
        };
      });
    },
    verify: async (credentials) => {
      const token = await accessToken(credentials);
      if (typeof token !== "string") return verifyWithoutToken(token);
      const message = { token: NO_DEVICE, notification: { title: "check" } };
      const exchange = await request(credentials, token, { validate_only: true, message });
      if (exchange.kind !== "answered") return unverifiable(exchange);
      const { status } = exchange;
      const refusal = refusalOf(exchange);
      // Only a caller with the right to send to the project learns about an unknown device.
      if (status === 200 || isDead(refusal) || refusal.code === "INVALID_ARGUMENT") return { kind: "verified" };
      return unverified(refusal.message, { isTemporary: status === 429 || status >= 500 });
    },
  };
}

/** Exchanges a signed assertion for an access token. @returns the failed exchange if there is no token */
async function exchangeToken(
  { egress, clock }: { egress: Egress; clock: Clock },
  { client_email, private_key, private_key_id }: AndroidPush,
): Promise<string | Exchange> {
  const iat = Math.floor(clock.now() / SECOND);
  const claims = { iss: client_email, scope: SCOPE, aud: TOKEN_URL, iat, exp: iat + HOUR / SECOND };
  const assertion = signToken(private_key, private_key_id ? { kid: private_key_id } : {}, claims);
  const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const exchange = await egress.request({ purpose: "android", url: TOKEN_URL, headers, body: form.toString() });
  if (exchange.kind !== "answered" || exchange.status !== 200) return exchange;
  const { access_token } = jsonOf(exchange.body);
  return typeof access_token === "string" ? access_token : exchange;
}

const requestOf = (project: string, token: string, body: object) => ({
  purpose: "android" as const,
  url: `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(project)}/messages:send`,
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
  body: JSON.stringify(body),
});

function messageOf(outgoing: OutgoingMessage<Addresses["android"]>) {
  const { address, job, title, body, push = {} } = outgoing;
  const { image_url, sound, badge, collapse_key = job, ttl_seconds } = push;
  const data: Record<string, string> = {};
  for (const [name, value] of Object.entries(mergedData(outgoing)))
    if (!RESERVED.test(name)) data[name] = typeof value === "string" ? value : JSON.stringify(value);
  return {
    token: address.token,
    notification: { ...(title && { title }), body, ...(image_url !== undefined && { image: image_url }) },
    data,
    android: {
      collapse_key,
      priority: "HIGH",
      ...(ttl_seconds !== undefined && { ttl: `${ttl_seconds}s` }),
      notification: {
        tag: collapse_key,
        ...(sound !== undefined && { sound }),
        ...(badge !== undefined && { notification_count: badge }),
      },
    },
  };
}

const bytesOf = ({ notification, data }: ReturnType<typeof messageOf>): number =>
  Buffer.byteLength(JSON.stringify([notification, data]));

interface ErrorDetail {
  errorCode?: string;
  fieldViolations?: { field?: string }[];
}
interface ErrorAnswer {
  error: { status?: string; message?: string; details?: ErrorDetail[] };
}

interface Refusal {
  code: string;
  message: string;
  fields: string[];
}

function refusalOf({ status, body }: AnsweredExchange): Refusal {
  const { error } = jsonOf<ErrorAnswer>(body);
  const details = Array.isArray(error?.details) ? error.details : [];
  const code = details.find(({ errorCode }) => errorCode)?.errorCode ?? error?.status ?? String(status);
  const fields = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field = "" }) => field));
  return { code, message: error?.message ?? code, fields };
}

/** The registration was removed, or never existed. */
const isDead = ({ code, fields }: Refusal): boolean =>
  code === "UNREGISTERED" || (code === "INVALID_ARGUMENT" && fields.includes("message.token"));

/** The outcome without a token: nothing of the message was sent. */
function withoutToken(exchange: Exchange, now: number): Outcome {
  if (exchange.kind === "not_sent" && exchange.isRefused) return rejected(exchange.reason);
  if (exchange.kind !== "answered") return retryable(exchange.reason);
  const { status, body } = exchange;
  if (status === 429 || status >= 500) return refusedForNow(exchange, "no_token", now);
  if (status === 200) return retryable("no_token");
  return rejected(String(jsonOf(body).error ?? status));
}

function verifyWithoutToken(exchange: Exchange): Verification {
  if (exchange.kind !== "answered") return unverifiable(exchange);
  const { error, error_description } = jsonOf(exchange.body);
  return unverified(String(error_description ?? error ?? `Google answered ${exchange.status}`), {
    isTemporary: exchange.status >= 500,
  });
}
