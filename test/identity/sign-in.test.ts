// Signing in at the identity provider of a workspace.
import { createHmac, generateKeyPairSync } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { mailedToken } from "../support/accounts.ts";
import {
  CLIENT,
  ISSUER,
  KEY_ID,
  type OpenIdProvider,
  openIdProvider,
  type Person,
  signedBy,
} from "../support/openid-provider.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

const PASSWORD = "correct horse battery";
const ROUTE = "/api/v1/auth/identity-provider";
const ADA: Person = { sub: "ada-1", email: "ada@lovelace.example", email_verified: true, name: "Ada" };
const GRACE: Person = { sub: "grace-1", email: "grace@lovelace.example", email_verified: true, name: "Grace" };

let world: TestWorld;
let provider: OpenIdProvider;
beforeEach(async () => {
  world = await testWorld();
  provider = openIdProvider(world);
});

const post = (path: string, body: object, as = {}): Promise<Answer> =>
  world.call(`POST /api/v1/auth/${path}`, { body, as });
const bearer = ({ body }: Answer) => ({ authorization: `Bearer ${body.access_token}` });
const me = (answer: Answer) => world.call("GET /api/v1/me", { as: bearer(answer) });
const topics = (answer: Answer) => world.call("GET /api/v1/topics", { as: bearer(answer) });
const register = (email = "ada@lovelace.example") =>
  post("register", { email, password: PASSWORD, name: "Ada", workspace_name: "Engines" });
const SETTINGS = {
  issuer: ISSUER,
  client_id: CLIENT.id,
  client_secret: CLIENT.secret,
  domains: ["lovelace.example"],
};
const set = (session: Answer, more: object = {}) =>
  world.call(`PUT ${ROUTE}`, { as: bearer(session), body: { ...SETTINGS, ...more } });

/** An owner with a provider whose domain is proven. */
async function connected(more: object = {}): Promise<Answer> {
  const owner = await register();
  await post("email/confirm", { token: await mailedToken(world, "ada@lovelace.example", "Confirm") });
  const { domains } = (await set(owner, more)).body;
  const { record_name: name, record_value: text } = domains[0];
  await world.call("POST /_local/dns", { body: { name, text } });
  expect((await set(owner, more)).body.domains[0].proven).toBe(true);
  return owner;
}

/** The whole way of a browser. */
async function signIn(person: Person, tenant_id: string): Promise<Answer> {
  const begun = await post("sign-in/begin", { tenant_id });
  expect(begun.status).toBe(201);
  const { url, binding } = begun.body;
  return post("sign-in/finish", { ...provider.signIn(url, person), binding });
}

describe("an identity provider", () => {
  it("is set by an owner alone, speaks for a domain once its DNS says so, and its secret is stored sealed (ACC-14)", async () => {
    const owner = await register();
    const first = await set(owner);
    expect(first.body).toMatchObject({
      has_client_secret: true,
      required: false,
      redirect_uri: expect.stringMatching(/\/console\/signed-in$/),
    });
    const [{ domain, proven, record_name: name, record_value: text }] = first.body.domains;
    expect([domain, proven, name]).toEqual(["lovelace.example", false, "_engagement.lovelace.example"]);
    expect((await post("sign-in/begin", { email: "x@lovelace.example" })).status).toBe(404);
    await world.call("POST /_local/dns", { body: { name, text } });
    const { client_secret: _, ...same } = SETTINGS;
    const again = await world.call(`PUT ${ROUTE}`, { as: bearer(owner), body: same });
    expect(again.body).toMatchObject({ has_client_secret: true, domains: [{ proven: true }] });
    expect((await post("sign-in/begin", { email: "x@LOVELACE.example" })).status).toBe(201);
    const { Items } = await world.dynamodb.operate("Scan", { TableName: world.env.TABLE_NAME });
    expect(JSON.stringify(Items)).not.toContain(CLIENT.secret);

    const other = await world.call(`PUT ${ROUTE}`, { as: bearer(owner), body: { ...same, client_id: "another" } });
    expect(other.body.has_client_secret).toBe(false);
    const tenant = await world.tenant();
    const admin = await world.call(`PUT ${ROUTE}`, { as: await tenant.dashboard("admin"), body: SETTINGS });
    expect([admin.status, admin.body.message]).toEqual([403, "Only an owner may change the identity provider."]);
  });

  it("is set again by what its GET returned (AMB-115)", async () => {
    const as = bearer(await connected({ group_roles: [{ group: "eng", role: "developer" }] }));
    const { body: found } = await world.call(`GET ${ROUTE}`, { as });
    const same = await world.call(`PUT ${ROUTE}`, { as, body: found });
    expect([same.status, same.body]).toEqual([200, found]);
  });

  it("that cannot be reached, is inside the network or calls itself otherwise is refused with the reason (ACC-14)", async () => {
    const owner = await register();
    const faultOf = async (more: object) => (await set(owner, more)).body.fields?.issuer;
    expect(await faultOf({ issuer: "https://127.0.0.1" })).toBe("must lead to a public address");
    expect(await faultOf({ issuer: "http://login.example.com" })).toBe("must be an https URL");
    expect(await faultOf({ issuer: `${ISSUER}/` })).toContain("it calls itself");
    provider.down = true;
    expect(await faultOf({})).toContain("it answered 502");
    expect((await world.call(`GET ${ROUTE}`, { as: bearer(owner) })).status).toBe(404);
  });
});

