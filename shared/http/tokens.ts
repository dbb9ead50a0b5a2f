// Dashboard tokens, verified by aws-jwt-verify against the public keys published in the table
// (docs/decisions/0021#tokens).
import { JwtVerifier } from "aws-jwt-verify";
import * as v from "valibot";
import { type Capability, type Deps, setting } from "../deps.ts";
import { openPlatformTable } from "../store/table.ts";

export const ACCESS_TOKEN_SECONDS = 900;
const LEEWAY_SECONDS = 5;
/**
 * aws-jwt-verify reads the real clock: it is told to be patient, and the times are checked here
 * (docs/decisions/0021#service-clock).
 */
const PATIENCE_SECONDS = 100 * 366 * 86_400;
/** How soon an unknown key id may make us read the published keys again. */
const REREAD_MS = 10_000;

const Claims = v.object({
  sub: v.string(),
  tid: v.string(),
  token_use: v.optional(v.literal("access")),
  role: v.optional(v.string()),
  ro: v.optional(v.boolean(), false),
  /** Read-only because that was asked for, not because the role is: so it stays in whatever the token is changed for. */
  narrowed: v.optional(v.boolean()),
  agency: v.optional(v.string()),
  exp: v.number(),
  iat: v.number(),
  nbf: v.optional(v.number()),
});
export type Claims = v.InferOutput<typeof Claims>;

export interface TokenVerifier {
  /** The claims of a good token, else undefined. `now` is service time in milliseconds. */
  verify(token: string, now: number): Promise<Claims | undefined>;
}

export type PublishedKey = {
  kty: "RSA";
  alg: "RS256";
  use: "sig";
  kid: string;
  n: string;
  e: string;
};

/** Whose tokens open a workspace. */
export const tokenVerifier: Capability<"tokens", TokenVerifier> = {
  as: "tokens",
  env: ["TABLE_NAME", "TOKEN_ISSUER", "TOKEN_AUDIENCE", "TOKEN_JWKS"],
  grants: [{ actions: ["dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const verifier = openVerifier(deps);
    return () => verifier;
  },
};

/**
 * Checks tokens of our own issuer by the keys in the table. With `TOKEN_JWKS` (a JWKS document) the issuer named by
 * `TOKEN_ISSUER` takes its place: its tokens carry the user as `sub` and the workspace as `tid`.
 */
function openVerifier(deps: Deps): TokenVerifier {
  const issuer = setting(deps, "TOKEN_ISSUER");
  const audience = setting(deps, "TOKEN_AUDIENCE");
  const external = deps.env.TOKEN_JWKS;
  const table = openPlatformTable(deps, "JWK");
  const readKeys = async () =>
    external
      ? (JSON.parse(external) as { keys: PublishedKey[] }).keys
      : (await table.query({ pk: "JWK" })).items.map((item) => item.jwk as unknown as PublishedKey);
  const verifier = JwtVerifier.create({
    issuer,
    audience,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    graceSeconds: PATIENCE_SECONDS,
  });
  let cache = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;
  let learning: Promise<void> | undefined;

  const learn = async (now: number) => {
    readAt = now;
    const published = await readKeys();
    cache = new Set(published.map(({ kid }) => kid));
    if (published.length > 0) verifier.cacheJwks({ keys: published });
  };

  return {
    verify: async (token, now) => {
      const kid = keyIdOf(token);
      if (kid === undefined) return undefined;
      if (!cache.has(kid)) {
        if (now - readAt >= REREAD_MS) learning = learn(now);
        await learning;
      }
      if (!cache.has(kid)) return undefined;
      const claims = v.safeParse(Claims, verified(verifier, token));
      return claims.success && isCurrent(claims.output, now / 1_000) ? claims.output : undefined;
    },
  };
}

function verified(verifier: { verifySync(token: string): unknown }, token: string): unknown {
  try {
    return verifier.verifySync(token);
  } catch {
    // Whatever is wrong with a token, the answer is the same 401.
    return undefined;
  }
}

const isCurrent = ({ exp, iat, nbf = iat }: Claims, now: number) =>
  now < exp && iat <= now + LEEWAY_SECONDS && nbf <= now + LEEWAY_SECONDS;

const PART = /^[A-Za-z0-9_-]{1,4096}$/;

/** Three base64url parts, each spelt in the one canonical way: decoders are lenient, we are not. */
function isCanonical(token: string): boolean {
  const parts = token.length <= 4_096 ? token.split(".") : [];
  return (
    parts.length === 3 &&
    parts.every((part) => PART.test(part) && Buffer.from(part, "base64url").toString("base64url") === part)
  );
}

function keyIdOf(token: string): string | undefined {
  if (!isCanonical(token)) return undefined;
  try {
    const header = JSON.parse(Buffer.from(token.slice(0, token.indexOf(".")), "base64url").toString()) as unknown;
    const kid = v.safeParse(v.object({ alg: v.literal("RS256"), kid: v.string() }), header);
    return kid.success ? kid.output.kid : undefined;
  } catch {
    // Not a token at all.
    return undefined;
  }
}
