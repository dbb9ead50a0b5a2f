// What CloudFront does under /assets/ (docs/edge.md): objects of the assets bucket, read by path alone.
import { ASSETS_PATH, assetHeaders } from "../shared/asset-files.ts";
import { ASSETS_BUCKET } from "./account.ts";
import { readRequest } from "./aws/s3/requests.ts";
import { refuse, respond } from "./aws/s3/responses.ts";
import type { S3 } from "./aws/s3.ts";
import { isAwsFailure } from "./aws/stand-in.ts";
import { type Gateway, type GatewayResponse, pathOf } from "./gateway.ts";
import type { GatewayRequest } from "./gateway-event.ts";

/** The few headers that reach the bucket; no query, no cookie, no credential does. */
const PASSED_ON = ["if-none-match", "if-modified-since", "range"];

/** The gateway with the assets beside it, as one address serves both. */
export function withAssets(gateway: Gateway, s3: S3): Gateway {
  return {
    ...gateway,
    handle: (request) => (isAsset(request) ? readAsset(s3, request) : gateway.handle(request)),
  };
}

const isAsset = ({ path }: GatewayRequest) => pathOf(path).startsWith(ASSETS_PATH);

async function readAsset(s3: S3, { method, path, headers }: GatewayRequest): Promise<GatewayResponse> {
  if (method !== "GET" && method !== "HEAD") return answer({ status: 403, headers: {}, body: "" });
  const asked = Object.fromEntries(
    PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
  try {
    const { operation, input } = readRequest(
      { method, path: `/${ASSETS_BUCKET}${pathOf(path)}`, headers: asked },
      Buffer.alloc(0),
    );
    return answer(respond(operation, input, await s3.operate(operation, input)));
  } catch (error) {
    if (error instanceof URIError) return answer({ status: 400, headers: {}, body: "" });
    if (isAwsFailure(error)) return answer(refuse(error, method));
    throw error;
  }
}

const answer = ({ status, headers, body }: Omit<GatewayResponse, "body"> & { body: string | Uint8Array }) => ({
  status,
  headers: { ...headers, ...assetHeaders },
  body: Buffer.from(body as string),
});
