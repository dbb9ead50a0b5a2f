// Sends requests: credentials, timeouts, retries, idempotency keys; and makes methods from a table of routes.
import { errorOf, ServiceError } from "./errors.ts";
import { mayRetry, waitMs } from "./retry.ts";

type Credential = "sdk" | "server" | "dashboard";

interface Route {
  /** `PATCH /api/v1/templates/:id` */
  route: string;
  credentials: readonly Credential[];
  body?: "json" | "form";
  query?: boolean;
  /** Accepts an `Idempotency-Key`, so that a repeated request has no further effect. */
  idempotent?: boolean;
}

/** Group → method → route. */
export type RouteTable = Readonly<Record<string, Readonly<Record<string, Route>>>>;

/** A secret, or a function that returns a valid one. */
export type Secret = string | (() => string | Promise<string>);

export interface Settings {
  /** The address of the service, such as `https://api.example.com`. */
  baseUrl: string;
  /** The time limit of each attempt, in milliseconds; default 30,000. */
  timeoutMs?: number;
  /** Attempts after the first; default 3. */
  maxRetries?: number;
  /** If `Retry-After` is longer than this, the error is thrown at once. In milliseconds; default 60,000. */
  maxWaitMs?: number;
  /** Default: the global `fetch`. If its promise is rejected, the service counts as unreachable. */
  fetch?: typeof fetch;
}

export type Credentials = Partial<Record<Credential, Secret | undefined>>;

export interface CallOptions {
  signal?: AbortSignal;
  timeoutMs?: number;
  maxRetries?: number;
  /** If the endpoint accepts one; default: a new one per call, the same for all its attempts. */
  idempotencyKey?: string;
  /** In a browser, the request outlives the page, for reports that are sent while the user leaves. At most 64 KB. */
  keepalive?: boolean;
  /**
   * Makes a change only if the resource still has this version. Otherwise a 412 has the resource in `current` of its
   * body.
   */
  ifVersion?: number;
  /** Called with the version of the returned resource, if it has one. The next change can name it as `ifVersion`. */
  onVersion?: (version: number) => void;
}

/** The names of all options; the compiler checks that none is missing. */
const CALL_OPTIONS: Readonly<Record<keyof CallOptions, true>> = {
  signal: true,
  timeoutMs: true,
  maxRetries: true,
  idempotencyKey: true,
  keepalive: true,
  ifVersion: true,
  onVersion: true,
};

const TIMEOUT_MS = 30_000;
const MAX_RETRIES = 3;
const MAX_WAIT_MS = 60_000;
const REPEATABLE = new Set(["GET", "PUT", "DELETE"]);
/** The service takes these once, however often they are sent: events by their keys, reports by what they say. */
const TAKEN_ONCE = new Set(["POST /v1/events", "POST /v1/events/identify", "POST /api/v1/notifications/interactions"]);

/** Header of the first credential that the route accepts and the client has. */
export async function credentialHeader(
  credentials: readonly Credential[],
  callerCredentials: Credentials,
): Promise<Record<string, string>> {
  if (credentials.length === 0) return {};
  const kind = (["server", "dashboard", "sdk"] as const).find(
    (kind) => credentials.includes(kind) && callerCredentials[kind],
  );
  if (!kind) throw new TypeError(`This call needs one of these credentials: ${credentials.join(", ")}.`);
  const secret = callerCredentials[kind]!;
  const text = typeof secret === "function" ? await secret() : secret;
  return kind === "sdk" ? { "x-sdk-key": text } : { authorization: `Bearer ${text}` };
}

/** Waits, unless the caller aborts first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const give = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", give);
      resolve();
    }, ms);
    signal?.addEventListener("abort", give, { once: true });
  });
}

interface ServiceRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** The body, or a function that makes it anew for each attempt. */
  body: string | FormData | (() => string) | undefined;
  keepalive?: boolean;
  onVersion?: CallOptions["onVersion"];
}

/** A programming error: `fetch` rejects with none of these when there is no response. */
const isMistake = (error: unknown): boolean =>
  error instanceof ReferenceError || error instanceof RangeError || error instanceof SyntaxError;

