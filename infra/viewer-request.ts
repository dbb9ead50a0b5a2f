// The function that CloudFront runs on every request. It is text, because its runtime is not Node.
import { preflightHeaders } from "../shared/http/fallback.ts";

const VIEWER_ADDRESS_HEADER = "x-viewer-ip";
const VIEWER_AUTHORIZATION_HEADER = "x-viewer-authorization";

/**
 * The stream's origin never gets `Authorization`, because CloudFront signs its own request there (E10 in docs/edge.md).
 * It never answers OPTIONS, because CloudFront routes by path alone and `$default` is behind the other origin (E11 in
 * docs/edge.md).
 */
export function viewerRequestCode(streamPath: string, method: string): string {
  const preflight = Object.fromEntries(
    Object.entries(preflightHeaders([method])).map(([name, value]) => [name, { value }]),
  );
  return `function handler(event) {
  var request = event.request;
  var headers = request.headers;
  headers["${VIEWER_ADDRESS_HEADER}"] = { value: event.viewer.ip };
  delete headers["${VIEWER_AUTHORIZATION_HEADER}"];
  if (request.uri !== ${JSON.stringify(streamPath)}) return request;
  if (request.method === "OPTIONS") {
    return { statusCode: 204, statusDescription: "No Content", headers: ${JSON.stringify(preflight)} };
  }
  if (headers.authorization) headers["${VIEWER_AUTHORIZATION_HEADER}"] = { value: headers.authorization.value };
  return request;
}
`;
}
