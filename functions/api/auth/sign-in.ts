// Signing in at the identity provider of a workspace: code flow with PKCE, state and nonce (ACC-15, ACC-16).
import * as v from "valibot";
import { Id, SomeTextUpTo, said } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { authorizationUrl, discover, exchange, type Result, verify } from "../../../shared/http/openid.ts";
import { ApiError, invalid, requireFound, unauthorized } from "../../../shared/kernel/errors.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { withAsciiDomain } from "../../../shared/rules/contacts.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { type Platform, platformWrite } from "../../../shared/store/context.ts";
import { serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { countFrom } from "../../../shared/store/workspaces/attempts.ts";
import { type AssertedUser, knownUser, signedInUser } from "../../../shared/store/workspaces/federated-users.ts";
import { userOf } from "../../../shared/store/workspaces/identity.ts";
import {
  beginAttempt,
  clientOf,
  clientSecrets,
  endAttempt,
  INSTALLATION,
  type Provider,
  providerForAddress,
  providerOf,
} from "../../../shared/store/workspaces/provider.ts";
import { begin, firstOpen, issuing, Session } from "./begin.ts";
import { backTo, installationProvider, signedInPage } from "./identity-provider.ts";
import { SIGN_INS_PER_ADDRESS } from "./limits.ts";

const MAX_CODE = 4_096;
const MAX_PAGE = 2_048;

const Random = v.pipe(v.string(), v.maxLength(64));

const endpoint = endpoints({ credentials: [], effect: "session", inRealTime: true, uses: [egress] });

export const signIn = [
  endpoint(
    "POST /api/v1/auth/sign-in/begin",
    { uses: [platformWrite, serviceUrl, installationProvider] },
    {
      summary: "Begin a sign-in at the identity provider of a workspace, or of an email address",
      description:
        "Where neither has one, at that of the installation, if its operator named one. Keep `state` and `binding` where only this browser has them, send the browser to `url`, and give both with the code that " +
        "comes back. A sign-in is valid for ten minutes. With `redirect_port` the provider sends the browser to " +
        "`http://127.0.0.1:<port>/signed-in`, for programs on the user's machine. That of a workspace comes back below its id.",
      body: v.pipe(
        v.strictObject({
          email: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(254), v.transform(withAsciiDomain))),
          tenant_id: v.optional(Id),
          redirect_port: said(
            "The port of this machine to which the browser comes back",
            v.optional(v.pipe(v.number(), v.integer("must be a port number"), v.minValue(1_024), v.maxValue(65_535))),
          ),
        }),
        v.check(({ email, tenant_id }) => email !== undefined || tenant_id !== undefined, "needs email or tenant_id"),
      ),
      example: { body: { email: "ada@example.com" } },
      returns: v.object({
        url: said("Where the browser goes", v.string()),
        state: said("Comes back with the code", v.string()),
        binding: said("Stays in the browser that begins", v.string()),
      }),
      status: 201,
      errors: ["NOT_FOUND", "RATE_LIMITED"],
    },
    async ({ platform, egress, serviceUrl, installationProvider, body, sourceIp }) => {
      await countFrom(platform, SIGN_INS_PER_ADDRESS, sourceIp);
      const { email = "", tenant_id, redirect_port } = body;
      const ownProvider = await (tenant_id === undefined
        ? providerForAddress(platform, email)
        : providerOf(platform, tenant_id));
      const provider = requireFound(ownProvider ?? installationProvider, "identity provider");
      const metadata = reached(await discover(egress, provider.issuer));

      const page =
        redirect_port === undefined ? signedInPage(serviceUrl) : `http://127.0.0.1:${redirect_port}/signed-in`;
      const redirect_uri = ownProvider ? backTo(page, ownProvider.tenant) : page;
      const into = ownProvider ? undefined : (tenant_id as TenantId | undefined);
      const { state, nonce, challenge, binding } = await beginAttempt(platform, provider, redirect_uri, into);
      const url = authorizationUrl(metadata, {
        client_id: provider.client_id,
        redirect_uri,
        scope: provider.scope,
        state,
        nonce,
        code_challenge: challenge,
        login_hint: email || undefined,
      });
      return { url, state, binding };
    },
  ),

  endpoint(
    "POST /api/v1/auth/sign-in/finish",
    { uses: [...issuing, clientSecrets, installationProvider] },
    {
      summary: "Begin a session by what the identity provider sent the browser back with",
      description:
        "The session reaches this workspace alone, and one that began at the provider of the installation every workspace of " +
        "the user that does not demand its own. It has a second factor where the provider says so (`amr` has `mfa`).",
      body: v.strictObject({
        state: said("As the provider sent it", Random),
        binding: said("As the begin of the sign-in gave it", Random),
        code: said("As the provider sent it", SomeTextUpTo(MAX_CODE)),
        iss: said("As the provider sent it (RFC 9207)", v.optional(v.pipe(v.string(), v.maxLength(512)))),
        redirect_uri: said(
          "Where the browser came back to, without query. Always give it: a code of another provider is then refused, " +
            "and not shown to the one that began the sign-in",
          v.optional(v.pipe(v.string(), v.maxLength(MAX_PAGE))),
        ),
      }),
      returns: Session,
      status: 201,
      errors: [
        "UNAUTHORIZED",
        "FORBIDDEN",
        "SIGN_IN_REQUIRED",
        "NOT_FOUND",
        "CONFLICT",
        "RATE_LIMITED",
        "QUOTA_EXCEEDED",
        "TENANT_DELETED",
      ],
    },
    async ({ platform, signer, egress, clientSecrets, installationProvider, body, headers, sourceIp, clock, log }) => {
      await countFrom(platform, SIGN_INS_PER_ADDRESS, sourceIp);
      const attempt = await endAttempt(platform, body.state, body.binding);
      if (!attempt) throw unauthorized("This sign-in has ended, or began in another browser. Begin again.");
      const { tenant, issuer, client_id: clientId, nonce, verifier, redirect_uri: redirectUri } = attempt;
      const isOfAll = tenant === INSTALLATION;
      const provider = isOfAll ? installationProvider : await providerOf(platform, tenant);
      const isSame = provider?.issuer === issuer && provider.client_id === clientId;
      if (!isSame) throw unauthorized("The identity provider has changed meanwhile. Begin again.");
      if (body.iss !== undefined && body.iss !== issuer) throw invalid({ iss: "is another provider" });
      const cameBack = body.redirect_uri ?? redirectUri;
      if (cameBack !== redirectUri) throw invalid({ redirect_uri: "is of another provider" });

      const metadata = reached(await discover(egress, issuer));
      const sealed = provider.client_secret;
      const secret = sealed === undefined ? undefined : (await clientSecrets(tenant).open(sealed)).toString();
      const grant = { code: body.code, verifier, redirectUri };
      const tokens = await exchange(egress, metadata, { id: clientId, secret }, grant);
      const expected = { clientId, nonce, groupsClaim: provider.groups_claim, now: clock.now() };
      const checked = tokens.kind === "failed" ? tokens : await verify(egress, metadata, tokens.value, expected);
      if (checked.kind === "failed") {
        log({ level: "warn", message: "a provider's sign-in failed", tenant, reason: checked.reason });
        throw unauthorized(`The sign-in failed: ${checked.reason}.`);
      }

      const { hasManyFactors: secondFactor, ...asserted } = checked.value;
      const { user, membership } = isOfAll
        ? await memberOfAny(platform, provider, asserted, { named: attempt.wanted, hasOwnFactor: false })
        : await memberOf(platform, provider, asserted);
      const byProvider = {
        isEnrolled: user.totp !== undefined,
        of: isOfAll ? ("installation" as const) : ("workspace" as const),
        client: clientOf(provider),
      };
      const beginning = { ...membership, user: userOf(user), password: user.password, secondFactor, byProvider };
      return begin({ platform, signer }, { headers, sourceIp }, beginning);
    },
  ),
];

async function memberOf(platform: Platform, provider: Provider, asserted: AssertedUser) {
  const { user, tenant, role } = await signedInUser(platform, provider, asserted);
  return { user, membership: { tenant, role } };
}

async function memberOfAny(
  platform: Platform,
  provider: Provider,
  asserted: AssertedUser,
  wanted: Parameters<typeof firstOpen>[2],
) {
  const user = await knownUser(platform, provider, asserted);
  const { tenant, role } = await firstOpen(platform, user.id, wanted);
  return { user, membership: { tenant, role } };
}

/** @throws 503 */
function reached<T>(result: Result<T>): T {
  if (result.kind === "found") return result.value;
  throw new ApiError("SERVICE_UNAVAILABLE", `The identity provider cannot be used now: ${result.reason}.`);
}
