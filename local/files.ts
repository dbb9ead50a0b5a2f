// Files beside the gateway: assets as CloudFront serves them (docs/edge.md), and the bucket of imports as S3 does.
import { ASSETS_PATH, assetHeaders } from "../shared/store/files/assets.ts";
import { ASSETS_BUCKET, IMPORTS_BUCKET } from "./account.ts";
import { handleAwsRequest, type S3, type Services } from "./aws/index.ts";
import { type Gateway, type GatewayResponse, pathOf } from "./gateway.ts";
import type { GatewayRequest } from "./gateway-event.ts";

/** The only headers that reach the bucket: no query, cookie or credential does. */
const PASSED_ON = ["if-none-match", "if-modified-since", "range"];

/** The limit fits an uploaded file and the form around it. */
const UPLOAD_LIMIT_BYTES = 64 * 1024 * 1024;

/** The gateway together with the files, under one address. */
export function withFiles(gateway: Gateway, services: Services & { s3: S3 }): Gateway {
  return {
    ...gateway,
    plan: (method, path) =>
      isImport({ path }) ? { streaming: false, bodyLimitBytes: UPLOAD_LIMIT_BYTES } : gateway.plan(method, path),
    handle: (request) => {
      if (isAsset(request)) return readAsset(services.s3, request);
      return isImport(request) ? askBucket(services, request) : gateway.handle(request);
    },
  };
}

const isImport = ({ path }: Pick<GatewayRequest, "path">) =>
  pathOf(path) === `/${IMPORTS_BUCKET}` || pathOf(path).startsWith(`/${IMPORTS_BUCKET}/`);

/** A signed link or form: the embedded S3 checks and answers it. */
async function askBucket(
  services: Services,
  { method, path, headers, body }: GatewayRequest,
): Promise<GatewayResponse> {
  const { pathname, searchParams } = new URL(path, "http://127.0.0.1");
  const answer = await handleAwsRequest(services, {
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
    body,
  });
  return { ...answer, body: Buffer.from(answer.body as string) };
}

const isAsset = ({ path }: GatewayRequest) => pathOf(path).startsWith(ASSETS_PATH);

async function readAsset(s3: S3, request: GatewayRequest): Promise<GatewayResponse> {
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return respond({ status: 403, headers: {}, body: "" });
  const asked = Object.fromEntries(
    PASSED_ON.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
  try {
    const path = `/${ASSETS_BUCKET}${pathOf(request.path)}`;
    return respond(await s3.handleTrusted({ method, path, headers: asked }));
  } catch (error) {
    if (error instanceof URIError) return respond({ status: 400, headers: {}, body: "" });
    throw error;
  }
}

const respond = ({ status, headers, body }: Omit<GatewayResponse, "body"> & { body: string | Uint8Array }) => ({
  status,
  headers: { ...headers, ...assetHeaders },
  body: Buffer.from(body as string),
});