describe("a sign-in", () => {
  it("begins a session by code, PKCE, state and nonce, with the client's secret (ACC-15)", async () => {
    const owner = await connected();
    const { tenant } = owner.body;
    const begun = await post("sign-in/begin", { email: ADA.email! });
    const asked = new URL(begun.body.url);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      tenant: "1",
      response_type: "code",
      client_id: CLIENT.id,
      scope: "openid email profile",
      code_challenge_method: "S256",
      login_hint: ADA.email,
    });
    const session = await post("sign-in/finish", {
      ...provider.signIn(begun.body.url, ADA),
      binding: begun.body.binding,
    });
    expect(session.body).toMatchObject({ user: { id: owner.body.user.id }, tenant: { id: tenant.id, role: "owner" } });
    expect((await me(session)).status).toBe(200);
    const [, basic = ""] = provider.proofs[0]!.split(" ");
    expect(Buffer.from(basic, "base64").toString()).toBe(`${CLIENT.id}:${encodeURIComponent(CLIENT.secret)}`);
    const renewed = await post("refresh", { refresh_token: session.body.refresh_token });
    expect((await me(renewed)).status).toBe(200);
  });

  it("counts once, for ten minutes, in the browser that began it, and at the provider that it began at (ACC-15)", async () => {
    const { body } = await connected();
    const tenant_id = body.tenant.id;
    const begin = async () => (await post("sign-in/begin", { tenant_id })).body;
    const [one, two] = [await begin(), await begin()];
    const answer = provider.signIn(one.url, ADA);
    const crossed = await post("sign-in/finish", { ...answer, binding: two.binding });
    expect(crossed.status).toBe(401);
    expect((await post("sign-in/finish", { ...answer, binding: one.binding })).status).toBe(401);
    const back = provider.signIn(two.url, ADA);
    expect((await post("sign-in/finish", { ...back, binding: two.binding, iss: "https://evil.example" })).status).toBe(
      422,
    );

    const late = await begin();
    const slow = provider.signIn(late.url, ADA);
    await world.advance(11 * MINUTE);
    expect((await post("sign-in/finish", { ...slow, binding: late.binding })).status).toBe(401);
    const [here, there] = [await begin(), await begin()];
    const mixed = { ...provider.signIn(here.url, ADA), state: there.state };
    expect((await post("sign-in/finish", { ...mixed, binding: there.binding })).status).toBe(401);
  });

  it("with a token that is wrong in any way begins no session (ACC-15)", async () => {
    const owner = await connected();
    const tenant = owner.body.tenant.id;
    const now = Math.floor(world.clock.now() / 1_000);
    const wrong: Record<string, unknown>[] = [
      { iss: "https://evil.example" },
      { aud: "another" },
      { aud: [CLIENT.id, "another"] },
      { azp: "another" },
      { exp: now - 120 },
      { iat: now + 120 },
      { nonce: "another" },
      { nonce: undefined },
      { sub: "" },
    ];
    for (const changes of wrong) {
      provider.changes = changes;
      expect([changes, (await signIn(ADA, tenant)).status]).toEqual([changes, 401]);
    }

    provider.changes = {};
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const forgeries: OpenIdProvider["issue"][] = [
      (header, claims) => signedBy(privateKey, header, claims),
      (header, claims) => signedBy(privateKey, { ...header, kid: "unknown" }, claims),
      (_, claims) => `${encoded({ alg: "none", kid: KEY_ID })}.${encoded(claims)}.`,
      (_, claims) => {
        const text = `${encoded({ alg: "HS256", kid: KEY_ID })}.${encoded(claims)}`;
        return `${text}.${createHmac("sha256", CLIENT.secret).update(text).digest("base64url")}`;
      },
    ];
    for (const issue of forgeries) {
      provider.issue = issue;
      expect((await signIn(ADA, tenant)).status).toBe(401);
    }
  });

  it("reaches its workspace alone: it switches to no other (ACC-15)", async () => {
    const owner = await connected();
    const invitee = await register("owner@other.example");
    const session = await signIn(ADA, owner.body.tenant.id);
    const switched = await post("switch", { tenant_id: invitee.body.tenant.id }, bearer(session));
    expect([switched.status, switched.body.code]).toEqual([403, "FORBIDDEN"]);
  });

  it("counts as a second factor where the provider says that it asked for more than one (ACC-15)", async () => {
    const { body } = await connected();
    await world.host.invoke("operator", { tenant_id: body.tenant.id });
    const session = await signIn({ ...ADA, amr: ["pwd", "mfa"] }, body.tenant.id);
    const change = { as: bearer(session), body: { second_factor_required: true } };
    expect((await world.call("PATCH /api/v1/workspace", change)).status).toBe(200);
    const weak = await signIn(ADA, body.tenant.id);
    expect((await topics(weak)).body.code).toBe("SECOND_FACTOR_MISSING");
    expect((await topics(session)).status).toBe(200);
  });
});

