// The errors of each route, derived from its access and shape, with their messages.
import type { Endpoint } from "../../shared/http/endpoint.ts";
import { needsConfirmed, needsSecondFactor } from "../../shared/http/gates.ts";
import { maxBytesOf } from "../../shared/http/input.ts";
import { pascal } from "../../shared/http/operation-names.ts";
import { linkOf, unitsOf } from "../../shared/http/sdk-limits.ts";
import { type ErrorCode, statuses } from "../../shared/kernel/errors.ts";
import { channelTypes } from "../../shared/rules/channel-types.ts";
import type { JsonSchema } from "../../shared/rules/json-schema.ts";
import { type Feature, plans, refusals } from "../../shared/rules/plans.ts";

/** The message of each code. The message may change, the code may not. */
const messages: Record<ErrorCode, string> = {
  BAD_REQUEST: "The body is not valid JSON.",
  UNAUTHORIZED: "Valid credentials are required.",
  SECOND_FACTOR_REQUIRED: "Give the code that your authenticator shows, or a recovery code.",
  PAYMENT_REQUIRED: "The plan's sends of this billing period are used up.",
  SEND_CAP_REACHED: "The workspace's own monthly cap on sends is reached.",
  FORBIDDEN: "The credential lacks the permission or scope.",
  TENANT_SUSPENDED: "This workspace is suspended.",
  TENANT_DELETED: "This workspace is closed.",
  FEATURE_NOT_AVAILABLE: "The feature is not part of the plan.",
  READ_ONLY_TOKEN: "A read-only token may not write.",
  EMAIL_NOT_CONFIRMED: "Confirm your email address first.",
  SECOND_FACTOR_MISSING: "This workspace demands a second factor. Set one up in your account.",
  SIGN_IN_REQUIRED: "This workspace is opened by its identity provider. Sign in there.",
  APPROVAL_REQUIRED: "This workspace asks a second person before a send to many: make it a campaign.",
  NOT_FOUND: "No such resource.",
  CONFLICT: "It already exists, or its state does not allow this.",
  PRECONDITION_FAILED: "It was changed meanwhile: it has version 3.",
  NOT_A_SANDBOX: "This workspace is not a sandbox: its time cannot be moved.",
  FILE_TOO_LARGE: "The file is larger than allowed.",
  VALIDATION_ERROR: "name: must not be empty",
  TEMPLATE_NOT_FOUND: "template_id: no such template in this workspace",
  QUOTA_EXCEEDED: "The plan's quota is reached.",
  RATE_LIMITED: "Too many attempts. Try again later.",
  INTERNAL_ERROR: "Something went wrong on our side.",
  SERVICE_UNAVAILABLE: "A dependency of the service is busy. Try again.",
};

const named: Partial<Record<ErrorCode, Record<string, string>>> = {
  VALIDATION_ERROR: { name: "must not be empty" },
  TEMPLATE_NOT_FOUND: { template_id: "no such template in this workspace" },
};

const CHANNEL_TYPE_REFUSAL = {
  error: "channel_type_not_permitted",
  allowed: plans.free.channelTypes,
  upgrade_required: true,
};

export const errorSchemas: Record<string, JsonSchema> = {
  Error: {
    type: "object",
    description:
      "`code` is stable; `message` is for people and may change; `fields` names what failed validation. " +
      "`current`, of 412 alone, is what is there now.",
    properties: {
      code: { type: "string", enum: Object.keys(statuses) },
      message: { type: "string" },
      fields: { type: "object", additionalProperties: { type: "string" } },
      current: { type: "object", additionalProperties: true },
    },
    required: ["code", "message"],
    additionalProperties: false,
  },
  PlanRefusal: {
    type: "object",
    description: "A 403 because the plan does not include something. It has `error` in place of `code` (ERR-20).",
    properties: {
      error: {
        type: "string",
        enum: [...new Set([...Object.values(refusals), CHANNEL_TYPE_REFUSAL].flatMap((body) => body?.error ?? []))],
      },
      message: { type: "string" },
      feature: { type: "string" },
      allowed: { type: "array", items: { type: "string", enum: [...channelTypes] } },
      upgrade_required: { type: "boolean" },
    },
    required: ["error"],
    additionalProperties: false,
  },
  RateLimit: {
    type: "object",
    description: "The 429 of the per-minute limit of a workspace: wait `retry_after` seconds (ERR-19).",
    properties: {
      error: { const: "rate limit exceeded", type: "string" },
      retry_after: { type: "integer", minimum: 1 },
    },
    required: ["error", "retry_after"],
    additionalProperties: false,
  },
  GatewayError: {
    type: "object",
    description: "The gateway's own error, for example for a body over 10 MB.",
    properties: { message: { type: "string" } },
    required: ["message"],
    additionalProperties: false,
  },
};

const isLimitedLink = (route: string): boolean => linkOf(route, unitsOf(route.split(" ")[0] ?? "", 0)) !== undefined;