/** One attempt. @throws ServiceError with status 0 if there is no response. */
async function attempt(
  fetch: typeof globalThis.fetch,
  { url, method, headers, body, keepalive, onVersion }: ServiceRequest,
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<unknown> {
  const [address = "The service"] = /^\w+:\/\/[^/]+/.exec(url) ?? [];
  const timeout = AbortSignal.timeout(timeoutMs);
  const received = async <T>(part: Promise<T>): Promise<T> => {
    try {
      return await part;
    } catch (cause) {
      if (cause instanceof ServiceError || signal?.aborted || isMistake(cause)) throw cause;
      throw timeout.aborted
        ? new ServiceError(`${address} did not answer within ${timeoutMs} ms.`, { status: 0, code: "TIMEOUT", cause })
        : new ServiceError(`${address} could not be reached.`, { status: 0, code: "NETWORK_ERROR", cause });
    }
  };

  const response = await received(
    fetch(url, {
      method,
      headers,
      ...(body !== undefined && { body: typeof body === "function" ? body() : body }),
      ...(keepalive && { keepalive }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    }),
  );
  if (!response.ok) throw await errorOf(response);

  const text = await received(response.text());
  const [, version] = /^"(\d+)"$/.exec(response.headers.get("etag") ?? "") ?? [];
  if (version !== undefined) onVersion?.(Number(version));
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ServiceError(`${address} did not answer with JSON.`, { status: 0, code: "NETWORK_ERROR", cause });
  }
}

/**
 * Sends until there is a response that is not retried, or no attempt is left.
 * @throws TypeError for an address or a header that no request can have
 */
export async function send(
  settings: Settings,
  request: ServiceRequest,
  isSafe: boolean,
  options: CallOptions,
): Promise<unknown> {
  // Checks address and headers first, because `fetch` would report a fault in them like an unreachable service.
  new Request(request.url, { method: request.method, headers: request.headers });
  const { timeoutMs = TIMEOUT_MS, maxRetries = MAX_RETRIES, maxWaitMs = MAX_WAIT_MS } = settings;
  // The global `fetch` is looked up at each call, so that it can be replaced.
  const fetchOnce: typeof fetch = settings.fetch ?? ((...args) => fetch(...args));
  const max = options.maxRetries ?? maxRetries;
  for (let n = 0; ; n++) {
    try {
      return await attempt(fetchOnce, request, options.timeoutMs ?? timeoutMs, options.signal);
    } catch (error) {
      if (!(error instanceof ServiceError) || n >= max || !mayRetry(error, isSafe)) throw error;
      if ((error.retryAfterSeconds ?? 0) * 1_000 > maxWaitMs) throw error;
      await sleep(waitMs(error, n, Math.random()), options.signal);
    }
  }
}

/** `a=1&b=2`, without undefined values. */
export const queryText = (query: object = {}): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined || value === null ? [] : [[name, String(value)]],
    ),
  ).toString();

export const rootOf = ({ baseUrl }: Settings): string => baseUrl.replace(/\/+$/, "");

/** Not `randomUUID`, because browsers have it on secure pages only. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** An id, or a number of a version. @throws TypeError if it is missing, or would name another address in a path */
export function requiredId(call: string, name: string, id: unknown): string {
  if (Number.isSafeInteger(id)) return String(id);
  if (typeof id === "string" && !["", ".", ".."].includes(id)) return id;
  throw new TypeError(`${call}: ${name} must be the text of an id, not ${JSON.stringify(id)}.`);
}

/** @throws TypeError for an option that does not exist */
function callOptions(call: string, options: unknown = {}): CallOptions {
  if (typeof options !== "object" || options === null)
    throw new TypeError(`${call}: options must be an object, not ${JSON.stringify(options)}.`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(CALL_OPTIONS, name));
  if (unknown !== undefined) throw new TypeError(`${call}: there is no option ${unknown}.`);
  return options;
}

/** Headers that every call of a client carries. */
type MoreHeaders = () => Promise<Record<string, string>>;
const noHeaders: MoreHeaders = async () => ({});

type Method = (...args: unknown[]) => Promise<unknown>;

function methodOf(
  { route, credentials, body, query, idempotent }: Route,
  settings: Settings,
  callerCredentials: Credentials,
  moreHeaders: MoreHeaders,
): Method {
  const [verb = "", path = ""] = route.split(" ");
  return async (...args) => {
    const rest = [...args];
    const filled = path.replaceAll(/:(\w+)/g, (_, name) => encodeURIComponent(requiredId(route, name, rest.shift())));
    const content = body && rest.shift();
    const search = query ? queryText(rest.shift() as object | undefined) : "";
    const options = callOptions(route, rest.shift());

    const inBody = (content as { idempotency_key?: unknown } | undefined)?.idempotency_key;
    const key = idempotent && inBody === undefined ? (options.idempotencyKey ?? newKey()) : undefined;
    const payload = body === "json" ? () => JSON.stringify(content) : (content as FormData | undefined);
    const headers = {
      ...(await credentialHeader(credentials, callerCredentials)),
      ...(await moreHeaders()),
      ...(body === "json" && { "content-type": "application/json" }),
      ...(key !== undefined && { "idempotency-key": key }),
      ...(options.ifVersion !== undefined && { "if-match": `"${options.ifVersion}"` }),
    };

    const url = rootOf(settings) + filled + (search && `?${search}`);
    // A change with `ifVersion` is not repeated: if the first attempt succeeded, the version is another one.
    const isRepeatable = REPEATABLE.has(verb) && options.ifVersion === undefined;
    const isSafe = isRepeatable || idempotent === true || TAKEN_ONCE.has(route);
    const { keepalive = false, onVersion } = options;
    return send(settings, { method: verb, url, headers, body: payload, keepalive, onVersion }, isSafe, options);
  };
}

/** With a server key and no credential of `name`, the backend's route of the same name is called. */
function routeOf(routes: RouteTable[string], name: string, { dashboard, sdk, server }: Credentials): Route {
  const route = routes[name]!;
  const backend = routes[`${name}WithServerKey`];
  const isCallable = route.credentials.some((kind) => ({ dashboard, sdk, server })[kind]);
  return backend && server && !isCallable ? backend : route;
}

/**
 * Methods by group, from the table. One generator makes both `Client` and the table from the same declarations. This
 * justifies the cast.
 */
export const methodsOf = <Client>(
  table: RouteTable,
  settings: Settings,
  callerCredentials: Credentials,
  moreHeaders: MoreHeaders = noHeaders,
): Client =>
  Object.fromEntries(
    Object.entries(table).map(([group, routes]) => [
      group,
      Object.fromEntries(
        Object.keys(routes).map((name) => [
          name,
          methodOf(routeOf(routes, name, callerCredentials), settings, callerCredentials, moreHeaders),
        ]),
      ),
    ]),
  ) as Client;
