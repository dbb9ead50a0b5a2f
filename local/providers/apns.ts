// The embedded APNs: Apple's headers, provider tokens, limits and reasons.
import { SECOND } from "../../shared/kernel/clock.ts";
import {
  accept,
  acceptCredentials,
  type Refusal,
  readJson,
  readToken,
  type Sink,
  type SinkAnswer,
  type SinkDeps,
} from "./sink.ts";

const MAX_PAYLOAD_BYTES = 4_096;
const MAX_COLLAPSE_BYTES = 64;
const TOKEN_SECONDS = 3_600;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NO_DEVICE = /^0{64}$/;

const answers: Record<Refusal, readonly [status: number, reason: string]> = {
  permanent: [400, "DeviceTokenNotForTopic"],
  invalid_token: [410, "Unregistered"],
  transient: [503, "ServiceUnavailable"],
  rate_limited: [429, "TooManyRequests"],
};

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
      const [words, fine] = ["InvalidProviderToken", refuse(400, "BadDeviceToken")];
      return acceptCredentials(deps, "ios", { words, refuse: (said) => refuse(403, said), fine });
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
    const { subscriber_id, notification_id: job_id } = payload;
    const { title, body: text } = alert;
    const message = { channel: "ios", to: token, subscriber_id, job_id, title, body: text, payload, headers } as const;
    const accepted = { status: 200, headers: { "apns-id": id } };
    return accept(
      deps,
      message,
      (fault) => refuse(...answers[fault]),
      () => accepted,
    );
  };
}
