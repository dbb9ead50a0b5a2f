// A request as API Gateway hands it to a function: the event of payload format 2.0.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import type { Clock } from "../shared/kernel/clock.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { ACCOUNT } from "./lambda.ts";

export interface GatewayRequest {
  method: string;
  /** The path as it was sent, with the query. */
  path: string;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: Buffer;
  sourceIp: string;
  /** Aborts when the client leaves. */
  signal?: AbortSignal;
}

interface EventTarget {
  routeKey: string;
  parameters?: Record<string, string>;
  /** The function has its own URL behind CloudFront instead of a route of the HTTP API. */
  functionUrl?: boolean;
}

export function proxyEvent(
  { clock, ids }: { clock: Clock; ids: Ids },
  request: GatewayRequest,
  { routeKey, parameters = {}, functionUrl = false }: EventTarget,
): APIGatewayProxyEventV2 {
  const now = clock.now();
  const [path = "", rawQueryString = ""] = splitOnce(request.path, "?");
  const { cookie, ...headers } = functionUrl ? signedByEdge(joined(request.headers)) : joined(request.headers);
  const isText = isTextual(headers["content-type"]) && headers["content-encoding"] === undefined;
  const domainName = (headers.host ?? "localhost").replace(/:\d+$/, "");
  const rawPath = functionUrl ? path : decodedPath(path);
  const query = queryOf(rawQueryString);
  const hasQuery = Object.keys(query).length > 0;
  const hasParameters = Object.keys(parameters).length > 0;
  return {
    version: "2.0",
    routeKey,
    rawPath,
    rawQueryString,
    ...(cookie && { cookies: cookie.split(/; ?/) }),
    headers: {
      ...headers,
      "content-length": String(request.body.length),
      "x-amzn-trace-id": `Root=1-${Math.floor(now / 1000).toString(16)}-${ids.bytes(12).toString("hex")}`,
      "x-forwarded-for": [headers["x-forwarded-for"], request.sourceIp].filter(Boolean).join(", "),
      "x-forwarded-port": "443",
      "x-forwarded-proto": "https",
    },
    ...(hasQuery && { queryStringParameters: query }),
    ...(hasParameters && { pathParameters: parameters }),
    requestContext: {
      accountId: ACCOUNT,
      apiId: "local",
      domainName,
      domainPrefix: domainName.split(".", 1)[0]!,
      http: {
        method: request.method,
        path: rawPath,
        protocol: "HTTP/1.1",
        sourceIp: request.sourceIp,
        userAgent: headers["user-agent"] ?? "",
      },
      requestId: ids.uuid(),
      routeKey,
      stage: "$default",
      time: commonLogTime(now),
      timeEpoch: now,
    },
    ...(request.body.length > 0 && { body: request.body.toString(isText ? "utf8" : "base64") }),
    isBase64Encoded: request.body.length > 0 && !isText,
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function joined(headers: GatewayRequest["headers"]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue;
    const key = name.toLowerCase();
    const text = typeof value === "string" ? value : value.join(key === "cookie" ? "; " : ",");
    all[key] = key in all ? `${all[key]},${text}` : text;
  }
  return all;
}

/** CloudFront signs the request itself and moves the viewer's credential to another header (E10 in docs/edge.md). */
function signedByEdge({ authorization, ...headers }: Record<string, string>): Record<string, string> {
  return authorization === undefined ? headers : { ...headers, "x-viewer-authorization": authorization };
}

function queryOf(raw: string): Record<string, string> {
  const values = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(raw)) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries([...values].map(([name, all]) => [name, all.join(",")]));
}

/** Content types that the gateway passes on as text; all others, and what is compressed, are base64. */
function isTextual(contentType = ""): boolean {
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  return type.startsWith("text/") || /^application\/(json|javascript|xml|[\w.-]+\+(json|xml))$/.test(type);
}

/** API Gateway sends the decoded path, a function URL the path as received. */
function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

function commonLogTime(at: number): string {
  const iso = new Date(at).toISOString();
  return `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}