/** Every error code of a route: those of its access and its shape, and those that its handler adds. */
function codesOf({ route, access, shape }: Endpoint): ErrorCode[] {
  const { credentials, permission, scope, feature, forbidden, effect } = access;
  const closed = credentials.length > 0;
  const given = (when: unknown, code: ErrorCode): ErrorCode[] => (when ? [code] : []);
  const callers = closed ? credentials : (["public"] as const);
  const isRead = shape.body !== undefined || shape.raw !== undefined;
  const isLengthLimited = isRead && callers.some((kind) => maxBytesOf(shape, kind) !== undefined);
  const judged: ErrorCode = shape.refusal === 400 ? "BAD_REQUEST" : "VALIDATION_ERROR";
  const codes = [
    ...given(closed, "UNAUTHORIZED"),
    ...given(closed, "TENANT_DELETED"),
    ...given(closed && effect !== "session" && !access.openWhileSuspended, "TENANT_SUSPENDED"),
    ...given(credentials.includes("dashboard") && needsSecondFactor(access), "SECOND_FACTOR_MISSING"),
    ...given(credentials.includes("dashboard") && needsSecondFactor(access), "SIGN_IN_REQUIRED"),
    ...given(credentials.includes("dashboard") && (effect === "write" || effect === "own"), "READ_ONLY_TOKEN"),
    ...given(credentials.includes("dashboard") && needsConfirmed(access), "EMAIL_NOT_CONFIRMED"),
    ...given(
      (permission && credentials.includes("dashboard")) ||
        (scope && credentials.includes("server")) ||
        (credentials.includes("sdk") && (shape.query || shape.body)) ||
        forbidden.length > 0,
      "FORBIDDEN",
    ),
    ...given(credentials.includes("sdk") || isLimitedLink(route), "RATE_LIMITED"),
    ...given(feature, "FEATURE_NOT_AVAILABLE"),
    ...given(route.includes("/:"), "NOT_FOUND"),
    ...given(shape.body || shape.form, "BAD_REQUEST"),
    ...given((shape.form && shape.refusal !== 400) || isLengthLimited, "FILE_TOO_LARGE"),
    ...given(closed || shape.query || shape.body || shape.form, judged),
    ...(shape.errors ?? []),
    ...given(true, "INTERNAL_ERROR"),
    ...given(true, "SERVICE_UNAVAILABLE"),
  ];
  const order = Object.keys(statuses);
  return [...new Set(codes)].sort((a, b) => order.indexOf(a) - order.indexOf(b));
}

interface Body {
  status: number;
  name: string;
  schema: string;
  value: unknown;
}

interface Response {
  description: string;
  headers: Record<string, unknown>;
  content: Record<string, { schema: JsonSchema; examples: Record<string, { value: unknown }> }>;
}

/** Responses that have no code of the API. */
const plainNames: Record<string, string> = {
  PER_MINUTE: "per-minute limit",
  GATEWAY: "a body that is too large for the gateway",
  GATEWAY_RATE: "more requests than the gateway takes at once",
};

const ref = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });

/** Status → the name of a response that routes with the same errors share, and the response. */
export function refusalsOf(endpoint: Endpoint): Map<number, { name: string; response: Response }> {
  const { access, shape } = endpoint;
  const bodies: Body[] = codesOf(endpoint).flatMap((code): Body[] => {
    const status = statuses[code];
    const fields = named[code];
    const plain = {
      status,
      name: code,
      schema: "Error",
      value: { code, message: messages[code], ...(fields && { fields }) },
    };
    return code === "FEATURE_NOT_AVAILABLE" ? planRefusals(access.feature, shape.errors) : [plain];
  });
  if (access.credentials.includes("dashboard") || access.credentials.includes("agent"))
    bodies.push({
      status: 429,
      name: "PER_MINUTE",
      schema: "RateLimit",
      value: { error: "rate limit exceeded", retry_after: 17 },
    });
  if (shape.body || shape.form)
    bodies.push({
      status: 413,
      name: "GATEWAY",
      schema: "GatewayError",
      value: { message: "Request Entity Too Large" },
    });

  if (!bodies.some(({ status }) => status >= 400 && status < 500))
    bodies.push({
      status: 429,
      name: "GATEWAY_RATE",
      schema: "GatewayError",
      value: { message: "Too Many Requests" },
    });

  return new Map(
    [...Map.groupBy(bodies, ({ status }) => status)].map(([status, all]) => {
      const schemas = [...new Set(all.map(({ schema }) => schema))].sort();
      const [only] = schemas;
      const names = all.map(({ name }) => name);
      const response: Response = {
        description: names.map((name) => plainNames[name] ?? `\`${name}\``).join(", "),
        headers: {
          "X-Request-Id": { $ref: "#/components/headers/XRequestId" },
          ...((status === 429 || status === 503) && { "Retry-After": { $ref: "#/components/headers/RetryAfter" } }),
        },
        content: {
          "application/json": {
            schema: schemas.length === 1 ? ref(only!) : { oneOf: schemas.map(ref) },
            examples: Object.fromEntries(all.map(({ name, value }) => [name, { value }])),
          },
        },
      };
      return [
        status,
        { name: `Refusal${status}${pascal(names.join("-").toLowerCase().replaceAll("_", "-"))}`, response },
      ];
    }),
  );
}

function planRefusals(feature: Feature | undefined, added: readonly ErrorCode[] = []) {
  const envelope = { code: "FEATURE_NOT_AVAILABLE", message: messages.FEATURE_NOT_AVAILABLE };
  const bodyOf = (one: Feature) => refusals[one] ?? envelope;
  const bodies: [string, Record<string, unknown>][] = feature
    ? [[refusals[feature] ? feature : "FEATURE_NOT_AVAILABLE", bodyOf(feature)]]
    : [];
  if (added.includes("FEATURE_NOT_AVAILABLE"))
    bodies.push(
      ["FEATURE_NOT_AVAILABLE", envelope],
      ["smart_channel", bodyOf("smart_channel")],
      ["channel_type", CHANNEL_TYPE_REFUSAL],
    );
  return bodies.map(([name, value]) => ({
    status: statuses.FEATURE_NOT_AVAILABLE,
    name,
    value,
    schema: "code" in value ? "Error" : "PlanRefusal",
  }));
}
