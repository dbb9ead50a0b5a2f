// The address of the client: that of the connection, never one from a client's own header (E8, E9 in docs/edge.md).
import { createHash, timingSafeEqual } from "node:crypto";
import type { Capability } from "../kernel/deps.ts";

/** Headers that the edge adds: the viewer's address counts only together with the secret. */
const VIEWER_ADDRESS_HEADER = "x-viewer-ip";
const ORIGIN_SECRET_HEADER = "x-origin-secret";

/** The address of the client. Without `ORIGIN_SECRET` there is no edge to trust. */
export const viewer: Capability<"viewer", (arrival: Arrival) => string> = {
  as: "viewer",
  env: ["ORIGIN_SECRET"],
  grants: [],
  open: ({ env }) => {
    const addressOf = (arrival: Arrival) => viewerAddress(arrival, env.ORIGIN_SECRET);
    return () => addressOf;
  },
};

interface Arrival {
  headers: Readonly<Record<string, string | undefined>>;
  requestContext: { http: { sourceIp: string } };
}

/** The viewer's address as the edge saw it, if the request came through the edge; else that of the gateway's peer. */
export function viewerAddress({ headers, requestContext }: Arrival, originSecret: string | undefined): string {
  const given = headers[ORIGIN_SECRET_HEADER];
  const address = headers[VIEWER_ADDRESS_HEADER];
  const cameThroughEdge = originSecret && given && timingSafeEqual(digest(given), digest(originSecret));
  return cameThroughEdge && address ? address : requestContext.http.sourceIp;
}

const digest = (text: string) => createHash("sha256").update(text).digest();
