// How people get in: registration and login, answered with tokens.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { notFound, unauthorized } from "../../../shared/http/errors.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../shared/http/tokens.ts";
import { type Platform, platformWrite } from "../../../shared/resources.ts";
import { isEmailAddress } from "../../../shared/rules/contacts.ts";
import { anyStore, defaultPlan, type Signer, secretsMaker, tokenSigner } from "../../../shared/signing.ts";
import { findUser, hashPassword, type Membership, membershipsOf, register, type User } from "../../../shared/store/identity.ts";
import { issueRefreshToken } from "../../../shared/store/refresh.ts";

const LEAST_PASSWORD_CHARACTERS = 12;
const SALT_BYTES = 16;

const Email = v.pipe(v.string("must be a string"), v.trim(), v.check(isEmailAddress, "must be an e-mail address"));
const Name = v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty"), v.maxLength(200));
const Password = v.pipe(
  v.string("must be a string"),
  v.minLength(LEAST_PASSWORD_CHARACTERS, `must have at least ${LEAST_PASSWORD_CHARACTERS} characters`),
  v.maxLength(1_024, "must have at most 1,024 characters"),
);

const Session = v.object({
  user: v.object({ id: v.string(), email: v.string(), name: v.string() }),
  tenant: v.object({ id: v.string(), role: v.string() }),
  access_token: v.string(),
  refresh_token: v.string(),
  token_type: v.literal("Bearer"),
  expires_in: v.number(),
});

const endpoint = endpoints({ credentials: [], effect: "session", uses: [platformWrite, tokenSigner] });

export const auth = group("auth", "How people get in.", [
  endpoint(
    "POST /api/v1/auth/register",
    { uses: [anyStore, secretsMaker, defaultPlan] },
    {
      summary: "Register a user with a workspace of their own",
      body: v.strictObject({ email: Email, password: Password, name: Name, workspace_name: Name }),
      returns: Session,
      status: 201,
      errors: ["CONFLICT"],
    },
    async ({ platform, storeOf, signer, secretsMaker, defaultPlan: plan, body, ids }) => {
      await secretsMaker.ensure();
      const secret = await hashPassword(body.password, ids.bytes(SALT_BYTES));
      const { user, tenant } = await register(platform, storeOf, { ...body, secret, plan });
      return openSession(platform, signer, user, { tenant, role: "owner" });
    },
  ),

  endpoint(
    "POST /api/v1/auth/login",
    {},
    {
      summary: "Log in",
      body: v.strictObject({
        email: v.string("must be a string"),
        password: v.pipe(v.string("must be a string"), v.maxLength(1_024)),
        tenant_id: v.optional(v.string()),
      }),
      returns: Session,
      errors: ["UNAUTHORIZED", "NOT_FOUND"],
      status: 200,
    },
    async ({ platform, signer, body }) => {
      const user = await findUser(platform, body.email, body.password);
      if (!user) throw unauthorized("The e-mail address or the password is wrong.");
      const memberships = await membershipsOf(platform, user.id);
      const wanted = memberships.find(({ tenant }) => body.tenant_id === undefined || tenant === body.tenant_id);
      if (!wanted) throw notFound("workspace");
      return openSession(platform, signer, user, wanted);
    },
  ),
]);

async function openSession(platform: Platform, signer: Signer, user: User, { tenant, role }: Membership) {
  const [access_token, refresh_token] = await Promise.all([
    signer.accessToken({ user: user.id, tenant, role }),
    issueRefreshToken(platform, { user: user.id, tenant }),
  ]);
  return {
    user,
    tenant: { id: tenant, role },
    access_token,
    refresh_token,
    token_type: "Bearer" as const,
    expires_in: ACCESS_TOKEN_SECONDS,
  };
}
