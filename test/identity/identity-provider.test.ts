// The identity provider of a workspace: how it is set, and what a workspace that demands it refuses (ACC-14, ACC-17).
import { describe, expect, it } from "vitest";
import { mailedToken } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { CLIENT, ISSUER } from "../support/openid-provider.ts";
import { wholeTable } from "../support/people.ts";
import { requests } from "../support/requests.ts";
import { ADA, GRACE, PASSWORD, PROVIDER_ROUTE, SETTINGS, signInWorld } from "../support/sign-in.ts";

const BY_GROUP = { groups_claim: "groups", group_roles: [{ group: "eng", role: "developer" }] };

describe("an identity provider", () => {
  it("an identity provider is set with its secret, where it sends people back to, and what its domains must say in DNS (ACC-14)", async () => {
    const { register, set } = await signInWorld();

    expect((await set(await register())).body).toMatchObject({
      has_client_secret: true,
      required: false,
      redirect_uri: expect.stringMatching(/\/console\/signed-in\/[0-9a-f-]{36}$/),
      domains: [{ domain: "lovelace.example", proven: false, record_name: "_engagement.lovelace.example" }],
    });
  });

  it("speaks for a domain once its DNS says so (ACC-14)", async () => {
    const { register, set, say, post } = await signInWorld();
    const owner = await register();
    const [record] = (await set(owner)).body.domains;
    expect((await post("sign-in/begin", { email: "x@lovelace.example" })).status).toBe(404);
    await say(record);
    expect((await set(owner)).body.domains).toMatchObject([{ proven: true }]);
    expect((await post("sign-in/begin", { email: "x@LOVELACE.example" })).status).toBe(201);
  });

  it("the domains of an identity provider are looked up side by side: one whose DNS is slow holds up no other (ACC-14)", async () => {
    const proving = requests({ operation: "PutItem", naming: '"proven_at"' });
    const { register, set, say } = await signInWorld({ hooks: proving.hooks });
    const [owner, domains] = [await register(), ["lovelace.example", "engines.example"]];
    for (const record of (await set(owner, { domains })).body.domains) await say(record);
    const both = Promise.withResolvers<void>();
    proving.each(() => {
      if (proving.seen() === domains.length) both.resolve();
      return both.promise;
    });

    expect((await set(owner, { domains })).body.domains).toMatchObject([{ proven: true }, { proven: true }]);
  });

  it("a domain that an identity provider no longer names is not spoken for any more (ACC-14)", async () => {
    const { connected, set, post } = await signInWorld();
    const { owner } = await connected();

    expect((await set(owner, { domains: ["engines.example"] })).status).toBe(200);

    expect((await post("sign-in/begin", { email: "x@lovelace.example" })).status).toBe(404);
  });

  it("an identity provider that takes no other proof gets the secret of the client in the form (ACC-15)", async () => {
    const { connected, signIn, provider } = await signInWorld();
    provider.description = { token_endpoint_auth_methods_supported: ["client_secret_post"] };
    const { tenant } = await connected();

    expect((await signIn(ADA, { tenant_id: tenant })).status).toBe(201);

    expect(provider.proofs).toEqual([CLIENT.secret]);
  });

  it("an identity provider keeps its secret where it is set again without one, for the same client alone (ACC-14)", async () => {
    const { register, set } = await signInWorld();
    const owner = await register();
    await set(owner);
    expect((await set(owner, { client_secret: undefined })).body.has_client_secret).toBe(true);
    const other = await set(owner, { client_secret: undefined, client_id: "another" });
    expect(other.body.has_client_secret).toBe(false);
  });

  it("an identity provider forgets its secret where it is set again with null (ACC-14)", async () => {
    const { register, set } = await signInWorld();
    const owner = await register();
    await set(owner);

    expect((await set(owner, { client_secret: null })).body.has_client_secret).toBe(false);
  });

  it("an identity provider has its secret stored sealed (ACC-14)", async () => {
    const { world, register, set } = await signInWorld();
    await set(await register());

    expect(JSON.stringify(await wholeTable(world))).not.toContain(CLIENT.secret);
  });

  it("an identity provider is set by an owner alone (ACC-14)", async () => {
    const { world } = await signInWorld();
    const as = await (await world.tenant()).dashboard("admin");
    const { status, body } = await world.call(`PUT ${PROVIDER_ROUTE}`, { as, body: SETTINGS });

    expect(status).toBe(403);
    expect(body.message).toBe("Only an owner may change the identity provider.");
  });

  it("an identity provider is set again by what its GET returned (AMB-115)", async () => {
    const { world, connected } = await signInWorld();
    const as = bearerOf((await connected(BY_GROUP)).owner);
    const { body: found } = await world.call(`GET ${PROVIDER_ROUTE}`, { as });
    const same = await world.call(`PUT ${PROVIDER_ROUTE}`, { as, body: found });

    expect(same.status).toBe(200);
    expect(same.body).toEqual(found);
  });

  it.each([
    ["inside the network", { issuer: "https://127.0.0.1" }, "must lead to a public address"],
    ["without TLS", { issuer: "http://login.example.com" }, "must be an https URL"],
    ["that calls itself otherwise", { issuer: `${ISSUER}/` }, "it calls itself"],
  ])("%s is refused with the reason, and not set (ACC-14)", async (_, more, reason) => {
    const { world, register, set } = await signInWorld();
    const owner = await register();

    expect((await set(owner, more)).body.fields.issuer).toContain(reason);
    expect((await world.call(`GET ${PROVIDER_ROUTE}`, { as: bearerOf(owner) })).status).toBe(404);
  });

  it.each(["javascript:alert(1)", "data:text/html,hello", "file:///etc/passwd", "http://login.example.com/authorize"])(
    "an identity provider that would send browsers to %s is refused (ACC-14)",
    async (authorization_endpoint) => {
      const { provider, register, set } = await signInWorld();
      provider.description = { authorization_endpoint };

      expect((await set(await register())).body.fields?.issuer).toContain("cannot be used");
    },
  );

  it("an identity provider that cannot be reached is refused with what it answered (ACC-14)", async () => {
    const { provider, register, set } = await signInWorld();
    provider.down = true;

    expect((await set(await register())).body.fields.issuer).toContain("it answered 502");
  });
});

