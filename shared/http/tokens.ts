// Dashboard tokens, verified by aws-jwt-verify against the public keys published in the table (decision 23).
import { JwtVerifier } from "aws-jwt-verify";
import * as v from "valibot";
import { type Parts, setting } from "../parts.ts";
import { openTable } from "../store/table.ts";

export const ACCESS_TOKEN_SECONDS = 900;
const LEEWAY_SECONDS = 5;
/** aws-jwt-verify reads the real clock: it is told to be patient, and the times are checked here (decision 14). */
const PATIENCE_SECONDS = 100 * 366 * 86_400;
/** How soon an unknown key id may make us read the published keys again. */
const REREAD_MS = 10_000;

const Claims = v.object({
  sub: v.string(),
  tid: v.string(),
  token_use: v.literal("access"),
  ro: v.optional(v.boolean(), false),
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

export function openVerifier(parts: Parts): TokenVerifier {
  const issuer = setting(parts, "TOKEN_ISSUER");
  const audience = setting(parts, "TOKEN_AUDIENCE");
  const table = openTable(parts)((pk) => pk === "JWK");
  const verifier = JwtVerifier.create({
    issuer,
    audience,
    jwksUri: `${issuer}/.well-known/jwks.json`,
    graceSeconds: PATIENCE_SECONDS,
  });
  let known = new Set<string>();
  let readAt = Number.NEGATIVE_INFINITY;

  const learn = async (now: number) => {
    readAt = now;
    const { items } = await table.query({ pk: "JWK" });
    const published = items.map((item) => item.jwk as unknown as PublishedKey);
    known = new Set(published.map(({ kid }) => kid));
    if (published.length > 0) verifier.cacheJwks({ keys: published });
  };

  return {
    verify: async (token, now) => {
      const kid = keyIdOf(token);
      if (kid === undefined) return undefined;
      if (!known.has(kid) && now - readAt >= REREAD_MS) await learn(now);
      if (!known.has(kid)) return undefined;
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

function keyIdOf(token: string): string | undefined {
  if (token.length > 4_096) return undefined;
  try {
    const header = JSON.parse(Buffer.from(token.slice(0, token.indexOf(".")), "base64url").toString()) as unknown;
    const kid = v.safeParse(v.object({ alg: v.literal("RS256"), kid: v.string() }), header);
    return kid.success ? kid.output.kid : undefined;
  } catch {
    // Not a token at all.
    return undefined;
  }
}
