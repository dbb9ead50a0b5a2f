// The declaration of an endpoint: route, access, shape, handler. Everything else about it is derived from the
// declaration.
import type { GenericSchema, InferOutput } from "valibot";
import type { Clock } from "../kernel/clock.ts";
import type { Context, LogEntry, Uses } from "../kernel/deps.ts";
import type { ApiError, ErrorCode } from "../kernel/errors.ts";
import type { Ids, TenantId } from "../kernel/ids.ts";
import type { JsonLimits } from "../rules/json-limits.ts";
import type { Access, Credential, Route } from "./access.ts";
import type { Caller } from "./authenticate.ts";
import type { Cookie } from "./cookies.ts";
import type { Deprecation } from "./deprecation.ts";
import type { Upload, UploadedFile } from "./upload.ts";

/** Bytes by kind of caller. */
export type MaxBytes = { readonly [C in Credential | "public"]?: number };

export interface Shape {
  summary: string;
  /** Further text for the reference page, in Markdown. */
  description?: string;
  query?: GenericSchema;
  body?: GenericSchema;
  /**
   * The longest body in bytes by caller, also of a raw one. A longer one is refused with 413 FILE_TOO_LARGE before it is parsed.
   * Default for JSON: `BODY_BYTES` of input.ts.
   */
  maxBytes?: MaxBytes;
  /** The body may also be an array of such bodies (JSON-RPC batches). */
  batches?: true;
  /** Limits of the body's JSON, if the usual ones are too narrow. */
  limits?: Partial<JsonLimits>;
  /** A multipart body, declared by `multipart` of upload.ts. */
  form?: {
    fields: GenericSchema;
    part: string;
    isOptional: boolean;
    refusal?: 400;
    read(body: Buffer, contentType: string | undefined): Promise<Upload>;
  };
  /** Instead of `body`: the unparsed bytes, of this media type, where the handler verifies a signature of them. */
  raw?: string;
  /** The fields of the raw body in the published document. Only the handler checks it. */
  rawFields?: GenericSchema;
  returns?: GenericSchema;
  /** Default: 200 with `returns`, 204 without. */
  status?: 200 | 201 | 202 | 204 | 302;
  /** Other answers of the handler than the declared one, by status; without a shape they have no body. */
  replies?: { readonly [status: number]: { description: string; returns?: GenericSchema } };
  /** Codes the handler adds to those of its route (a 404, where it has parameters), access and shape. */
  errors?: readonly ErrorCode[];
  /** The status for a failed body or query: 422 VALIDATION_ERROR, or 400 BAD_REQUEST for in-app (AMB-3). */
  refusal?: 400 | 422;
  /** The body of a refusal in the endpoint's own protocol; undefined: in the envelope of errors. */
  refusalBody?(refusal: ApiError): object | undefined;
  /** The handler supports `Idempotency-Key`: a repeated request is a 200 with `Idempotent-Replayed` (AMB-94). */
  idempotent?: boolean;
  /** The handler may return an existing resource (200 instead of 201). */
  upserts?: boolean;
  /** The field of the answer with the id for the audit trail. Default: `id`. */
  names?: string;
  /** For the reference and the sample events, where a value generated from the schema is invalid or unclear. */
  example?: { params?: Readonly<Record<string, string>>; query?: object; body?: object; returns?: object };
  /** The endpoint will be removed: every response has the date of the announcement, the sunset and the successor (D-VER). */
  deprecated?: Deprecation;
  /** Instead of JSON: the handler returns text (or bytes) of this type, sent with these headers. */
  text?: { type: string; headers?: Readonly<Record<string, string>> };
  /** How long caches may keep the response of a public endpoint. Default: it is not cached. */
  cacheSeconds?: number;
}

type ParamsOf<R extends string> = R extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<`/${Rest}`>
  : R extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : unknown;

type OutputOf<S> = S extends GenericSchema ? InferOutput<S> : undefined;

export interface Call<S extends Shape = Shape> {
  caller: Caller;
  tenant: TenantId;
  query: OutputOf<S["query"]>;
  body: OutputOf<S["body"]>;
  form: S["form"] extends { fields: infer F } ? { fields: OutputOf<F>; file: UploadedFile | undefined } : undefined;
  raw: S["raw"] extends string ? Buffer : undefined;
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
  cookies: Readonly<Record<string, string>>;
  sourceIp: string;
  requestId: string;
  clock: Clock;
  ids: Ids;
  log(entry: LogEntry): void;
}

