// Answers requests that match no route: preflight requests for SDK-key routes, other methods of the agents' endpoint, and
// 404 for the rest.
import type { Deps } from "../kernel/deps.ts";
import { notFound } from "../kernel/errors.ts";
import type { Credential } from "./access.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ApiHandler } from "./responses.ts";

export interface KnownRoute {
  route: string;
  credentials: readonly Credential[];
}

/** The input of the fallback: every route, and who may call it. */
export const knownRoutes = (endpoints: readonly Endpoint[]): KnownRoute[] =>
  endpoints.map(({ route, access: { credentials } }) => ({ route, credentials }));

const PREFLIGHT_SECONDS = 86_400;

/** The response to a preflight request for an SDK-key route; the edge sends the same for the live stream. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  "access-control-allow-origin": "*",
  "access-control-allow-methods": [...new Set(methods)].join(", "),
  "access-control-allow-headers": "authorization, content-type, x-sdk-key, x-user-hash, last-event-id",
  "access-control-max-age": String(PREFLIGHT_SECONDS),
});

/**
 * The `$default` function. CORS is for SDK-key routes only: any origin, no credentials (D-CORS; E12 in docs/edge.md).
 */
export function answerUnknown(routes: readonly KnownRoute[], { ids, log }: Pick<Deps, "ids" | "log">): ApiHandler {
  const open = routes
    .filter(({ credentials }) => credentials.includes("sdk"))
    .map(({ route }) => {
      const [method = "", path = ""] = route.split(" ");
      return { method, segments: path.split("/") };
    });

  const tools = routes
    .filter(({ credentials }) => credentials.includes("agent"))
    .map(({ route }) => route.slice(route.indexOf("/")));

  const answerTo = ({ method, path }: { method: string; path: string }): Answer => {
    const methods = method === "OPTIONS" ? open.filter(({ segments }) => fits(segments, path)) : [];
    if (methods.length > 0) return preflight(methods);
    return tools.includes(path) ? postOnly() : unknownEndpoint();
  };

  return async (event) => {
    const requestId = event.requestContext.requestId || ids.uuid();
    const commonHeaders = { "x-request-id": requestId, "x-content-type-options": "nosniff" };
    const answer = answerTo(event.requestContext.http);
    log({ level: "info", message: "request", request_id: requestId, route: "$default", status: answer.statusCode });
    return { ...answer, headers: { ...commonHeaders, ...answer.headers } };
  };
}

interface Answer {
  statusCode: number;
  headers: Record<string, string>;
  body?: string;
}

const preflight = (routes: readonly { method: string }[]): Answer => ({
  statusCode: 204,
  headers: preflightHeaders(routes.map(({ method }) => method)),
});

const unknownEndpoint = (): Answer => ({
  statusCode: 404,
  headers: { "content-type": "application/json", "cache-control": "no-store" },
  body: JSON.stringify(notFound("endpoint").body()),
});

/** Streamable HTTP asks for 405 where a server offers no stream (GET) and has no sessions (DELETE). */
const postOnly = (): Answer => ({
  ...unknownEndpoint(),
  statusCode: 405,
  headers: { "content-type": "application/json", "cache-control": "no-store", allow: "POST" },
});

function fits(segments: readonly string[], path: string): boolean {
  const parts = path.split("/");
  return (
    parts.length === segments.length && segments.every((segment, i) => segment.startsWith(":") || segment === parts[i])
  );
}