it("an invitation of a member who was removed makes nobody a member at the provider either (ACC-16, D-TEAM)", async () => {
  const { world, connected, signIn, post } = await signInWorld();
  const { owner, tenant } = await connected();
  const invite = async (by: typeof owner, email: string) => {
    await world.call("POST /api/v1/team/invitations", { as: bearerOf(by), body: { email, role: "admin" } });
    return mailedToken(world, email, "You are invited");
  };
  const token = await invite(owner, "alan@navy.example");
  const alan = await post("invitations/accept", { token, name: "Alan", password: PASSWORD });
  await invite(alan, GRACE.email);

  await world.call(`DELETE /api/v1/team/members/${alan.body.user.id}`, { as: bearerOf(owner) });

  expect((await signIn(GRACE, { tenant_id: tenant })).status).toBe(403);
});

it("an invitation that a sign-in used is not accepted by its mail any more (ACC-16, AMB-78)", async () => {
  const { world, connected, signIn, post } = await signInWorld();
  const { tenant, invite } = await connected();
  await invite(GRACE.email, "developer");
  const token = await mailedToken(world, GRACE.email, "You are invited");
  expect((await signIn(GRACE, { tenant_id: tenant })).status).toBe(201);

  expect((await post("invitations/accept", { token, name: "Grace", password: PASSWORD })).status).toBe(404);
});

it("a sign-in makes no member beyond the seats of the plan (ACC-16, D-PLAN)", async () => {
  const { world, connected, signIn } = await signInWorld();
  const { tenant } = await connected({ default_role: "viewer" });
  await world.host.invoke("operator", { tenant_id: tenant, plan: "free" });
  const eve = { ...GRACE, sub: "eve-1", email: "eve@lovelace.example" };

  expect((await signIn(GRACE, { tenant_id: tenant })).status).toBe(201);
  expect((await signIn(eve, { tenant_id: tenant })).body.code).toBe("QUOTA_EXCEEDED");
});

it("a sign-in makes no member of a workspace that was deleted (ACC-16, D-TENANT, ERR-7)", async () => {
  const { world, connected, signIn } = await signInWorld();
  const { owner, tenant } = await connected({ default_role: "viewer" });
  await world.host.invoke("operator", { tenant_id: tenant, status: "deleted" });
  expect((await signIn(GRACE, { tenant_id: tenant })).body.code).toBe("TENANT_DELETED");
  await world.host.invoke("operator", { tenant_id: tenant, status: "active" });

  const members = await world.call("GET /api/v1/team/members", { as: bearerOf(owner) });

  expect(members.body.items).toHaveLength(1);
});
