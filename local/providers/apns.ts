// The embedded APNs: Apple's headers, provider tokens, limits and reasons.
import { SECOND } from "../../shared/kernel/clock.ts";
import {
  faultOf,
  HANGS,
  readJson,
  readToken,
  record,
  refusedCredentials,
  type Sink,
  type SinkAnswer,
  type SinkDeps,
} from "./sink.ts";

const MAX_PAYLOAD_BYTES = 4_096;
const MAX_COLLAPSE_BYTES = 64;
const TOKEN_SECONDS = 3_600;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NO_DEVICE = /^0{64}$/;

const answers = {
  permanent: [400, "DeviceTokenNotForTopic"],
  invalid_token: [410, "Unregistered"],
  transient: [503, "ServiceUnavailable"],
  rate_limited: [429, "TooManyRequests"],
} as const;

export function apnsSink(deps: SinkDeps): Sink {
  const { clock, ids } = deps;

  const tokenError = (authorization = ""): string | undefined => {
    const [scheme, text = ""] = authorization.split(" ");
    if (scheme?.toLowerCase() !== "bearer") return "MissingProviderToken";
    const token = readToken(text);
    const { alg, kid } = token?.header ?? {};
    const { iss, iat } = token?.claims ?? {};
    if (alg !== "ES256" || typeof kid !== "string" || typeof iss !== "string") return "InvalidProviderToken";
    const age = clock.now() / SECOND - Number(iat);
    return Math.abs(age) <= TOKEN_SECONDS ? undefined : "ExpiredProviderToken";
  };

  return ({ method, path, headers, body }) => {
    const id = headers["apns-id"] ?? ids.uuid();
    const refuse = (status: number, reason: string): SinkAnswer => ({
      status,
      headers: { "apns-id": id },
      body: { reason, ...(status === 410 && { timestamp: clock.now() }) },
    });
    if (method !== "POST") return refuse(405, "MethodNotAllowed");
    const [, , device] = /^\/3\/(device)\/([^/]+)$/.exec(path) ?? [];
    if (!device) return refuse(404, "BadPath");
    const token = decodeURIComponent(device);
    const wrongToken = tokenError(headers.authorization);
    if (wrongToken) return refuse(403, wrongToken);
    if (NO_DEVICE.test(token)) {
      const refused = refusedCredentials(deps, "ios", "InvalidProviderToken");
      if (refused === HANGS) return HANGS;
      return refused ? refuse(403, refused.said) : refuse(400, "BadDeviceToken");
    }
    if (!UUID.test(id)) return refuse(400, "BadMessageId");
    if (!headers["apns-topic"]) return refuse(400, "MissingTopic");
    if (!headers["apns-push-type"]) return refuse(400, "InvalidPushType");
    if (Buffer.byteLength(headers["apns-collapse-id"] ?? "") > MAX_COLLAPSE_BYTES) return refuse(400, "BadCollapseId");
    if (!["1", "5", "10"].includes(headers["apns-priority"] ?? "10")) return refuse(400, "BadPriority");
    if (body.length === 0) return refuse(400, "PayloadEmpty");
    if (body.length > MAX_PAYLOAD_BYTES) return refuse(413, "PayloadTooLarge");
    const payload = readJson(body);
    const { alert } = (payload?.aps ?? {}) as { alert?: { title?: string; body?: string } };
    if (!payload || !alert) return refuse(400, "BadPayload");
    const { subscriber_id } = payload;
    const fault = faultOf(deps, "ios", subscriber_id);
    if (fault === "timeout") return HANGS;
    if (fault) {
      const [status, reason] = answers[fault];
      return refuse(status, reason);
    }
    const whose = { subscriber_id, job_id: payload.notification_id };
    record(deps, { channel: "ios", to: token, ...whose, title: alert.title, body: alert.body, payload, headers });
    return { status: 200, headers: { "apns-id": id } };
  };
}
