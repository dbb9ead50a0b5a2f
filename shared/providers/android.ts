// Android push by Firebase Cloud Messaging, HTTP v1, with an access token for a service account (D-PUSH).
import { type Clock, HOUR, MINUTE, SECOND } from "../clock.ts";
import type { Egress, Exchange } from "../egress/egress.ts";
import {
  type Addresses,
  type CredentialsFor,
  jsonOf,
  mergedData,
  type Outcome,
  type Outgoing,
  type Provider,
  rejected,
  retryAfter,
  retryable,
  unproven,
  type Verification,
  withoutAnswer,
} from "./provider.ts";
import { openMemory, signToken } from "./tokens.ts";

type AndroidPush = CredentialsFor<"android">;
type Answered = Extract<Exchange, { outcome: "answered" }>;

/** Google's own, whatever the uploaded key names: a tenant does not choose where assertions go. */
const TOKEN_URL = "https://oauth2.googleapis.com/token";
const SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
const TOKEN_MS = 50 * MINUTE;
const MAX_PAYLOAD_BYTES = 4_096;
const AGAIN = new Set(["QUOTA_EXCEEDED", "UNAVAILABLE", "INTERNAL", "UNAUTHENTICATED"]);
const AGAIN_STATUSES = new Set([429, 500, 503]);
const NO_DEVICE = "credentials-check";

export function androidProvider({
  egress,
  clock,
}: {
  egress: Egress;
  clock: Clock;
}): Provider<AndroidPush, Addresses["android"]> {
  const tokens = openMemory<Promise<string | Exchange>>(clock);
  const nameOf = ({ client_email, private_key }: AndroidPush) => `${client_email} ${private_key}`;

  const exchangeToken = async ({ client_email, private_key, private_key_id }: AndroidPush) => {
    const iat = Math.floor(clock.now() / SECOND);
    const claims = { iss: client_email, scope: SCOPE, aud: TOKEN_URL, iat, exp: iat + HOUR / SECOND };
    const assertion = signToken(private_key, private_key_id ? { kid: private_key_id } : {}, claims);
    const form = new URLSearchParams({ grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const exchange = await egress.request({ purpose: "fcm", url: TOKEN_URL, headers, body: form.toString() });
    if (exchange.outcome !== "answered" || exchange.status !== 200) return exchange;
    const { access_token } = jsonOf(exchange.body);
    return typeof access_token === "string" ? access_token : exchange;
  };

  /** An access token, or what came in its place. */
  const accessToken = async (credentials: AndroidPush): Promise<string | Exchange> => {
    const token = await tokens.get(nameOf(credentials), TOKEN_MS, () => exchangeToken(credentials));
    if (typeof token !== "string") tokens.forget(nameOf(credentials));
    return token;
  };

  const ask = async (credentials: AndroidPush, token: string, body: string): Promise<Exchange> => {
    const url = `https://fcm.googleapis.com/v1/projects/${encodeURIComponent(credentials.project_id)}/messages:send`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const exchange = await egress.request({ purpose: "fcm", url, headers, body });
    if (exchange.outcome === "answered" && exchange.status === 401) tokens.forget(nameOf(credentials));
    return exchange;
  };

  return {
    send: async (credentials, message) => {
      const request = requestOf(message);
      if (Buffer.byteLength(JSON.stringify([request.notification, request.data])) > MAX_PAYLOAD_BYTES)
        return rejected("payload_too_large");
      const token = await accessToken(credentials);
      if (typeof token !== "string") return withoutToken(token, clock.now());
      return outcomeOf(await ask(credentials, token, JSON.stringify({ message: request })), clock.now());
    },
    verify: async (credentials) => {
      const token = await accessToken(credentials);
      if (typeof token !== "string") return unprovenToken(token);
      const check = { validate_only: true, message: { token: NO_DEVICE, notification: { title: "check" } } };
      const exchange = await ask(credentials, token, JSON.stringify(check));
      return exchange.outcome === "answered" ? verdictOf(exchange) : unproven(exchange);
    },
  };
}

function requestOf(message: Outgoing<Addresses["android"]>) {
  const { address, job, title, body } = message;
  const data = Object.entries(mergedData(message)).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return {
    token: address.token,
    notification: { ...(title && { title }), body },
    data: Object.fromEntries(data) as Record<string, string>,
    android: { collapse_key: job, priority: "HIGH", notification: { tag: job } },
  };
}

interface Refusal {
  code: string;
  message: string;
  /** The field that was found wrong. */
  fields: string[];
}

function refusalOf({ status, body }: Answered): Refusal {
  const { error } = jsonOf(body) as { error?: { status?: string; message?: string; details?: Detail[] } };
  const details = Array.isArray(error?.details) ? error.details : [];
  const code = details.find(({ errorCode }) => errorCode)?.errorCode ?? error?.status ?? String(status);
  const fields = details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field = "" }) => field));
  return { code, message: error?.message ?? code, fields };
}
interface Detail {
  errorCode?: string;
  fieldViolations?: { field?: string }[];
}

/** A registration that is gone, or that never was one. */
const isDead = ({ code, fields }: Refusal): boolean =>
  code === "UNREGISTERED" || (code === "INVALID_ARGUMENT" && fields.includes("message.token"));

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.outcome !== "answered") return withoutAnswer(exchange);
  const { status, headers, body } = exchange;
  if (status === 200) {
    const { name } = jsonOf(body);
    return { status: "accepted", ...(typeof name === "string" && { providerId: name }) };
  }
  const refusal = refusalOf(exchange);
  if (AGAIN.has(refusal.code) || AGAIN_STATUSES.has(status)) return retryable(refusal.code, retryAfter(headers, now));
  if (status > 500) return { status: "unknown", reason: refusal.code };
  return rejected(refusal.code, isDead(refusal));
}

/** Without a token nothing of the message was sent. */
function withoutToken(exchange: Exchange, now: number): Outcome {
  if (exchange.outcome === "not_sent" && exchange.isRefused) return rejected(exchange.reason);
  if (exchange.outcome !== "answered") return retryable(exchange.reason);
  const { status, headers, body } = exchange;
  if (status === 429 || status >= 500 || status === 200) return retryable("no_token", retryAfter(headers, now));
  return rejected(String(jsonOf(body).error ?? status));
}

function unprovenToken(exchange: Exchange): Verification {
  if (exchange.outcome !== "answered") return unproven(exchange);
  const { error, error_description } = jsonOf(exchange.body);
  const said = String(error_description ?? error ?? `Google answered ${exchange.status}`);
  return exchange.status >= 500 ? { ok: false, error: said, mayPass: true } : { ok: false, error: said };
}

/** That the device is unknown is said only to those who may send to the project. */
function verdictOf(exchange: Answered): Verification {
  const refusal = refusalOf(exchange);
  const isProven = exchange.status === 200 || isDead(refusal) || refusal.code === "INVALID_ARGUMENT";
  if (isProven) return { ok: true };
  const error = refusal.message;
  return exchange.status === 429 || exchange.status >= 500 ? { ok: false, error, mayPass: true } : { ok: false, error };
}
