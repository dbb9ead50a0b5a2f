// The session of the console: its refresh token is in a cookie that scripts cannot read (ACC-7).
import * as v from "valibot";
import { Uuid } from "../../../shared/contract/schemas.ts";
import type { Cookie } from "../../../shared/http/cookies.ts";
import { isSecureOrigin } from "../../../shared/http/cookies.ts";
import { endpoints, withCookie } from "../../../shared/http/endpoint.ts";
import { tokenSigner } from "../../../shared/http/signing.ts";
import { ApiError, unauthorized } from "../../../shared/kernel/errors.ts";
import { platformWrite } from "../../../shared/store/context.ts";
import { serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { REFRESH_SECONDS, replaceRefreshToken, revokeRefreshToken } from "../../../shared/store/workspaces/refresh.ts";
import { goOn } from "./begin.ts";
import { sharedLimits } from "./limits.ts";
import { AccessToken, ENDED, RefreshToken } from "./tokens.ts";

const PATH = "/api/v1/auth/browser";

/** Makes the session's cookie: one per workspace, so that tabs of several workspaces stay apart. */
const sessionCookie = (origin: string, tenant: string, value: string): Cookie => ({
  name: nameOf(tenant),
  value,
  path: PATH,
  maxAgeSeconds: REFRESH_SECONDS,
  isSecure: isSecureOrigin(origin),
});

const nameOf = (tenant: string): string => `r.${tenant}`;

/** Whether a page of the service itself sent the request: browsers set the header, and scripts cannot. */
export const isOwnPage = (headers: Readonly<Record<string, string | undefined>>): boolean =>
  headers["sec-fetch-site"] === "same-origin";

function requireSameOrigin(headers: Readonly<Record<string, string | undefined>>): void {
  if (!isOwnPage(headers)) throw new ApiError("FORBIDDEN", "This call is for pages of the service itself.");
}

/** It is part of the cookie's name, so it must be an id and nothing else. */
const Workspace = v.strictObject({ tenant_id: Uuid });
const endpoint = endpoints({
  credentials: [],
  effect: "session",
  inRealTime: true,
  uses: [platformWrite, serviceUrl],
});

export const browserSession = [
  endpoint(
    "POST /api/v1/auth/browser/keep",
    { uses: [sharedLimits] },
    {
      summary: "Move a session into a cookie of the browser; the given refresh token ends",
      description: "For pages of the service itself. The cookie cannot be read by scripts.",
      body: RefreshToken,
      errors: ["UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED"],
    },
    async ({ platform, serviceUrl, sharedLimits, headers, body, sourceIp }) => {
      requireSameOrigin(headers);
      await sharedLimits.refresh(platform, sourceIp);
      const session = await replaceRefreshToken(platform, body.refresh_token);
      if (!session) throw unauthorized(ENDED);
      return withCookie(undefined, sessionCookie(serviceUrl, session.tenant, session.token));
    },
  ),

  endpoint(
    "POST /api/v1/auth/browser/refresh",
    { uses: [tokenSigner, sharedLimits] },
    {
      summary: "Get an access token by the cookie of a workspace",
      body: Workspace,
      returns: AccessToken,
      errors: ["UNAUTHORIZED", "FORBIDDEN", "RATE_LIMITED", "TENANT_DELETED"],
    },
    async ({ platform, signer, serviceUrl, sharedLimits, headers, cookies, body, sourceIp }) => {
      requireSameOrigin(headers);
      await sharedLimits.refresh(platform, sourceIp);
      const { tenant_id } = body;
      const token = cookies[nameOf(tenant_id)] ?? "";
      const { refresh_token, ...access } = await goOn({ platform, signer }, token, tenant_id);
      return withCookie(access, sessionCookie(serviceUrl, tenant_id, refresh_token));
    },
  ),

  endpoint(
    "POST /api/v1/auth/browser/logout",
    {},
    {
      summary: "End the session of a workspace's cookie",
      body: Workspace,
      errors: ["FORBIDDEN"],
    },
    async ({ platform, serviceUrl, headers, cookies, body }) => {
      requireSameOrigin(headers);
      await revokeRefreshToken(platform, cookies[nameOf(body.tenant_id)] ?? "");
      return withCookie(undefined, sessionCookie(serviceUrl, body.tenant_id, ""));
    },
  ),
];
