// Hostile credentials: all are rejected, and none causes a 500.
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { Caller } from "../../shared/http/authenticate.ts";
import { createCredentialCache } from "../../shared/http/credential-cache.ts";
import { endpoints, group } from "../../shared/http/endpoint.ts";
import { serve } from "../../shared/http/serve.ts";
import { unauthorized } from "../../shared/kernel/errors.ts";
import { drawnAhead } from "../../shared/runtime/system.ts";
import { quickDeps } from "../support/people.ts";
import { signingKey, type Tenant, type TestWorld, testWorld } from "../support/world.ts";

const MUTATIONS = Number(process.env.KEY_MUTATIONS ?? 50_000);

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

it(`${MUTATIONS} mutated keys are all refused without an exception (ATH-R2)`, async () => {
  const ask = gate();
  expect((await ask(tenant.sdk)).statusCode).toBe(204);
  expect((await ask(tenant.server)).statusCode).toBe(204);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/.~ \t\n!é";
  let state = 12_345;
  const pick = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
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

it("sixty-five hostile tokens are refused, also those that our own key signed (ATH-3, D-AUTH)", async () => {
  const token = (await tenant.dashboard()).authorization!.slice(7);
  const [header, claims, signature] = token.split(".") as [string, string, string];
  const decoded = JSON.parse(Buffer.from(claims, "base64url").toString());
  const head = JSON.parse(Buffer.from(header, "base64url").toString());
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const forge = (h: object, c: object) => {
    const text = `${encode(h)}.${encode(c)}`;
    return `${text}.${sign("sha256", Buffer.from(text), privateKey).toString("base64url")}`;
  };
  const hmac = (alg: string, key: string | Buffer) => {
    const text = `${encode({ ...head, alg })}.${claims}`;
    return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
  };
  const pem = publicKey.export({ format: "pem", type: "spki" });
  const hostile = [
    ...["none", "None", "NONE", "nOnE", ""].flatMap((alg) => [
      `${encode({ ...head, alg })}.${claims}.`,
      `${encode({ ...head, alg })}.${claims}.${signature}`,
    ]),
    hmac("HS256", String(pem)),
    hmac("HS256", signature),
    hmac("HS512", ""),
    forge(head, decoded),
    forge({ ...head, kid: "other" }, decoded),
    forge({ ...head, kid: "../../jwk" }, decoded),
    forge({ ...head, kid: 7 }, decoded),
    forge({ ...head, kid: undefined }, decoded),
    forge({ ...head, jwk: publicKey.export({ format: "jwk" }) }, decoded),
    forge({ ...head, jku: "https://attacker.example/jwks.json" }, decoded),
    forge({ ...head, x5c: ["AAAA"] }, decoded),
    forge({ ...head, crit: ["exp"] }, decoded),
    forge({ ...head, alg: "ES256" }, decoded),
    forge({ ...head, alg: "PS256" }, decoded),
    forge({ ...head, alg: "RS512" }, decoded),
    ...[
      { exp: decoded.exp + 9_999 },
      { tid: "other" },
      { sub: "other" },
      { role: "owner", x: 1 },
      { iss: "https://evil.example" },
      { aud: "other" },
      { ro: false, x: 1 },
    ].map((change) => `${header}.${encode({ ...decoded, ...change })}.${signature}`),
    `${header}.${claims}`,
    `${header}.${claims}.`,
    `${header}..${signature}`,
    `.${claims}.${signature}`,
    `${token}.${signature}`,
    `${token}=`,
    `${token.slice(0, -1)}${token.endsWith("A") ? "B" : String.fromCharCode(token.charCodeAt(token.length - 1) + 1)}`,
    `${token}!`,
    token.toUpperCase(),
    `${header}.${claims}.${signature.slice(0, -4)}`,
    `${header}.${claims}.${signature}AAAA`,
    "..",
    "a.b.c",
    "eyJ",
    `${"x".repeat(5_000)}.${claims}.${signature}`,
  ];
  const own = (change: object) => {
    const text = `${header}.${encode({ ...decoded, ...change })}`;
    return `${text}.${sign("sha256", Buffer.from(text), String(signingKey)).toString("base64url")}`;
  };
  // Signed by our own key, and still not what was issued.
  const ours = [
    ...[{ iss: "https://evil.example" }, { iss: undefined }, { aud: "other" }, { aud: undefined }, { aud: ["other"] }],
    ...[{ exp: decoded.iat }, { exp: undefined }, { exp: "2099-01-01" }, { exp: -1 }],
    ...[
      { iat: decoded.iat + 6 },
      { iat: decoded.iat + 6, nbf: decoded.iat },
      { iat: undefined },
      { nbf: decoded.iat + 6 },
      { nbf: "now" },
    ],
    ...[{ token_use: "refresh" }, { token_use: "id" }],
    ...[
      { tid: "other" },
      { tid: undefined },
      { tid: 7 },
      { tid: "" },
      { sub: "other" },
      { sub: undefined },
      { sub: {} },
    ],
    ...[{ ro: "false" }, { agency: "other" }, { agency: 7 }],
  ].map(own);
  expect(await statusWith({ authorization: `Bearer ${own({})}` })).toBe(200);
  hostile.push(...ours);
  expect(hostile.length).toBeGreaterThanOrEqual(65);
  const statuses = await Promise.all(hostile.map((one) => statusWith({ authorization: `Bearer ${one}` })));
  expect(hostile.filter((_, i) => statuses[i] !== 401)).toEqual([]);
  expect(await statusWith({ authorization: `Bearer ${token}` })).toBe(200);
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

it("strong bytes are given out once and in their order, however many are asked for (ATH-2)", () => {
  let next = 0;
  const source = (length: number) => Buffer.from(Array.from({ length }, () => next++ % 251));
  const bytes = drawnAhead(source);
  const asked = [16, 10, 4_000, 60, 32, 5_000, 16];
  const given = asked.map((length) => bytes(length));
  expect(given.map(({ length }) => length)).toEqual(asked);
  // Of a portion that does not suffice the rest is dropped, and a large demand is drawn by itself.
  const from = [0, 16, 26, 4_026, 4_096, 8_192, 4_128];
  expect(given.map((one) => one[0])).toEqual(from.map((position) => position % 251));
});

it("the minute of a remembered key begins when its validation began, that of a refusal lasts 5 seconds (ATH-R6)", async () => {
  let now = 0;
  let asked = 0;
  let isGood = true;
  const remembered = createCredentialCache(() => now);
  const validate = async (): Promise<Caller> => {
    asked++;
    now += 2_000;
    if (!isGood) throw unauthorized();
    return { kind: "public" };
  };
  const askedAt = async (at: number) => {
    now = at;
    await remembered("key", validate).catch(() => undefined);
    return asked;
  };
  expect([await askedAt(0), await askedAt(59_999), await askedAt(60_000)]).toEqual([1, 1, 2]);
  isGood = false;
  expect([await askedAt(120_000), await askedAt(124_999), await askedAt(125_000)]).toEqual([3, 3, 4]);
});
