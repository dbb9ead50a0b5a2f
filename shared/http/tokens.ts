// Dashboard tokens, verified by aws-jwt-verify against the public keys published in the table
// (docs/decisions/0021#tokens).
import { JwtVerifier } from "aws-jwt-verify";
import * as v from "valibot";
import { type Deps, perEnvironment, setting } from "../kernel/deps.ts";
import { type PublishedKey, SigningKeyItem } from "../store/platform-items.ts";
import { openPlatformTable } from "../store/table.ts";

export const ACCESS_TOKEN_SECONDS = 900;
const LEEWAY_SECONDS = 5;
/**
 * aws-jwt-verify reads the real clock, so its own check is made ineffective; times are checked here
 * (docs/decisions/0021#service-clock).
 */
const GRACE_SECONDS = 100 * 366 * 86_400;
/**
 * Verified tokens kept per environment: verifying a signature takes an eighth of the processor time of a small request.
 */
const MAX_VERIFIED_TOKENS = 256;
/** The published keys are read again for an unknown key id, but not more often than this. */
const REREAD_MS = 10_000;

const Claims = v.object({
  sub: v.string(),
  tid: v.string(),
  token_use: v.optional(v.literal("access")),
  role: v.optional(v.string()),
  ro: v.optional(v.boolean(), false),
  /** Read-only by request, not by role: tokens exchanged for it are read-only as well. */
  narrowed: v.optional(v.boolean()),
  agency: v.optional(v.string()),
  /** The session of the token. The token ends with it. */
  session: v.optional(v.string()),
  exp: v.number(),
  iat: v.number(),
  nbf: v.optional(v.number()),
});
type Claims = v.InferOutput<typeof Claims>;

export interface TokenVerifier {
  /** The claims of a good token, else undefined. `now` is service time in milliseconds. */
  verify(token: string, now: number): Promise<Claims | undefined>;
}

export const tokenVerifier = /* @__PURE__ */ perEnvironment(
  "tokens",
  {
    env: ["TABLE_NAME", "TOKEN_ISSUER", "TOKEN_AUDIENCE", "TOKEN_JWKS"],
    grants: [{ actions: ["dynamodb:Query"], on: "table" }],
  },
  openVerifier,
);

/**
 * Checks tokens of our own issuer by the keys in the table. With `TOKEN_JWKS` (a JWKS document) the issuer named by
 * `TOKEN_ISSUER` takes its place: its tokens carry the user as `sub` and the workspace as `tid`.
 */
function openVerifier(deps: Deps): TokenVerifier {
  const issuer = setting(deps, "TOKEN_ISSUER");
  const audience = setting(deps, "TOKEN_AUDIENCE");
  const external = deps.env.TOKEN_JWKS;
  const table = openPlatformTable(deps, "JWK");
  const publishedKeys = async () =>
    external
      ? (JSON.parse(external) as { keys: PublishedKey[] }).keys
      : (await table.query(SigningKeyItem, {})).items.map(({ jwk }) => jwk);
  const verifier = JwtVerifier.create({
    issuer,
    audience,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    graceSeconds: GRACE_SECONDS,
  });
  let knownKeyIds = new Set<string>();
  /** 0: not read yet. */
  let readAt = 0;
  let reading: Promise<void> | undefined;
  /** The claims of tokens with a verified signature, the oldest first. Each request checks their times. */
  const verifiedTokens = new Map<string, Claims>();

  const readKeysAgain = async (now: number) => {
    readAt = now;
    const published = await publishedKeys().catch((error: unknown) => {
      // The next request reads again: a failure affects only the requests that wait for this read.
      readAt = 0;
      throw error;
    });
    knownKeyIds = new Set(published.map(({ kid }) => kid));
    verifiedTokens.clear();
    if (published.length > 0) verifier.cacheJwks({ keys: published });
  };

  const verifySignature = async (token: string, now: number): Promise<Claims | undefined> => {
    const kid = keyIdOf(token);
    if (kid === undefined) return undefined;
    if (!knownKeyIds.has(kid)) {
      if (now - readAt >= REREAD_MS) reading = readKeysAgain(now);
      await reading;
    }
    if (!knownKeyIds.has(kid)) return undefined;
    const claims = v.safeParse(Claims, payloadOf(verifier, token));
    if (!claims.success) return undefined;
    if (verifiedTokens.size >= MAX_VERIFIED_TOKENS) verifiedTokens.delete(verifiedTokens.keys().next().value!);
    verifiedTokens.set(token, claims.output);
    return claims.output;
  };

  return {
    verify: async (token, now) => {
      const claims = verifiedTokens.get(token) ?? (await verifySignature(token, now));
      if (!claims || !isCurrent(claims, now / 1_000)) return undefined;
      // Claims of another issuer about sessions and agencies are ignored.
      const { session: _, agency: __, ...output } = claims;
      return external ? output : claims;
    },
  };
}

function payloadOf(verifier: { verifySync(token: string): unknown }, token: string): unknown {
  try {
    return verifier.verifySync(token);
  } catch {
    // Every invalid token gets the same 401.
    return undefined;
  }
}

const isCurrent = ({ exp, iat, nbf = iat }: Claims, now: number) =>
  now < exp && iat <= now + LEEWAY_SECONDS && nbf <= now + LEEWAY_SECONDS;

const PART = /^[A-Za-z0-9_-]{1,4096}$/;

/** Three base64url parts, each in its canonical encoding: decoders accept others as well. */
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
    const header: unknown = JSON.parse(Buffer.from(token.slice(0, token.indexOf(".")), "base64url").toString());
    const kid = v.safeParse(v.object({ alg: v.literal("RS256"), kid: v.string() }), header);
    return kid.success ? kid.output.kid : undefined;
  } catch {
    // The header is not JSON.
    return undefined;
  }
}
