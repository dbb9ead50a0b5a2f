// Sessions: registration, login, refresh, logout, switching, invitations; passwords and addresses.
import * as v from "valibot";
import { Id, OwnName } from "../../../shared/contract/schemas.ts";
import { requireUser, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group, withCookie } from "../../../shared/http/endpoint.ts";
import { requireAgencyPlan } from "../../../shared/http/gates.ts";
import {
  admitRegistration,
  createAccount,
  NewAccount,
  Password,
  refuseWeak,
  registrationMode,
} from "../../../shared/http/registration.ts";
import { anyStore, defaultPlan, secretsMaker, tokenSigner } from "../../../shared/http/signing.ts";
import { DAY, HOUR } from "../../../shared/kernel/clock.ts";
import { ApiError, closed, notFound, unauthorized } from "../../../shared/kernel/errors.ts";
import { mailing } from "../../../shared/providers/mailer.ts";
import { ownedDomainOf } from "../../../shared/rules/addresses.ts";
import { withAsciiDomain } from "../../../shared/rules/contacts.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import { SigningKeyItem } from "../../../shared/store/platform-items.ts";
import { acceptInvitation } from "../../../shared/store/workspaces/accepting.ts";
import { serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { clientStatus } from "../../../shared/store/workspaces/agencies.ts";
import { type AttemptLimit, countAttempt, countFrom } from "../../../shared/store/workspaces/attempts.ts";
import { findUser, membershipsOf, userOf } from "../../../shared/store/workspaces/identity.ts";
import { requestMail } from "../../../shared/store/workspaces/passwords.ts";
import { revokeRefreshToken } from "../../../shared/store/workspaces/refresh.ts";
import { factorKeys } from "../../../shared/store/workspaces/second-factors.ts";
import { begin, firstOpen, goOn, issuing, Session, Tokens } from "./begin.ts";
import { browserSession, isOwnPage } from "./browser.ts";
import { Code, proveSecondFactor } from "./codes.ts";
import { identityProvider } from "./identity-provider.ts";
import { browserCookie, countSignIn, rememberBrowser } from "./known-browser.ts";
import { countGuess, LOGINS_PER_ADDRESS, sharedLimits } from "./limits.ts";
import { passwords } from "./passwords.ts";
import { secondFactor } from "./second-factor.ts";
import { sessions } from "./sessions.ts";
import { signIn } from "./sign-in.ts";
import { AccessToken, bearer, RefreshToken } from "./tokens.ts";

/** LIM-4. */
export const REGISTRATIONS_PER_ADDRESS: AttemptLimit = { kind: "register-ip", max: 5, windowMs: HOUR };
export const REGISTRATIONS_PER_DOMAIN: AttemptLimit = { kind: "register-domain", max: 10, windowMs: DAY };

const endpoint = endpoints({ credentials: [], effect: "session", inRealTime: true, uses: [] });

export const auth = group("auth", "Registration, sessions, passwords and invitations.", [
  endpoint(
    "POST /api/v1/auth/register",
    { uses: [...issuing, anyStore, secretsMaker, defaultPlan, registrationMode, mailing, sharedLimits] },
    {
      summary: "Register a user with a workspace of their own",
      description:
        "Refused where the operator has closed registration, or takes invited addresses only. Where the service can " +
        "mail, a token is mailed that confirms the address. A deployment may demand that before the user may invite, " +
        "send or add credentials.",
      body: NewAccount,
      example: {
        body: {
          email: "ada@example.com",
          password: "correct horse battery staple",
          name: "Ada Lovelace",
          workspace_name: "Analytical Engines",
        },
      },
      returns: Session,
      status: 201,
      errors: ["CONFLICT", "FORBIDDEN", "RATE_LIMITED"],
    },
    async ({ defaultPlan: plan, registration, canMail, sharedLimits, body, headers, sourceIp, ...context }) => {
      const { platform, signer } = context;
      refuseWeak(body.password, [body.email, body.workspace_name]);
      await countFrom(platform, REGISTRATIONS_PER_ADDRESS, sourceIp);
      const isInvited = await admitRegistration(platform, registration, body.email);
      const domain = body.email.slice(body.email.lastIndexOf("@") + 1);
      if (!isInvited) await countAttempt(platform, REGISTRATIONS_PER_DOMAIN, ownedDomainOf(domain));
      await sharedLimits.password(platform);
      const { user, tenant, secret } = await createAccount(context, body, { plan, isConfirmed: false });
      if (canMail) await requestMail(platform, body.email, "confirm");
      return begin({ platform, signer }, { headers, sourceIp }, { user, password: secret, tenant, role: "owner" });
    },
  ),

  endpoint(
    "POST /api/v1/auth/login",
    { uses: [...issuing, factorKeys, sharedLimits, serviceUrl] },
    {
      summary: "Log in to a workspace: the one named, else the first that is open",
      description:
        "One that demands its identity provider is open to owners with a second factor alone. A user with a second factor gives a code too. Without it, the right password is answered with 401 " +
        "`SECOND_FACTOR_REQUIRED`, and no session begins.",
      body: v.strictObject({
        email: v.pipe(v.string(), v.trim(), v.maxLength(320), v.transform(withAsciiDomain)),
        password: Password,
        code: v.optional(Code),
        tenant_id: v.optional(Id),
      }),
      returns: Session,
      errors: ["UNAUTHORIZED", "SECOND_FACTOR_REQUIRED", "SIGN_IN_REQUIRED", "RATE_LIMITED", "TENANT_DELETED"],
    },
    async ({ platform, signer, factorKeys, sharedLimits, serviceUrl, body, headers, cookies, sourceIp }) => {
      await countFrom(platform, LOGINS_PER_ADDRESS, sourceIp);
      const known = await countSignIn(platform, { email: body.email, sourceIp, cookies });
      await sharedLimits.password(platform, known !== undefined);
      const user = await findUser(platform, body.email, body.password);
      if (!user) throw unauthorized("The email address or the password is wrong.");
      const secondFactor = await proveSecondFactor({ platform, factorKeys }, user, body.code);
      const { workspace: _, ...wanted } = await firstOpen(platform, user.id, {
        named: body.tenant_id,
        hasOwnFactor: secondFactor,
      });
      const beginning = { ...wanted, user: userOf(user), password: user.password, secondFactor };
      const session = await begin({ platform, signer }, { headers, sourceIp }, beginning);
      if (!isOwnPage(headers)) return session;
      return withCookie(session, browserCookie(serviceUrl, await rememberBrowser(platform, user, known)));
    },
  ),

  endpoint(
    "POST /api/v1/auth/refresh",
    { uses: [...issuing, sharedLimits] },
    {
      summary: "Exchange a refresh token for a new pair; an old one used again ends the session",
      body: RefreshToken,
      returns: Tokens,
      errors: ["UNAUTHORIZED", "RATE_LIMITED", "TENANT_DELETED"],
    },
    async ({ platform, signer, sharedLimits, body, sourceIp }) => {
      await sharedLimits.refresh(platform, sourceIp);
      return goOn({ platform, signer }, body.refresh_token);
    },
  ),

  endpoint(
    "POST /api/v1/auth/logout",
    { uses: [platformWrite] },
    { summary: "End the session of a refresh token", body: RefreshToken },
    ({ platform, body }) => revokeRefreshToken(platform, body.refresh_token),
  ),

  ...browserSession,

  endpoint(
    "POST /api/v1/auth/switch",
    { credentials: ["dashboard"], uses: issuing },
    {
      summary: "Switch to another workspace of the user; a read-only token stays read-only",
      description:
        "The session ends with the one that it came from. With a token for a client's workspace it is a 404, with one that " +
        "began at an identity provider a 403.",
      body: v.strictObject({ tenant_id: Id }),
      returns: Session,
      errors: ["NOT_FOUND", "FORBIDDEN", "SIGN_IN_REQUIRED"],
    },
    async ({ platform, signer, caller, body, headers, sourceIp }) => {
      const {
        user: id,
        email,
        name,
        agency,
        provider,
        narrowed: readOnly,
        session: parent,
        ...own
      } = requireUser(caller);
      // A token for a client's workspace reaches that workspace alone.
      if (agency !== undefined) throw notFound("workspace");
      if (provider.isOwn)
        throw new ApiError(
          "FORBIDDEN",
          "This session began at an identity provider, and is of one workspace. Sign in to the other.",
        );
      const memberships = await membershipsOf(platform, id);
      const membership = memberships.find(({ tenant }) => tenant === body.tenant_id);
      if (!membership) throw notFound("workspace");
      const user = { id, email, name };
      const { isProven: secondFactor, isOwn: hasOwnFactor } = own.secondFactor;
      const beginning = { ...membership, user, readOnly, parent, secondFactor, hasOwnFactor };
      return begin({ platform, signer }, { headers, sourceIp }, beginning);
    },
  ),

  endpoint(
    "POST /api/v1/auth/tokens/read-only",
    { credentials: ["dashboard"], uses: [tokenSigner] },
    { summary: "Get an access token that cannot write", returns: AccessToken, status: 201 },
    async ({ signer, caller, tenant }) => {
      const { user, role, agency, session } = requireUser(caller);
      const subject = { user, tenant, role, readOnly: true, ...(agency && { agency }), ...(session && { session }) };
      return bearer(await signer.accessToken(subject));
    },
  ),

  endpoint(
    "POST /api/v1/agency/workspaces/:id/session",
    // A read: a caller with a read-only token gets a read-only token.
    { credentials: ["dashboard"], effect: "read", uses: [platformRead, tokenSigner] },
    {
      summary: "Get an access token for a client's workspace, with the caller's role in the agency",
      description: "An agency whose plan became smaller keeps the clients that it has.",
      returns: AccessToken,
      status: 201,
      errors: ["FEATURE_NOT_AVAILABLE"],
    },
    async ({ platform, signer, caller, tenant, params }) => {
      requireAgencyPlan(workspaceOf(caller));
      const isAgency = caller.kind === "dashboard" && !caller.agency && workspaceOf(caller).kind === "agency";
      const status = isAgency ? await clientStatus(platform, tenant, params.id) : undefined;
      if (!isAgency || status === undefined) throw notFound("workspace");
      if (status === "deleted") throw closed();
      const { user, role, narrowed, session } = caller;
      const subject = {
        user,
        tenant: params.id,
        role,
        readOnly: narrowed,
        agency: tenant,
        ...(session && { session }),
      };
      return bearer(await signer.accessToken(subject));
    },
  ),

  endpoint(
    "POST /api/v1/auth/invitations/accept",
    { uses: [...issuing, factorKeys, sharedLimits] },
    {
      summary: "Accept an invitation as a new user, or as an existing one with the right password",
      description:
        "A mailed token confirms the address, and sets the password of a user who has not confirmed it. Else the " +
        "password of an existing user is checked like that of a login, and five wrong ones end the invitation.",
      body: v.strictObject({
        token: v.pipe(v.string(), v.maxLength(128)),
        name: OwnName,
        password: Password,
        code: v.optional(Code),
      }),
      returns: Session,
      status: 201,
      errors: [
        "NOT_FOUND",
        "UNAUTHORIZED",
        "SECOND_FACTOR_REQUIRED",
        "SIGN_IN_REQUIRED",
        "RATE_LIMITED",
        "TENANT_DELETED",
        "QUOTA_EXCEEDED",
        "CONFLICT",
      ],
    },
    async ({ platform, signer, factorKeys, sharedLimits, body, headers, sourceIp }) => {
      refuseWeak(body.password, []);
      await countFrom(platform, LOGINS_PER_ADDRESS, sourceIp);
      await sharedLimits.password(platform);
      const { user, ...membership } = await acceptInvitation(platform, body, {
        admit: (email) => countGuess(platform, email, sourceIp),
        refuseWeak: (personal) => refuseWeak(body.password, personal),
        proveSecondFactor: async (existing) => {
          await proveSecondFactor({ platform, factorKeys }, existing, body.code);
        },
      });
      const beginning = { user: userOf(user), password: user.password, secondFactor: user.totp !== undefined };
      return begin({ platform, signer }, { headers, sourceIp }, { ...membership, ...beginning });
    },
  ),

  ...passwords,

  ...secondFactor,

  ...identityProvider,

  ...signIn,

  ...sessions,

  endpoint(
    "GET /.well-known/jwks.json",
    { effect: "read", uses: [platformRead] },
    {
      summary: "The public keys that verify dashboard tokens",
      returns: v.object({ keys: v.array(v.record(v.string(), v.string())) }),
    },
    async ({ platform }) => {
      const { items } = await platform.query(SigningKeyItem, {});
      return { keys: items.map(({ jwk }) => jwk) };
    },
  ),
]);
