// The keys by which access tokens are verified, and whose they are.
import { generateKeyPairSync, sign } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { accountsIn } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { spent } from "../support/spending.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});

const { register } = accountsIn(() => world);

it("the key that verifies an access token is published (D-AUTH)", async () => {
  const session = await register();
  const { kid } = JSON.parse(Buffer.from(session.body.access_token.split(".")[0], "base64url").toString());
  const { body } = await world.call("GET /.well-known/jwks.json");

  expect(body.keys).toEqual([expect.objectContaining({ kid, alg: "RS256", use: "sig", kty: "RSA" })]);
});

it("a function reads the published keys once for all endpoints of a function (D-AUTH)", async () => {
  const session = await register();
  const routes = ["GET /api/v1/templates", "GET /api/v1/templates/none"];
  const queries = [];
  for (const route of routes) {
    const { by_operation } = await spent(world, () => world.call(route, { as: bearerOf(session) }));
    queries.push(by_operation.Query?.requests ?? 0);
  }

  // The list itself is the one query of the first, beside that of the keys.
  expect(queries).toEqual([2, 0]);
});

it("a read of the published keys that failed is not remembered: the next request reads them (D-AUTH)", async () => {
  const session = await register();
  const list = async () => (await world.call("GET /api/v1/templates", { as: bearerOf(session) })).status;
  await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", operation: "Query", times: 100 } });
  expect(await list()).toBe(503);
  await world.call("DELETE /_local/faults");
  expect(await list()).toBe(200);
});

it("another issuer takes the place of ours by configuration: its keys and its name, and no others (D-AUTH)", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid: "theirs", alg: "RS256", use: "sig" };
  const issuer = "https://issuer.example";
  const env = { TOKEN_JWKS: JSON.stringify({ keys: [jwk] }), TOKEN_ISSUER: issuer, TOKEN_AUDIENCE: "clients" };
  const other = await testWorld({ env });
  const tenant = await other.tenant();
  const iat = other.clock.now() / 1_000;
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const issued = (change: object = {}) => {
    const claims = { iss: issuer, aud: "clients", sub: tenant.owner, tid: tenant.id, iat, exp: iat + 900, ...change };
    const text = `${encode({ alg: "RS256", typ: "JWT", kid: "theirs" })}.${encode(claims)}`;
    return { authorization: `Bearer ${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}` };
  };
  const status = async (as: Record<string, string>) => (await other.call("GET /api/v1/me", { as })).status;
  expect(await status(issued())).toBe(200);
  for (const change of [{ iss: "https://other.example" }, { aud: "others" }, { sub: "nobody" }, { tid: "none" }])
    expect(await status(issued(change))).toBe(401);
  const { id: foreign } = await other.tenant();
  expect(await status(issued({ tid: foreign, agency: tenant.id }))).toBe(401);
  // One of our own making has the right issuer and audience, and a key that does not count here.
  expect(await status(await tenant.dashboard())).toBe(401);
});
