// How people get in and stay in: registration, login, refresh, logout, switching, invitations.
import * as v from "valibot";
import { DAY, HOUR, MINUTE } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError, invalid, notFound, unauthorized } from "../../../shared/http/errors.ts";
import { OwnName } from "../../../shared/http/schemas.ts";
import { ACCESS_TOKEN_SECONDS, type PublishedKey } from "../../../shared/http/tokens.ts";
import { platformWrite } from "../../../shared/resources.ts";
import { isEmailAddress } from "../../../shared/rules/contacts.ts";
import { weaknessOf } from "../../../shared/rules/passwords.ts";
import { anyStore, defaultPlan, secretsMaker, tokenSigner } from "../../../shared/signing.ts";
import { platformKeys } from "../../../shared/store/keys.ts";
import type { TenantId } from "../../../shared/store/model.ts";
import { clientStatus } from "../../../shared/store/workspaces/agencies.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import {
  findUser,
  hashPassword,
  type Membership,
  membershipsOf,
  register,
  type User,
} from "../../../shared/store/workspaces/identity.ts";
import { acceptInvitation } from "../../../shared/store/workspaces/members.ts";
import { issueRefreshToken, revokeRefreshToken, rotateRefreshToken } from "../../../shared/store/workspaces/refresh.ts";

/** LIM-4. */
const REGISTRATIONS_PER_ADDRESS: AttemptLimit = { kind: "register-ip", max: 5, windowMs: HOUR };
const REGISTRATIONS_PER_DOMAIN: AttemptLimit = { kind: "register-domain", max: 10, windowMs: DAY };
/** docs/decisions/0021#login. */
const LOGINS_PER_EMAIL: AttemptLimit = { kind: "login-email", max: 10, windowMs: 15 * MINUTE };
const LOGINS_PER_ADDRESS: AttemptLimit = { kind: "login-ip", max: 100, windowMs: 15 * MINUTE };
const SALT_BYTES = 16;

const Email = v.pipe(v.string("must be a string"), v.trim(), v.check(isEmailAddress, "must be an e-mail address"));
const Password = v.pipe(v.string("must be a string"), v.maxLength(1_024, "must have at most 1,024 characters"));
const RefreshToken = v.strictObject({ refresh_token: v.pipe(v.string("must be a string"), v.maxLength(256)) });

const AccessToken = v.object({ access_token: v.string(), token_type: v.literal("Bearer"), expires_in: v.number() });
const Tokens = v.object({ ...AccessToken.entries, refresh_token: v.string() });
const Session = v.pipe(
  v.object({
    user: v.object({ id: v.string(), email: v.string(), name: v.string() }),
    tenant: v.object({ id: v.string(), name: v.string(), plan: v.string(), role: v.string() }),
    ...Tokens.entries,
  }),
  v.title("Session"),
);

const uses = [platformWrite, tokenSigner] as const;
type AuthContext = Context<typeof uses>;
const open = endpoints({ credentials: [], effect: "session", uses });
const session = endpoints({ credentials: ["dashboard"], effect: "session", uses });
const agencySession = endpoints({ credentials: ["dashboard"], feature: "agency", uses });

