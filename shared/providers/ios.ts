// iOS push by Apple's APNs: HTTP/2 with a provider token (D-PUSH).
import { type Clock, MINUTE, SECOND, uuidOfText } from "../clock.ts";
import type { Egress, EgressRequest, Exchange } from "../egress/egress.ts";
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
import { openMemory, signToken } from "./tokens.ts";

type IosPush = CredentialsFor<"ios">;

const HOSTS = { sandbox: "api.sandbox.push.apple.com", production: "api.push.apple.com" } as const;
/** Apple takes a token for an hour, and complains of one renewed within 20 minutes. */
const TOKEN_MS = 50 * MINUTE;
const MAX_PAYLOAD_BYTES = 4_096;
/** Of an app that was removed, or of another environment. */
const DEAD = new Set(["BadDeviceToken", "Unregistered", "ExpiredToken"]);
const AGAIN = new Set([
  "ExpiredProviderToken",
  "IdleTimeout",
  "InternalServerError",
  "ServiceUnavailable",
  "Shutdown",
  "TooManyProviderTokenUpdates",
  "TooManyRequests",
]);
const AGAIN_STATUSES = new Set([429, 500, 503]);
const NO_DEVICE = "0".repeat(64);

export function iosProvider({ egress, clock }: { egress: Egress; clock: Clock }): Provider<IosPush, Addresses["ios"]> {
  const tokens = openMemory<string>(clock);
  const nameOf = ({ team_id, key_id, key }: IosPush) => `${team_id} ${key_id} ${key}`;

  const ask = async (
    credentials: IosPush,
    { token, environment = credentials.environment }: Addresses["ios"],
    headers: Record<string, string>,
    payload: string,
  ): Promise<Exchange> => {
    const { key, key_id: kid, team_id: iss, bundle_id } = credentials;
    const sign = () => signToken(key, { kid }, { iss, iat: Math.floor(clock.now() / SECOND) });
    const request: EgressRequest = {
      purpose: "apns",
      http2: true,
      url: `https://${HOSTS[environment]}/3/device/${encodeURIComponent(token)}`,
      headers: {
        authorization: `bearer ${tokens.get(nameOf(credentials), TOKEN_MS, sign)}`,
        "apns-topic": bundle_id,
        "apns-push-type": "alert",
        "content-type": "application/json",
        ...headers,
      },
      body: payload,
    };
    const exchange = await egress.request(request);
    if (exchange.outcome === "answered" && reasonOf(exchange.body) === "ExpiredProviderToken")
      tokens.forget(nameOf(credentials));
    return exchange;
  };

  return {
    send: async (credentials, message) => {
      const { job, target, title, body, category = "marketing" } = message;
      const aps = { alert: { ...(title && { title }), body }, sound: "default", "thread-id": category };
      const payload = JSON.stringify({ ...mergedData(message), aps });
      if (Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) return rejected("payload_too_large");
      const id = uuidOfText(`${job}/${target}`);
      const headers = { "apns-id": id, "apns-collapse-id": job, "apns-priority": "10" };
      return outcomeOf(await ask(credentials, message.address, headers, payload), id, clock.now());
    },
    verify: async (credentials) => {
      const exchange = await ask(credentials, { token: NO_DEVICE }, {}, JSON.stringify({ aps: { alert: "" } }));
      if (exchange.outcome !== "answered") return unproven(exchange);
      const reason = reasonOf(exchange.body);
      // That there is no such device is said only to those whose key and topic are right.
      if (exchange.status === 200 || DEAD.has(reason)) return { ok: true };
      const error = reason || `Apple answered ${exchange.status}`;
      return isRepeatable(exchange.status, reason) ? { ok: false, error, mayPass: true } : { ok: false, error };
    },
  };
}

const reasonOf = (body: string): string => String(jsonOf(body).reason ?? "");
const isRepeatable = (status: number, reason: string) => AGAIN.has(reason) || AGAIN_STATUSES.has(status);

function outcomeOf(exchange: Exchange, id: string, now: number): Outcome {
  if (exchange.outcome !== "answered") return withoutAnswer(exchange);
  const { status, headers, body } = exchange;
  if (status === 200) return { status: "accepted", providerId: headers["apns-id"] ?? id };
  const reason = reasonOf(body);
  if (isRepeatable(status, reason)) return retryable(reason || String(status), retryAfter(headers, now));
  // Any other 5xx is from something between Apple and us that may have passed the message on.
  if (status > 500) return { status: "unknown", reason: reason || String(status) };
  return rejected(reason || String(status), DEAD.has(reason) || status === 410);
}
