// The embedded Web Push service for every endpoint. It verifies VAPID, checks limits, and decrypts messages if it can.
import { createDecipheriv, createPublicKey, verify } from "node:crypto";
import { DAY, SECOND } from "../../shared/kernel/clock.ts";
import { keyLog, type LoggedKey } from "../../shared/providers/web-push-encryption.ts";
import { accept, acceptCredentials, readJson, readToken, type Sink, type SinkAnswer, type SinkDeps } from "./sink.ts";

const SALT_BYTES = 16;
const TAG_BYTES = 16;
const HEADER_BYTES = 86;
const MAX_KEPT = 1_024;
const MAX_BODY_BYTES = 4_096;
const VAPID = /^vapid t=([\w.-]+), ?k=([\w-]{87})$/;
const TOPIC = /^[\w-]{1,32}$/;
const CHECK = /\/credentials-check$/;

const refuse = (code: number, message: string): SinkAnswer => ({
  status: code,
  body: { code, errno: 999, error: "Refused", message },
});
const answers = {
  permanent: refuse(400, "Bad request"),
  invalid_token: refuse(410, "Subscription has expired"),
  transient: refuse(503, "Service unavailable"),
  rate_limited: refuse(429, "Too many requests"),
};

export function webPushSink(deps: SinkDeps): Sink {
  const { clock } = deps;
  const verified = new Map<string, string>();

  /** Whether the signature is valid for this push service now. A verified signature is cached. */
  const vapidError = (authorization: string, origin: string): string | undefined => {
    const [, text = "", key = ""] = VAPID.exec(authorization) ?? [];
    const token = readToken(text);
    if (!token || !key) return "Missing VAPID token";
    const { aud, exp, sub } = token.claims;
    const left = Number(exp) - clock.now() / SECOND;
    if (aud !== origin || typeof sub !== "string" || !(left > 0 && left <= DAY / SECOND)) return "Invalid VAPID token";
    if (verified.get(key) === text) return undefined;
    if (!isSigned(text, key)) return "VAPID public key mismatch";
    verified.set(key, text);
    return undefined;
  };

  return ({ method, host, path, headers, body }) => {
    const origin = `https://${host}`;
    if (method !== "POST") return refuse(405, "Method not allowed");
    const wrong = vapidError(headers.authorization ?? "", origin);
    if (wrong) return refuse(403, wrong);
    if (!/^\d{1,9}$/.test(headers.ttl ?? "")) return refuse(400, "Missing TTL header");

    if (CHECK.test(path)) {
      const [words, fine] = ["VAPID public key mismatch", refuse(404, "No such subscription")];
      return acceptCredentials(deps, "web_push", { words, refuse: (said) => refuse(403, said), fine });
    }
    if (headers["content-encoding"] !== "aes128gcm") return refuse(400, "Invalid content encoding");
    if (headers.topic !== undefined && !TOPIC.test(headers.topic)) return refuse(400, "Invalid topic");
    if (body.length > MAX_BODY_BYTES) return refuse(413, "Payload too large");

    const opened = openPush(body);
    const message = opened && readJson(opened);
    const { subscriber_id, notification_id: job_id } = (message?.data ?? {}) as Record<string, unknown>;
    const { title, body: words } = (message ?? {}) as Record<string, unknown>;
    const payload = { ...message, encrypted: body.toString("base64url") };
    const whose = { channel: "web_push", to: `${origin}${path}`, subscriber_id, job_id } as const;

    return accept(
      deps,
      { ...whose, title, body: words, payload, headers },
      (fault) => answers[fault],
      (id) => ({ status: 201, headers: { location: `${origin}/m/${id}` } }),
    );
  };
}

function isSigned(token: string, key: string): boolean {
  const point = Buffer.from(key, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  const at = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(at + 1), "base64url");
  try {
    const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
    const signed = Buffer.from(token.slice(0, at));
    return verify("sha256", signed, { key: publicKey, dsaEncoding: "ieee-p1363" }, signature);
  } catch {
    return false;
  }
}

/** The keys of messages that were encrypted in this process, by salt; the oldest are dropped first. */
const byKey = new Map<string, LoggedKey>();

keyLog.subscribe((logged) => {
  const found = logged as LoggedKey;
  byKey.set(found.salt.toString("hex"), found);
  for (const oldest of byKey.keys()) {
    if (byKey.size <= MAX_KEPT) return;
    byKey.delete(oldest);
  }
});

/** The text of a message; undefined if another process encrypted it. */
function openPush(message: Buffer): Buffer | undefined {
  const keys = byKey.get(message.subarray(0, SALT_BYTES).toString("hex"));
  if (!keys || message.length <= HEADER_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv("aes-128-gcm", keys.key, keys.nonce);
  decipher.setAuthTag(message.subarray(-TAG_BYTES));
  try {
    const opened = Buffer.concat([decipher.update(message.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
    // The text ends at the last byte that is not padding.
    return opened.subarray(0, opened.lastIndexOf(2));
  } catch {
    return undefined;
  }
}
