// Hostile credentials: all are rejected, and none causes a 500.
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { endpoints, group } from "../../shared/http/endpoint.ts";
import { serve } from "../../shared/http/serve.ts";
import { randomFrom } from "../simulator/random.ts";
import { quickDeps } from "../support/people.ts";
import { signingKey, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

const MUTATIONS = Number(process.env.KEY_MUTATIONS ?? 10_000);

let world: TestWorld;
let tenant: Tenant;

beforeAll(async () => {
  world = await testWorld();
  tenant = await world.tenant();
});

const statusWith = async (headers: Record<string, string>) =>
  (await world.call("GET /api/v1/me", { as: headers })).status;

/** Asks only who is calling, on a route that takes every key, without the wire: a second for tens of thousands. */
function gate() {
  const endpoint = endpoints({ credentials: ["sdk", "server", "dashboard"], effect: "read", uses: [] });
  const handler = serve(
    group("gate", "", [endpoint("GET /gate", {}, { summary: "" }, async () => undefined)]),
    quickDeps(world),
  );
  return (headers: Record<string, string>) =>
    handler(
      {
        routeKey: "GET /gate",
        headers,
        requestContext: { requestId: "r", http: { sourceIp: "203.0.113.9" } },
        isBase64Encoded: false,
      } as never,
      {} as never,
    );
}

it("a key in its canonical spelling is accepted (ATH-R2)", async () => {
  const ask = gate();

  expect((await ask(tenant.sdk)).statusCode).toBe(204);
  expect((await ask(tenant.server)).statusCode).toBe(204);
});

it(`${MUTATIONS} mutated keys are all refused without an exception (ATH-R2)`, async () => {
  const ask = gate();
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/.~ \t\n!é";
  const { between } = randomFrom(12_345);
  const pick = (below: number) => between(0, below - 1);
  const mutate = (key: string) => {
    const at = pick(key.length + 1);
    const letter = alphabet[pick(alphabet.length)]!;
    const kinds = [
      key.slice(0, at) + letter + key.slice(at),
      key.slice(0, at) + letter + key.slice(at + 1),
      key.slice(0, at) + key.slice(at + 1),
    ];
    return kinds[pick(3)]!;
  };

  const wrong: string[] = [];
  for (let i = 0; i < MUTATIONS; i++) {
    const isSdk = i % 2 === 0;
    const key = isSdk ? tenant.sdkKey : tenant.serverKey;
    const mutated = mutate(key);
    if (mutated === key || mutated.trim() === key) continue;
    const { statusCode } = await ask(isSdk ? { "x-sdk-key": mutated } : { authorization: `Bearer ${mutated}` });
    if (statusCode !== 401) wrong.push(`${statusCode} ${mutated}`);
  }

  expect(wrong).toEqual([]);
  expect(world.logs.filter(({ level }) => level === "error")).toEqual([]);
});

it("every other last character of an SDK key is refused: only the canonical spelling counts (ATH-1)", async () => {
  const ask = gate();
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const accepted = [];
  for (const letter of alphabet) {
    const key = tenant.sdkKey.slice(0, -1) + letter;
    if ((await ask({ "x-sdk-key": key })).statusCode !== 401) accepted.push(key);
  }

  expect(accepted).toEqual([tenant.sdkKey]);
});

describe("hostile dashboard tokens", () => {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const decode = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
  const signedBy = (key: KeyObject | string, text: string) =>
    `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

  /** The good token in its parts, and others made of it: by another key, by an HMAC, and by our own key. */
  async function tokenParts() {
    const token = (await tenant.dashboard()).authorization!.slice("Bearer ".length);
    const [header, payload, signature] = token.split(".") as [string, string, string];
    const [head, claims] = [decode(header), decode(payload)];
    return {
      token,
      header,
      payload,
      signature,
      claims,
      withHead: (change: object) => `${encode({ ...head, ...change })}.${payload}`,
      withClaims: (change: object) => `${header}.${encode({ ...claims, ...change })}.${signature}`,
      forged: (change: object) => signedBy(privateKey, `${encode({ ...head, ...change })}.${payload}`),
      hmac: (alg: string, key: string) => {
        const text = `${encode({ ...head, alg })}.${payload}`;
        return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
      },
      ours: (change: object) => signedBy(String(signingKey), `${header}.${encode({ ...claims, ...change })}`),
    };
  }
  type TokenParts = Awaited<ReturnType<typeof tokenParts>>;

  const unsigned = ["none", "None", "NONE", "nOnE", ""];
  const forgedHeads = [
    {},
    { kid: "other" },
    { kid: "../../jwk" },
    { kid: 7 },
    { kid: undefined },
    { jwk: publicKey.export({ format: "jwk" }) },
    { jku: "https://attacker.example/jwks.json" },
    { x5c: ["AAAA"] },
    { crit: ["exp"] },
    { alg: "ES256" },
    { alg: "PS256" },
    { alg: "RS512" },
  ];
  const changedClaims = [
    { exp: 9_999_999_999 },
    { tid: "other" },
    { sub: "other" },
    { role: "owner", x: 1 },
    { iss: "https://evil.example" },
    { aud: "other" },
    { ro: false, x: 1 },
  ];

  it.each<[what: string, tokensOf: (parts: TokenParts) => string[]]>([
    ["without a signature", ({ withHead }) => unsigned.map((alg) => `${withHead({ alg })}.`)],
    [
      "that names no algorithm and has the signature of another",
      ({ withHead, signature }) => unsigned.map((alg) => `${withHead({ alg })}.${signature}`),
    ],
    [
      "signed by an HMAC with what is public",
      ({ hmac, signature }) => [
        hmac("HS256", String(publicKey.export({ format: "pem", type: "spki" }))),
        hmac("HS256", signature),
        hmac("HS512", ""),
      ],
    ],
    ["signed by another key", ({ forged }) => forgedHeads.map(forged)],
    ["whose claims were changed", ({ withClaims }) => changedClaims.map(withClaims)],
    [
      "that is cut, longer or spelled in another way",
      ({ token, header, payload, signature }) => [
        `${header}.${payload}`,
        `${header}.${payload}.`,
        `${header}..${signature}`,
        `.${payload}.${signature}`,
        `${token}.${signature}`,
        `${token}=`,
        `${token.slice(0, -1)}${token.endsWith("A") ? "B" : String.fromCharCode(token.charCodeAt(token.length - 1) + 1)}`,
        `${token}!`,
        token.toUpperCase(),
        `${header}.${payload}.${signature.slice(0, -4)}`,
        `${header}.${payload}.${signature}AAAA`,
        "..",
        "a.b.c",
        "eyJ",
        `${"x".repeat(5_000)}.${payload}.${signature}`,
      ],
    ],
    [
      "that our own key signed for another issuer or audience",
      ({ ours }) =>
        [
          { iss: "https://evil.example" },
          { iss: undefined },
          { aud: "other" },
          { aud: undefined },
          { aud: ["other"] },
        ].map(ours),
    ],
    [
      "that our own key signed with a wrong time",
      ({ ours, claims: { iat } }) =>
        [
          { exp: iat },
          { exp: undefined },
          { exp: "2099-01-01" },
          { exp: -1 },
          { iat: iat + 6 },
          { iat: iat + 6, nbf: iat },
          { iat: undefined },
          { nbf: iat + 6 },
          { nbf: "now" },
        ].map(ours),
    ],
    [
      "that our own key signed for another use",
      ({ ours }) => [{ token_use: "refresh" }, { token_use: "id" }, { ro: "false" }].map(ours),
    ],
    [
      "that our own key signed for nobody or for no workspace of the user",
      ({ ours }) =>
        [
          { tid: "other" },
          { tid: undefined },
          { tid: 7 },
          { tid: "" },
          { sub: "other" },
          { sub: undefined },
          { sub: {} },
          { agency: "other" },
          { agency: 7 },
        ].map(ours),
    ],
  ])("a dashboard token %s is refused with 401 (ATH-3, D-AUTH)", async (_, tokensOf) => {
    for (const hostile of tokensOf(await tokenParts()))
      expect(await statusWith({ authorization: `Bearer ${hostile}` }), hostile.slice(0, 400)).toBe(401);
  });

  it("a dashboard token that was issued is accepted, also if our own key signs it again (ATH-3)", async () => {
    const { token, ours } = await tokenParts();

    expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(200);
    expect(await statusWith({ authorization: `Bearer ${ours({})}` })).toBe(200);
  });
});

it("an access token is good for 15 minutes and no longer (ATH-3)", async () => {
  const fresh = await testWorld();
  const someone = await fresh.tenant();
  const as = await someone.dashboard();

  await fresh.advance(899_000);
  expect((await fresh.call("GET /api/v1/me", { as })).status).toBe(200);

  await fresh.advance(1_000);
  expect((await fresh.call("GET /api/v1/me", { as })).status).toBe(401);
});
