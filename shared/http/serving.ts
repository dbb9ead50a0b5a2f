// Capabilities for serving any request, beside those of the endpoint.
import { createHash, timingSafeEqual } from "node:crypto";
import { type Capability, perEnvironment } from "../kernel/deps.ts";
import { ApiError } from "../kernel/errors.ts";
import { auditTrail } from "../store/audit/trail.ts";
import { secrets } from "../store/capabilities.ts";
import { type Platform, platformWrite } from "../store/context.ts";
import { requestTokens } from "./request-tokens.ts";
import { sdkLimits } from "./sdk-limits.ts";
import { tokenVerifier } from "./tokens.ts";

/** Headers that the edge adds: the viewer's address counts only together with the secret. */
const VIEWER_ADDRESS_HEADER = "x-viewer-ip";
const ORIGIN_SECRET_HEADER = "x-origin-secret";

/** The address of the client. Without `ORIGIN_SECRET` there is no edge to trust. */
const viewer = /* @__PURE__ */ perEnvironment("viewer", { env: ["ORIGIN_SECRET"] }, ({ env }) => {
  return (arrival: Arrival) => viewerAddress(arrival, env.ORIGIN_SECRET);
});

interface Arrival {
  headers: Readonly<Record<string, string | undefined>>;
  requestContext: { http: { sourceIp: string } };
}

/** The viewer's address as the edge saw it, if the request came through the edge; else that of the gateway's peer. */
export function viewerAddress(arrival: Arrival, originSecret: string | undefined): string {
  const address = arrival.headers[VIEWER_ADDRESS_HEADER];
  return address && cameThroughEdge(arrival, originSecret) ? address : arrival.requestContext.http.sourceIp;
}

/** Token issuers also request these under the gateway's own address (E19). */
const PUBLIC_KEYS = "GET /.well-known/jwks.json";

/** With `EDGE_ONLY`, refuses requests that bypass the edge with its web ACL (E27). */
const edgeOnly = /* @__PURE__ */ perEnvironment("requireEdge", { env: ["EDGE_ONLY", "ORIGIN_SECRET"] }, ({ env }) => {
  return (route: string, arrival: Arrival) => {
    if (env.EDGE_ONLY !== "1" || route === PUBLIC_KEYS || cameThroughEdge(arrival, env.ORIGIN_SECRET)) return;
    throw new ApiError("FORBIDDEN", "This address is not open. Use the base URL of the service.");
  };
});

function cameThroughEdge({ headers }: Arrival, originSecret: string | undefined): boolean {
  const presented = headers[ORIGIN_SECRET_HEADER];
  return Boolean(originSecret && presented && timingSafeEqual(digest(presented), digest(originSecret)));
}

const digest = (text: string) => createHash("sha256").update(text).digest();

/** Rows of callers are read; counters of requests and the last use of a key are updated. */
type CallerRows = Pick<Platform, "get" | "getEach" | "change" | "clock">;

const callerRows: Capability<"platform", CallerRows> = {
  as: "platform",
  env: platformWrite.env,
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:UpdateItem"], on: "table" }],
  open: platformWrite.open,
};

/** Whether users must confirm their email addresses before they invite, send or add credentials. */
export const addressConfirmation = /* @__PURE__ */ perEnvironment(
  "demandsConfirmation",
  { env: ["CONFIRM_ADDRESSES"] },
  ({ env }) => env.CONFIRM_ADDRESSES === "1",
);

/** The caller, the rate limits, the address of the client, whether users confirm theirs, and the audit trail. */
export const servingUses = [
  callerRows,
  secrets,
  tokenVerifier,
  viewer,
  edgeOnly,
  requestTokens,
  sdkLimits,
  addressConfirmation,
  auditTrail,
] as const;
