// API Gateway HTTP API (payload format 2.0) and the function URL of a streaming route, in process.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { type Clock, SECOND } from "../shared/kernel/clock.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { byText } from "../shared/kernel/order.ts";
import { isAwsFailure } from "./aws/index.ts";
import { OVER } from "./clock.ts";
import { type GatewayRequest, proxyEvent } from "./gateway-event.ts";
import type { LambdaHost } from "./lambda.ts";
import type { StreamOut } from "./lambda-stream.ts";
import type { Log } from "./mapping.ts";

export type { GatewayRequest } from "./gateway-event.ts";

export interface GatewayRoute {
  /** `POST /api/v1/templates/{id}`, `ANY /…`, `… /{rest+}` or `$default`. */
  routeKey: string;
  function: string;
  /** Served by a streaming function behind its own URL. */
  functionUrl?: boolean;
  /** Instead of the gateway's 10 MB (the local import). */
  bodyLimitBytes?: number;
}

export interface GatewayResponse {
  status: number;
  headers: Record<string, string | string[]>;
  body: Buffer;
}

export interface Gateway {
  handle(request: GatewayRequest): Promise<GatewayResponse>;
  /** What a server needs before it reads the body. `shownPath`: for logs, without the query and without tokens. */
  plan(method: string, path: string): { streaming: boolean; bodyLimitBytes: number; shownPath?: string };
  /** Serves a streaming route; resolves when its function has ended. */
  stream(request: GatewayRequest, out: StreamOut): Promise<void>;
}

interface GatewayDeps {
  clock: Clock;
  ids: Ids;
  host: LambdaHost;
  routes: readonly GatewayRoute[];
  log: Log;
  /** The limit for all callers together; undefined: no limit. */
  requestsPerSecond?: number | undefined;
  /** Runs a request, after an advance in progress. */
  enter?: <T>(work: () => Promise<T>) => Promise<T>;
}

const BODY_LIMIT = 10 * 1024 * 1024;
const INTEGRATION_TIMEOUT = 30 * SECOND;

export function createGateway({
  clock,
  ids,
  host,
  routes,
  log,
  requestsPerSecond,
  enter = (work) => work(),
}: GatewayDeps): Gateway {
  const find = routeFinder(routes);
  const isLetIn = requestsPerSecond === undefined ? () => true : openStageLimit(clock, requestsPerSecond);

  const plan: Gateway["plan"] = (method, path) => {
    const { route, parameters } = find(method, pathOf(path)) ?? {};
    const { token } = parameters ?? {};
    return {
      streaming: route?.functionUrl === true,
      bodyLimitBytes: route?.bodyLimitBytes ?? BODY_LIMIT,
      // The token of a mail's link acts for its subscriber, so no log may have it.
      shownPath: token === undefined ? pathOf(path) : pathOf(path).replace(token, "…"),
    };
  };

  const invoke = async (name: string, event: APIGatewayProxyEventV2): Promise<GatewayResponse> => {
    const over = new AbortController();
    const timedOut = clock.sleep(INTEGRATION_TIMEOUT, over.signal).then(() => refusal(503, "Service Unavailable"));
    const answered = host.invoke(name, event).then(responseOf, (error: unknown) => {
      if (isAwsFailure(error) && error.status === 413) return refusal(413, "Request Entity Too Large");
      if (isAwsFailure(error) && error.status === 429) return refusal(503, "Service Unavailable");
      log("A function failed.", { function: name, route: event.routeKey, error: String(error) });
      return refusal(500, "Internal Server Error");
    });
    try {
      return await Promise.race([answered, timedOut]);
    } finally {
      over.abort(OVER);
    }
  };

  const answer = async (request: GatewayRequest): Promise<GatewayResponse> => {
    if (!isLetIn()) return refusal(429, "Too Many Requests");
    const found = find(request.method, pathOf(request.path));
    if (!found) return refusal(404, "Not Found");
    if (request.body.length > (found.route.bodyLimitBytes ?? BODY_LIMIT)) {
      return refusal(413, "Request Entity Too Large");
    }
    const parameters = decoded(found.parameters);
    if (!parameters) return refusal(400, "Bad Request");
    return invoke(
      found.route.function,
      proxyEvent({ clock, ids }, request, { routeKey: found.route.routeKey, parameters }),
    );
  };

  const stream: Gateway["stream"] = (request, out) =>
    enter(async () => {
      const found = find(request.method, pathOf(request.path));
      if (!found?.route.functionUrl) throw new Error(`${request.method} ${request.path} is not a streaming route.`);
      const event = proxyEvent({ clock, ids }, request, { routeKey: "$default", functionUrl: true });
      await host.invokeStreaming(found.route.function, event, out).catch((error: unknown) => {
        log("A streaming function failed.", { function: found.route.function, error: String(error) });
      });
    });

  const handle: Gateway["handle"] = (request) =>
    plan(request.method, request.path).streaming
      ? gathered((out) => stream(request, out))
      : enter(() => answer(request));

  return { handle, plan, stream };
}

export const pathOf = (target: string): string => target.split("?", 1)[0]!;

export const isRead = ({ method }: GatewayRequest): boolean => method === "GET" || method === "HEAD";