type Handler<R extends string, S extends Shape, U extends Uses> = (
  call: Call<S> & { params: ParamsOf<R> } & Context<U>,
) => Promise<unknown>;

export interface Endpoint {
  route: Route;
  access: Required<Pick<Access, "credentials" | "forbidden" | "effect">> & Omit<Access, "credentials" | "effect">;
  shape: Shape;
  uses: Uses;
  // biome-ignore lint/suspicious/noExplicitAny: each handler takes its own call; `serve` gives it what was declared
  handler: (call: any) => Promise<unknown>;
}

interface GroupDefaults<U extends Uses> extends Access {
  uses: U;
  refusal?: 400 | 422;
}

/**
 * The `endpoint` function of a group: declares one endpoint as route, access, shape and handler, in that order.
 * The handler gets exactly what is declared: a capability that `uses` does not name is absent from its context.
 */
export function endpoints<const U extends Uses>({ uses, refusal = 422, ...common }: GroupDefaults<U>) {
  return <const R extends Route, const S extends Shape, const More extends Uses = []>(
    route: R,
    { uses: more, ...access }: Access & { uses?: More },
    shape: S,
    handler: Handler<R, S, [...U, ...More]>,
  ): Endpoint => ({
    route,
    access: {
      credentials: [],
      forbidden: [],
      effect: /^(GET|HEAD) /.test(route) ? "read" : "write",
      ...common,
      ...access,
    },
    shape: { refusal, ...shape },
    uses: [...uses, ...(more ?? [])],
    handler,
  });
}

/** One Lambda, one section of the specification, one tag of the reference. */
export interface Group {
  name: string;
  about: string;
  endpoints: readonly Endpoint[];
}

export const group = (name: string, about: string, endpoints: readonly Endpoint[]): Group => ({
  name,
  about,
  endpoints,
});

/** `POST /api/v1/templates/:id` as API Gateway writes it: `POST /api/v1/templates/{id}`. */
export const routeKeyOf = (route: string): string => route.replaceAll(/:(\w+)/g, "{$1}");

export interface Reply {
  readonly reply: true;
  /** Default: the declared one. */
  status?: number;
  body: unknown;
  headers: Record<string, string>;
  cookie?: Cookie;
}

/** The declared response, which also sets a cookie. */
export const withCookie = (body: unknown, cookie: Cookie): Reply => ({ reply: true, body, headers: {}, cookie });

/** A 200 instead of the declared 201: the resource existed before (AMB-94: a replayed request). */
export const existing = (body: unknown, headers: Record<string, string> = {}): Reply => ({
  reply: true,
  status: 200,
  body,
  headers,
});

/** Another status than the declared one; without a body, nothing is sent. */
export const replyWith = (status: number, body?: unknown, headers: Readonly<Record<string, string>> = {}): Reply => ({
  reply: true,
  status,
  body,
  headers,
});

/** A redirect; the shape declares the status 302. */
export const redirect = (location: string): Reply => ({ reply: true, status: 302, body: "", headers: { location } });

export const isReply = (value: unknown): value is Reply =>
  typeof value === "object" && value !== null && "reply" in value && value.reply === true;

/**
 * The gateway's routes of a group. A GET without a credential is also reached by HEAD. Others are not: the gateway has
 * at most 300 routes, and a client with a credential has no use for an answer without its body.
 */
export const routesOf = ({ endpoints }: Pick<Group, "endpoints">): { routeKey: string; endpoint: Endpoint }[] => {
  const declared = endpoints.map((endpoint) => ({ routeKey: routeKeyOf(endpoint.route), endpoint }));
  const isDeclared = new Set(declared.map(({ routeKey }) => routeKey));
  const heads = declared
    .filter(({ routeKey, endpoint }) => routeKey.startsWith("GET ") && endpoint.access.credentials.length === 0)
    .map(({ routeKey, endpoint }) => ({ routeKey: routeKey.replace("GET ", "HEAD "), endpoint }));
  return [...declared, ...heads.filter(({ routeKey }) => !isDeclared.has(routeKey))];
};