export const auth = group("auth", "How people get in and stay in.", [
  open(
    "POST /api/v1/auth/register",
    { uses: [anyStore, secretsMaker, defaultPlan] },
    {
      summary: "Register a user with a workspace of their own",
      body: v.strictObject({ email: Email, password: Password, name: OwnName, workspace_name: OwnName }),
      returns: Session,
      status: 201,
      errors: ["CONFLICT", "RATE_LIMITED"],
    },
    async ({ platform, storeOf, signer, secretsMaker, defaultPlan: plan, body, ids, sourceIp }) => {
      refuseWeak(body.password, [body.email, body.workspace_name]);
      await countAttempt(platform, REGISTRATIONS_PER_ADDRESS, sourceIp);
      await countAttempt(platform, REGISTRATIONS_PER_DOMAIN, body.email.slice(body.email.lastIndexOf("@") + 1));
      await secretsMaker.ensure();
      const secret = await hashPassword(body.password, ids.bytes(SALT_BYTES));
      const { user, tenant } = await register(platform, storeOf, { ...body, secret, plan });
      return begin({ platform, signer }, user, { tenant, role: "owner" });
    },
  ),

  open(
    "POST /api/v1/auth/login",
    {},
    {
      summary: "Log in to a workspace: the one named, else the first that is open",
      body: v.strictObject({
        email: v.pipe(v.string("must be a string"), v.trim(), v.maxLength(320)),
        password: Password,
        tenant_id: v.optional(v.string("must be a string")),
      }),
      returns: Session,
      status: 200,
      errors: ["UNAUTHORIZED", "RATE_LIMITED", "TENANT_DELETED"],
    },
    async ({ platform, signer, body, sourceIp }) => {
      await countAttempt(platform, LOGINS_PER_ADDRESS, sourceIp);
      await countAttempt(platform, LOGINS_PER_EMAIL, body.email);
      const user = await findUser(platform, body.email, body.password);
      if (!user) throw unauthorized("The e-mail address or the password is wrong.");
      const memberships = (await membershipsOf(platform, user.id)).filter(
        ({ tenant }) => body.tenant_id === undefined || tenant === body.tenant_id,
      );
      if (memberships.length === 0) throw unauthorized("The user belongs to no such workspace.");
      const statuses = await platform.getAll(memberships.map(({ tenant }) => platformKeys.tenant(tenant)));
      const wanted = memberships.find((_, i) => statuses[i] && statuses[i].status !== "deleted");
      if (!wanted) throw closed();
      return begin({ platform, signer }, user, wanted);
    },
  ),

  open(
    "POST /api/v1/auth/refresh",
    {},
    {
      summary: "Exchange a refresh token for a new pair; an old one used again ends the session",
      body: RefreshToken,
      returns: Tokens,
      status: 200,
      errors: ["UNAUTHORIZED", "TENANT_DELETED"],
    },
    async ({ platform, signer, body }) => {
      const rotated = await rotateRefreshToken(platform, body.refresh_token);
      const rows = rotated
        ? [platformKeys.tenant(rotated.tenant), platformKeys.member(rotated.tenant, rotated.user)]
        : [];
      const [workspace, member] = await platform.getAll(rows);
      if (!rotated || !member) throw unauthorized("The refresh token is not good any more.");
      requireOpen(workspace?.status);
      const { user, tenant, readOnly } = rotated;
      const subject = { user, tenant, role: String(member.role), ...(readOnly && { readOnly }) };
      return { ...bearer(await signer.accessToken(subject)), refresh_token: rotated.token };
    },
  ),

  open(
    "POST /api/v1/auth/logout",
    {},
    { summary: "End the session of a refresh token", body: RefreshToken },
    ({ platform, body }) => revokeRefreshToken(platform, body.refresh_token),
  ),

  session(
    "POST /api/v1/auth/switch",
    {},
    {
      summary: "Go on in another workspace of the same user; a read-only token stays one",
      body: v.strictObject({ tenant_id: v.string("must be a string") }),
      returns: Session,
      status: 200,
      errors: ["NOT_FOUND", "TENANT_DELETED"],
    },
    async ({ platform, signer, caller, body }) => {
      if (caller.kind !== "dashboard") throw unauthorized();
      const tenant = body.tenant_id as TenantId;
      const [member] = (await membershipsOf(platform, caller.user)).filter((found) => found.tenant === tenant);
      if (!member) throw notFound("workspace");
      const user = { id: caller.user, email: caller.email, name: caller.name };
      return begin({ platform, signer }, user, member, caller.narrowed);
    },
  ),

  session(
    "POST /api/v1/auth/tokens/read-only",
    {},
    { summary: "Get an access token that cannot write", returns: AccessToken, status: 201 },
    async ({ signer, caller, tenant }) => {
      if (caller.kind !== "dashboard") throw unauthorized();
      const { user, role, agency } = caller;
      return bearer(await signer.accessToken({ user, tenant, role, readOnly: true, ...(agency && { agency }) }));
    },
  ),

  agencySession(
    "POST /api/v1/agency/workspaces/:id/session",
    // It changes nothing: whoever may only read gets a token that may only read.
    { effect: "read" },
    {
      summary: "Get an access token for a client's workspace, in the role one has in the agency",
      returns: AccessToken,
      status: 201,
      errors: ["NOT_FOUND", "TENANT_DELETED"],
    },
    async ({ platform, signer, caller, tenant, params }) => {
      const isAgency = caller.kind === "dashboard" && !caller.agency && workspaceOf(caller).kind === "agency";
      const status = isAgency ? await clientStatus(platform, tenant, params.id) : undefined;
      if (!isAgency || status === undefined) throw notFound("workspace");
      if (status === "deleted") throw new ApiError("TENANT_DELETED", "This workspace is closed.");
      const { user, role, narrowed } = caller;
      return bearer(await signer.accessToken({ user, tenant: params.id, role, readOnly: narrowed, agency: tenant }));
    },
  ),

  open(
    "POST /api/v1/auth/invitations/accept",
    {},
    {
      summary: "Accept an invitation as a new user, or as a known one with the right password",
      body: v.strictObject({
        token: v.pipe(v.string("must be a string"), v.maxLength(128)),
        name: OwnName,
        password: Password,
      }),
      returns: Session,
      status: 201,
      errors: ["NOT_FOUND", "UNAUTHORIZED", "RATE_LIMITED", "TENANT_DELETED", "QUOTA_EXCEEDED", "CONFLICT"],
    },
    async ({ platform, signer, body, sourceIp }) => {
      refuseWeak(body.password, []);
      await countAttempt(platform, LOGINS_PER_ADDRESS, sourceIp);
      const { user, ...membership } = await acceptInvitation(platform, body);
      return begin({ platform, signer }, user, membership);
    },
  ),

  open(
    "GET /.well-known/jwks.json",
    { effect: "read" },
    {
      summary: "The public keys that verify dashboard tokens",
      returns: v.object({ keys: v.array(v.record(v.string(), v.string())) }),
    },
    async ({ platform }) => {
      const { items } = await platform.query({ pk: platformKeys.jwk("").pk });
      return { keys: items.map(({ jwk }) => jwk as unknown as PublishedKey) };
    },
  ),
]);

function refuseWeak(password: string, personal: readonly string[]): void {
  const weakness = weaknessOf(password, personal);
  if (weakness) throw invalid({ password: weakness });
}

const closed = () => new ApiError("TENANT_DELETED", "This workspace is closed.");

/** ERR-7: no session begins or goes on in a deleted workspace. */
function requireOpen(status: unknown): void {
  if (status === undefined || status === "deleted") throw closed();
}

/** Both tokens of a session that begins. */
async function begin({ platform, signer }: AuthContext, user: User, { tenant, role }: Membership, readOnly = false) {
  const workspace = await platform.get(platformKeys.tenant(tenant));
  requireOpen(workspace?.status);
  const [access_token, refresh_token] = await Promise.all([
    signer.accessToken({ user: user.id, tenant, role, readOnly }),
    issueRefreshToken(platform, { user: user.id, tenant, readOnly }),
  ]);
  return {
    user,
    tenant: { id: tenant, name: String(workspace?.name), plan: String(workspace?.plan), role },
    ...bearer(access_token),
    refresh_token,
  };
}

const bearer = (access_token: string) => ({
  access_token,
  token_type: "Bearer" as const,
  expires_in: ACCESS_TOKEN_SECONDS,
});