/** Answers with a file, as CloudFront does beside the API: it takes no other method there. */
export async function answerFile<F extends object>(
  request: GatewayRequest,
  find: () => F | undefined | Promise<F | undefined>,
  responseWith: (file: F) => GatewayResponse,
): Promise<GatewayResponse> {
  if (!isRead(request)) return refusal(403, "Forbidden");
  const file = await find();
  const response = file ? responseWith(file) : { status: 404, headers: {}, body: Buffer.alloc(0) };
  return request.method === "HEAD" ? { ...response, body: Buffer.alloc(0) } : response;
}

/** The gateway's own response, in its own format. */
export const refusal = (status: number, message: string): GatewayResponse => ({
  status,
  headers: { "content-type": "application/json" },
  body: Buffer.from(JSON.stringify({ message })),
});

/** A whole streamed response, for a caller that does not stream. */
async function gathered(run: (out: StreamOut) => Promise<void>): Promise<GatewayResponse> {
  const chunks: Buffer[] = [];
  let status = 200;
  let headers: GatewayResponse["headers"] = {};
  const out: StreamOut = {
    start: (code, fields) => {
      status = code;
      headers = fields;
    },
    write: (chunk) => {
      chunks.push(chunk);
      return true;
    },
    end: () => undefined,
  };
  await run(out);
  return { status, headers, body: Buffer.concat(chunks) };
}

interface RouteMatch {
  route: GatewayRoute;
  parameters: Record<string, string>;
}

interface KeyedRoute {
  route: GatewayRoute;
  method: string;
  segments: string[];
  rank: string;
}

/**
 * The routes of each list in the order in which they are tried. They are sorted once, because every service has the
 * same list.
 */
const keyedRoutes = new WeakMap<readonly GatewayRoute[], readonly KeyedRoute[]>();

/** The most specific route first: a literal segment before a parameter, that before a greedy one. */
function keyedOnce(routes: readonly GatewayRoute[]): readonly KeyedRoute[] {
  const made = keyedRoutes.get(routes);
  if (made) return made;

  const keyed = routes
    .filter(({ routeKey }) => routeKey !== "$default")
    .map((route) => {
      const [method = "", path = ""] = route.routeKey.split(" ");
      const segments = path.split("/").slice(1);
      const rank = `${segments.map(rankOf).join("")}~${method === "ANY" ? 1 : 0}`;
      return { route, method, segments, rank };
    })
    .sort(byText(({ rank }) => rank));
  keyedRoutes.set(routes, keyed);
  return keyed;
}

/** The most specific route wins, `$default` last. */
function routeFinder(routes: readonly GatewayRoute[]) {
  const keyed = keyedOnce(routes);
  const fallback = routes.find(({ routeKey }) => routeKey === "$default");

  return (method: string, path: string): RouteMatch | undefined => {
    const given = path.split("/").slice(1);
    for (const candidate of keyed) {
      if (candidate.method !== method && candidate.method !== "ANY") continue;
      const parameters = match(candidate.segments, given);
      if (parameters) return { route: candidate.route, parameters };
    }
    return fallback && { route: fallback, parameters: {} };
  };
}

/** A literal segment comes before a parameter, and a parameter before the rest of a path. */
function rankOf(segment: string): string {
  if (segment.endsWith("+}")) return "2";
  return segment.startsWith("{") ? "1" : "0";
}

function match(segments: string[], given: string[]): Record<string, string> | undefined {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = given[index];
    if (!value && segment !== "") return undefined;
    if (segment.endsWith("+}")) return { ...parameters, [segment.slice(1, -2)]: given.slice(index).join("/") };
    if (segment.startsWith("{")) parameters[segment.slice(1, -1)] = value!;
    else if (segment !== value) return undefined;
  }
  return segments.length === given.length ? parameters : undefined;
}

function decoded(parameters: Record<string, string>): Record<string, string> | undefined {
  try {
    return Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    return undefined;
  }
}

/** A function's response as the gateway reads it: structured, bare (a 200 with JSON), or malformed. */
function responseOf(answer: unknown): GatewayResponse {
  if (answer === null || typeof answer !== "object" || !("statusCode" in answer)) {
    const text = typeof answer === "string" ? answer : JSON.stringify(answer);
    return { status: 200, headers: { "content-type": "application/json" }, body: Buffer.from(text) };
  }

  const malformed = refusal(500, "Internal Server Error");
  const { statusCode, headers = {}, cookies, body = "", isBase64Encoded = false } = answer as Record<string, unknown>;
  if (!Number.isInteger(statusCode) || Number(statusCode) < 100 || Number(statusCode) > 599) return malformed;
  if (typeof body !== "string" || headers === null || typeof headers !== "object") return malformed;

  const sent: GatewayResponse["headers"] = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!["string", "number", "boolean"].includes(typeof value)) return malformed;
    sent[name.toLowerCase()] = String(value);
  }
  if (cookies !== undefined && !isTexts(cookies)) return malformed;
  if (isTexts(cookies) && cookies.length > 0) sent["set-cookie"] = cookies;

  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > 0) sent["content-type"] ??= "text/plain;charset=utf-8";
  return { status: Number(statusCode), headers: sent, body: bytes };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

/**
 * @returns a function that tells whether a request is let in now. A burst may be as large as the requests of half a
 * second.
 */
function openStageLimit({ now }: Pick<Clock, "now">, perSecond: number): () => boolean {
  const burst = Math.ceil(perSecond / 2);
  let left = burst;
  let filledAt = now();
  return () => {
    const at = now();
    left = Math.min(burst, left + ((at - filledAt) / SECOND) * perSecond);
    filledAt = at;
    if (left < 1) return false;
    left--;
    return true;
  };
}
