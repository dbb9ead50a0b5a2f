// The embedded Firebase Cloud Messaging, HTTP v1, with Google's token endpoint before it.
import { HOUR, SECOND } from "../../shared/kernel/clock.ts";
import {
  accept,
  acceptCredentials,
  readJson,
  readToken,
  type Sink,
  type SinkAnswer,
  type SinkDeps,
  type SinkRequest,
} from "./sink.ts";

const TOKEN_HOST = "oauth2.googleapis.com";
const SCOPE = "https://www.googleapis.com/auth/firebase.messaging";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const MAX_PAYLOAD_BYTES = 4_096;
const TYPE = "type.googleapis.com";
/** Keys that data must not use. */
const RESERVED = /^(from|message_type|google.*|gcm.*)$/;

interface Message {
  token?: string;
  notification?: { title?: string; body?: string };
  data?: Record<string, unknown>;
}

const refuse = (status: number, word: string, message: string, detail?: object): SinkAnswer => ({
  status,
  body: { error: { code: status, message, status: word, ...(detail && { details: [detail] }) } },
});
const fcmError = (errorCode: string) => ({ "@type": `${TYPE}/google.firebase.fcm.v1.FcmError`, errorCode });
const invalid = (field: string, description: string) =>
  refuse(400, "INVALID_ARGUMENT", description, {
    "@type": `${TYPE}/google.rpc.BadRequest`,
    fieldViolations: [{ field, description }],
  });

const answers = {
  permanent: refuse(403, "PERMISSION_DENIED", "SenderId mismatch", fcmError("SENDER_ID_MISMATCH")),
  invalid_token: refuse(404, "NOT_FOUND", "Requested entity was not found.", fcmError("UNREGISTERED")),
  transient: refuse(503, "UNAVAILABLE", "The service is currently unavailable.", fcmError("UNAVAILABLE")),
  rate_limited: refuse(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", fcmError("QUOTA_EXCEEDED")),
};

export function fcmSink(deps: SinkDeps): Sink {
  const { clock, ids } = deps;
  const issued = new Map<string, number>();

  const issue = ({ body }: SinkRequest): SinkAnswer => {
    const form = new URLSearchParams(body.toString());
    const assertion = readToken(form.get("assertion") ?? "");
    const no = (error: string, error_description: string): SinkAnswer => ({
      status: 400,
      body: { error, error_description },
    });

    if (form.get("grant_type") !== GRANT) return no("unsupported_grant_type", "Invalid grant_type");
    const { iss, scope, aud, iat, exp } = assertion?.claims ?? {};
    const now = clock.now() / SECOND;
    if (assertion?.header.alg !== "RS256" || typeof iss !== "string" || aud !== `https://${TOKEN_HOST}/token`)
      return no("invalid_grant", "Invalid JWT Signature.");
    if (scope !== SCOPE) return no("invalid_scope", "Empty or missing scope not allowed.");
    if (!(Number(iat) <= now + 60 && Number(exp) > now && Number(exp) - Number(iat) <= HOUR / SECOND))
      return no("invalid_grant", "Invalid JWT: Token must be a short-lived token and in a reasonable timeframe.");

    const access_token = `ya29.${ids.uuid()}`;
    issued.set(access_token, clock.now() + HOUR);
    return { status: 200, body: { access_token, expires_in: HOUR / SECOND, token_type: "Bearer" } };
  };

  const send: Sink = ({ path, headers, body }) => {
    const [, project] = /^\/v1\/projects\/([^/]+)\/messages:send$/.exec(path) ?? [];
    if (!project) return refuse(404, "NOT_FOUND", "Requested entity was not found.");
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    if (!((issued.get(token) ?? 0) > clock.now()))
      return refuse(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.");

    const { message, validate_only } = (readJson(body) ?? {}) as { message?: Message; validate_only?: boolean };
    if (!message?.token) return invalid("message.token", "Recipient of the message is not set.");
    if (validate_only)
      return acceptCredentials(deps, "android", {
        words: "Permission 'cloudmessaging.messages.create' denied",
        refuse: (said) => refuse(403, "PERMISSION_DENIED", said),
        fine: invalid("message.token", "The registration token is not a valid FCM registration token"),
      });

    const { notification = {}, data = {} } = message;
    const wrong = Object.entries(data).find(([name, value]) => typeof value !== "string" || RESERVED.test(name));
    if (wrong) return invalid(`message.data[${wrong[0]}]`, `Invalid value at 'message.data': ${wrong[0]}`);
    if (Buffer.byteLength(JSON.stringify([notification, data])) > MAX_PAYLOAD_BYTES)
      return invalid("message", "Android message is too big");

    const { subscriber_id, notification_id: job_id } = data;
    const { title, body: text } = notification;
    const whose = { channel: "android", to: message.token, subscriber_id, job_id } as const;
    return accept(
      deps,
      { ...whose, title, body: text, payload: message, headers },
      (fault) => answers[fault],
      (id) => ({ status: 200, body: { name: `projects/${project}/messages/${id}` } }),
    );
  };

  return (request) => (request.host === TOKEN_HOST ? issue(request) : send(request));
}