describe("a subject of a provider", () => {
  it("is linked by a verified address of a proven domain, and stays linked when the address changes (ACC-16)", async () => {
    const { body } = await connected({ default_role: "viewer" });
    const tenant = body.tenant.id;
    expect((await signIn({ ...ADA, email_verified: false }, tenant)).status).toBe(403);
    expect((await signIn({ ...ADA, email: "ada@elsewhere.example" }, tenant)).status).toBe(403);
    const first = await signIn(ADA, tenant);
    expect(first.body.user.id).toBe(body.user.id);
    const renamed = await signIn({ ...ADA, email: "countess@elsewhere.example", email_verified: false }, tenant);
    expect(renamed.body.user).toMatchObject({ id: body.user.id, email: ADA.email });
  });

  it("is known by the provider's user information where the ID token says nothing of the person (ACC-16)", async () => {
    const { body } = await connected();
    provider.beside = { ...ADA, sub: "another" };
    expect((await signIn(ADA, body.tenant.id)).status).toBe(401);
    provider.beside = ADA;
    expect((await signIn(ADA, body.tenant.id)).body.user).toMatchObject({ id: body.user.id, email: ADA.email });
  });

  it("who is new needs an invitation, a group with a role or a default role (ACC-16)", async () => {
    const owner = await connected();
    const tenant = owner.body.tenant.id;
    expect((await signIn(GRACE, tenant)).status).toBe(403);
    await world.call("POST /api/v1/team/invitations", {
      as: bearer(owner),
      body: { email: GRACE.email!, role: "developer" },
    });
    const invited = await signIn(GRACE, tenant);
    expect([invited.status, invited.body.tenant.role]).toEqual([201, "developer"]);
    const open = await world.call("GET /api/v1/team/invitations", { as: bearer(owner) });
    expect(open.body.items).toEqual([]);

    await set(owner, { default_role: "analyst" });
    const mary = await signIn({ ...GRACE, sub: "mary-1", email: "mary@lovelace.example" }, tenant);
    expect(mary.body.tenant.role).toBe("analyst");
    const grouped = { groups_claim: "groups", group_roles: [{ group: "eng", role: "developer" }] };
    await set(owner, grouped);
    const promoted = await signIn({ ...GRACE, sub: "mary-1", groups: ["eng"] }, tenant);
    expect(promoted.body.tenant.role).toBe("developer");
    expect((await signIn({ ...GRACE, sub: "mary-1", groups: [] }, tenant)).status).toBe(403);
    expect((await signIn({ ...ADA, groups: ["eng"] }, tenant)).body.tenant.role).toBe("owner");
  });

  it("takes an address from a stranger who registered with it and never confirmed it (ACC-16)", async () => {
    const { body } = await connected({ default_role: "viewer" });
    const stranger = await register(GRACE.email);
    const grace = await signIn(GRACE, body.tenant.id);
    expect(grace.body.user.id).toBe(stranger.body.user.id);
    expect((await me(stranger)).status).toBe(401);
    expect((await post("login", { email: GRACE.email!, password: PASSWORD })).status).toBe(401);
  });
});

describe("a workspace that demands its provider", () => {
  const demand = (session: Answer) => set(session, { required: true, default_role: "viewer" });

  it("is demanded by an owner who signed in there; passwords then reach the account alone (ACC-17)", async () => {
    const owner = await connected({ default_role: "viewer" });
    const tenant = owner.body.tenant.id;
    expect((await demand(owner)).body.fields).toHaveProperty("required");
    const session = await signIn(ADA, tenant);
    expect((await demand(session)).body.required).toBe(true);
    const refused = await topics(owner);
    expect([refused.status, refused.body.code]).toEqual([403, "SIGN_IN_REQUIRED"]);
    expect((await me(owner)).body).toMatchObject({ sign_in_missing: true });
    expect((await me(session)).body).toMatchObject({ sign_in_missing: false });
    expect((await topics(session)).status).toBe(200);
    const login = await post("login", { email: ADA.email!, password: PASSWORD });
    expect([login.status, login.body.code]).toEqual([403, "SIGN_IN_REQUIRED"]);
    const changed = await set(session, { required: true, client_id: "another" });
    expect(changed.body.fields).toHaveProperty("required");
  });

  it("is opened by passwords again when the operator ends the demand (ACC-17)", async () => {
    const owner = await connected();
    const tenant_id = owner.body.tenant.id;
    expect((await demand(await signIn(ADA, tenant_id))).status).toBe(200);
    provider.down = true;
    expect((await post("sign-in/begin", { tenant_id })).status).toBe(503);
    expect(await world.host.invoke("operator", { end_sign_in_demand: { tenant_id } })).toEqual({
      ended: { tenant_id },
    });
    expect((await topics(owner)).status).toBe(200);
    expect((await world.call(`DELETE ${ROUTE}`, { as: bearer(owner) })).status).toBe(204);
    expect((await post("sign-in/begin", { tenant_id })).status).toBe(404);
  });
});
