// Responses in the form of the gateway: status, headers and body, as the shape of the endpoint says.
import type { APIGatewayProxyStructuredResultV2 } from "aws-lambda";
import * as v from "valibot";
import { cookieText } from "./cookies.ts";
import { deprecationHeaders } from "./deprecation.ts";
import { type Endpoint, isReply, type Reply, type Shape } from "./endpoint.ts";
import { openToBrowsers } from "./fallback.ts";
import { pathOf } from "./input.ts";

export type Response = APIGatewayProxyStructuredResultV2;

/** The response of a handler's result. @throws if it is not as the shape says */
export function respond({ route, shape }: Endpoint, result: unknown): Response {
  const declared = shape.status ?? (shape.returns || shape.text ? 200 : 204);
  const reply: Omit<Reply, "reply"> = isReply(result) ? result : { body: result, headers: {} };
  const { status = declared, headers, cookie } = reply;
  if (shape.text) return text(shape.text, { status, body: reply.body, headers });
  const cookies = cookie && { cookies: [cookieText(cookie)] };
  const isEmpty = isReply(result) && result.body === undefined;
  if (!shape.returns || isEmpty) return { statusCode: status, headers, ...cookies };
  const body = v.safeParse(shape.returns, reply.body);
  if (!body.success) throw new Error(`${route} answered outside its schema: ${pathOf(body.issues[0]) || "body"}`);
  return { ...json(status, body.output, headers), ...cookies };
}

const text = (
  { type, headers }: NonNullable<Shape["text"]>,
  { status, body, headers: own }: { status: number; body: unknown; headers: Record<string, string> },
): Response => ({
  statusCode: status,
  headers: { ...headers, ...own, "content-type": type },
  ...(Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body: String(body) }),
});

export const json = (statusCode: number, body: unknown, headers: Record<string, string> = {}): Response => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** What every response has. */
export function commonHeaders(
  { access, shape }: Endpoint,
  requestId: string,
  { statusCode = 200 }: Response,
): Record<string, string> {
  const kept = statusCode < 300 && access.credentials.length === 0 ? shape.cacheSeconds : undefined;
  return {
    "x-request-id": requestId,
    "cache-control": kept === undefined ? "no-store" : `public, max-age=${kept}`,
    "x-content-type-options": "nosniff",
    ...deprecationHeaders(shape.deprecated),
    ...(access.credentials.includes("sdk") && openToBrowsers),
  };
}
