// What answers where no route does: the preflight of browsers on SDK-key routes, our own 404 for the rest.
import type { Parts } from "../parts.ts";
import type { Credential } from "./endpoint.ts";
import { notFound } from "./errors.ts";
import type { ApiHandler } from "./serve.ts";

export interface KnownRoute {
  route: string;
  credentials: readonly Credential[];
}

const PREFLIGHT_SECONDS = 86_400;

/** On answers of SDK-key routes: any origin may read them, and these headers, which the SDK goes by. */
export const openToBrowsers: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "date, retry-after, x-request-id",
};

/** What a browser wants to hear before it calls an SDK-key route; the edge says the same for the live stream. */
export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  "access-control-allow-origin": "*",
  "access-control-allow-methods": [...new Set(methods)].join(", "),
  "access-control-allow-headers": "content-type, x-sdk-key, last-event-id",
  "access-control-max-age": String(PREFLIGHT_SECONDS),
});

/** The `$default` function. CORS is for SDK-key routes only: any origin, no credentials (D-CORS, decision 29). */
export function answerUnknown(routes: readonly KnownRoute[], { ids, log }: Pick<Parts, "ids" | "log">): ApiHandler {
  const open = routes
    .filter(({ credentials }) => credentials.includes("sdk"))
    .map(({ route }) => {
      const [method = "", path = ""] = route.split(" ");
      return { method, segments: path.split("/") };
    });

  return async (event) => {
    const { method, path } = event.requestContext.http;
    const requestId = event.requestContext.requestId || ids.uuid();
    const standing = { "x-request-id": requestId, "x-content-type-options": "nosniff" };
    const methods = method === "OPTIONS" ? open.filter(({ segments }) => fits(segments, path)) : [];
    log({
      level: "info",
      message: "request",
      request_id: requestId,
      route: "$default",
      status: methods.length > 0 ? 204 : 404,
    });
    if (methods.length > 0)
      return {
        statusCode: 204,
        headers: { ...standing, ...preflightHeaders(methods.map((known) => known.method)) },
      };
    return {
      statusCode: 404,
      headers: { ...standing, "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify(notFound("endpoint").body()),
    };
  };
}

function fits(segments: readonly string[], path: string): boolean {
  const given = path.split("/");
  return (
    given.length === segments.length && segments.every((segment, i) => segment.startsWith(":") || segment === given[i])
  );
}
