// The one client of the console: the methods of the SDK with a fetch that renews the session and keeps the call log.
import { signal } from "@preact/signals";
import { ServiceError } from "../../sdk/src/errors.ts";
import { routes } from "../../sdk/src/routes.gen.ts";
import { methodsOf } from "../../sdk/src/transport.ts";
import type { Endpoints } from "../../sdk/src/types.gen.ts";

export interface Call {
  id: number;
  method: string;
  /** With query, without origin. */
  path: string;
  body: unknown;
  status: number;
  ms: number;
  requestId: string;
  operation: string;
}

const MAX_CALLS = 100;

/** Newest first. */
export const calls = signal<readonly Call[]>([]);

/** The access token: a variable of this module, never stored. */
let token = "";
let renewing: (() => Promise<string>) | undefined;

export function setToken(value: string, renew: (() => Promise<string>) | undefined): void {
  token = value;
  renewing = renew;
}

let count = 0;

async function send(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  const ask = () => fetch(input, { ...init, headers, credentials: "same-origin", cache: "no-store" });
  const startedAt = performance.now();
  let status = 0;
  let requestId = "";
  try {
    let response = await ask();
    if (response.status === 401 && headers.has("authorization") && renewing) {
      const fresh = await renewing();
      if (fresh) {
        headers.set("authorization", `Bearer ${fresh}`);
        response = await ask();
      }
    }
    status = response.status;
    requestId = response.headers.get("x-request-id") ?? "";
    return response;
  } finally {
    log(String(input), init, { status, requestId, ms: Math.round(performance.now() - startedAt) });
  }
}

function log(url: string, init: RequestInit, outcome: Pick<Call, "status" | "requestId" | "ms">): void {
  const { pathname, search } = new URL(url, location.origin);
  const method = init.method ?? "GET";
  const body = typeof init.body === "string" ? (JSON.parse(init.body) as unknown) : undefined;
  const operation = operationOf(method, pathname);
  count += 1;
  const isSecret = operation.startsWith("auth.");
  calls.value = [
    { id: count, method, path: pathname + search, body: isSecret ? undefined : body, operation, ...outcome },
    ...calls.value.slice(0, MAX_CALLS - 1),
  ];
}

const patterns = Object.entries(routes).flatMap(([group, methods]) =>
  Object.entries(methods).map(([name, { route }]) => {
    const [method = "", path = ""] = route.split(" ");
    const parameters = path.split("/").filter((segment) => segment.startsWith(":")).length;
    const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+").replaceAll(".", "\\.")}$`);
    return { method, pattern, parameters, operation: `${group}.${name}` };
  }),
);
patterns.sort((a, b) => a.parameters - b.parameters);

const operationOf = (method: string, path: string): string =>
  patterns.find((one) => one.method === method && one.pattern.test(path))?.operation ?? "";

/** The client of another token than that of this page. */
export const clientOf = (dashboard: string) =>
  methodsOf<Endpoints>(routes, { baseUrl: location.origin }, { dashboard });

export const api: Endpoints = methodsOf<Endpoints>(
  routes,
  { baseUrl: location.origin, fetch: send, maxRetries: 1, maxWaitMs: 1_000 },
  // The key is read each time: the next call may be of another workspace.
  { dashboard: () => token, sdk: async () => (await api.account.getSdkKey()).sdk_key },
);

type Group = keyof Endpoints;

/** `campaigns.release`: group and method of the SDK. */
export type Operation = {
  [G in Group]: `${G}.${keyof Endpoints[G] & string}`;
}[Group];

type MethodOf<O extends Operation> = O extends `${infer G extends Group}.${infer M}`
  ? M extends keyof Endpoints[G]
    ? Endpoints[G][M]
    : never
  : never;

export type ArgumentsOf<O extends Operation> = MethodOf<O> extends (...given: infer A) => unknown ? A : never;
export type AnswerOf<O extends Operation> = MethodOf<O> extends (...given: never[]) => Promise<infer R> ? R : never;

/** One that needs no more than the id of what it is done to. */
export type OperationById = { [O in Operation]: [string] extends ArgumentsOf<O> ? O : never }[Operation];

/** Calls an operation by its name. The table of the SDK has a method for every name of the type, hence the casts. */
export function call<O extends Operation>(operation: O, given: ArgumentsOf<O>): Promise<AnswerOf<O>> {
  const [group, method] = operation.split(".") as [Group, string];
  const methods = api[group] as Record<string, (...all: unknown[]) => Promise<unknown>>;
  const ask = async (all: unknown[]): Promise<unknown> => {
    try {
      return await methods[method]!(...all);
    } catch (cause) {
      const parts = partsOf(all.at(-1), cause);
      if (!parts) throw cause;
      return joined(await Promise.all(parts.map((part) => ask([...all.slice(0, -1), part]))));
    }
  };
  return ask(given as unknown[]) as Promise<AnswerOf<O>>;
}

const PARTS = [1, 2, 3, 4, 5];

/** The queries of a fifth each, of a numbered page with more than one answer may hold. */
function partsOf(query: unknown, cause: unknown): object[] | undefined {
  const { page = 1, ...rest } = Object(query) as Record<string, number>;
  const name = ["page_size", "per_page"].find((one) => rest[one]);
  const size = name ? rest[name]! / PARTS.length : 0;
  if (!(cause instanceof ServiceError && cause.fields?.page?.includes("too large")) || !size || size % 1)
    return undefined;
  return PARTS.map((n) => ({ ...rest, page: (page - 1) * PARTS.length + n, [name!]: size }));
}

function joined(pages: unknown[]): object {
  const [first] = pages as [Record<string, unknown>];
  const rows = Object.keys(first).filter((name) => Array.isArray(first[name]));
  return { ...first, ...Object.fromEntries(rows.map((name) => [name, pages.flatMap((one) => Object(one)[name])])) };
}
