// Responses in the form of the gateway: status, headers and body, as the shape of the endpoint says.
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from "aws-lambda";
import * as v from "valibot";
import { cookieText } from "./cookies.ts";
import { deprecationHeaders } from "./deprecation.ts";
import { type Endpoint, isReply, type Reply, type Shape } from "./endpoint.ts";
import { pathOf } from "./input.ts";

export type Response = APIGatewayProxyStructuredResultV2;
export type ApiHandler = (event: APIGatewayProxyEventV2, context: Context) => Promise<Response>;

/** Names a live stream to its viewer. */
export const STREAM_ID_HEADER = "x-stream-id";

/** On responses of SDK-key routes: any origin may read them, with the headers that the SDK uses. */
export const openToBrowsers: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": `date, retry-after, x-request-id, ${STREAM_ID_HEADER}`,
};

/** The response for a handler's result. @throws if it does not match the shape */
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
  { status, body, headers: ownHeaders }: { status: number; body: unknown; headers: Record<string, string> },
): Response => ({
  statusCode: status,
  headers: { ...headers, ...ownHeaders, "content-type": type },
  ...(Buffer.isBuffer(body) ? { body: body.toString("base64"), isBase64Encoded: true } : { body: String(body) }),
});

export const json = (statusCode: number, body: unknown, headers: Record<string, string> = {}): Response => ({
  statusCode,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

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

/** The answer to a HEAD: the headers of the GET, with the length of the body that is left out. */
export const withoutBody =
  (run: ApiHandler): ApiHandler =>
  async (event, context) => {
    const { body = "", isBase64Encoded, ...answer } = await run(event, context);
    const length = Buffer.byteLength(body, isBase64Encoded ? "base64" : "utf8");
    return { ...answer, headers: { ...answer.headers, "content-length": String(length) } };
  };
