// Signed tokens that providers require, and a cache for those that may be reused.
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../kernel/clock.ts";
import { tokenPart } from "../kernel/hmac.ts";
import { recent } from "../store/recent.ts";

/** A JWT signed with an RSA key (RS256) or one of P-256 (ES256). */
export function signToken(key: KeyObject | string, header: object, claims: object): string {
  const privateKey = typeof key === "string" ? createPrivateKey(key) : key;
  const alg = privateKey.asymmetricKeyType === "rsa" ? "RS256" : "ES256";
  const text = `${tokenPart({ alg, typ: "JWT", ...header })}.${tokenPart(claims)}`;
  const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

interface TokenCache<K, T> {
  /** The cached token, or a new one. */
  get(key: K): T;
  delete(key: K): void;
}

const MAX_CACHED = 1_000;

/** Caches each token that `make` returns for `forMs`, under the name that `nameOf` gives to its credentials. */
export function openTokenCache<K, T>(
  { now }: Pick<Clock, "now">,
  forMs: number,
  nameOf: (key: K) => string,
  make: (key: K) => T,
): TokenCache<K, T> {
  const cache = recent<{ token: T; until: number }>(MAX_CACHED);
  return {
    get: (key) => {
      const name = nameOf(key);
      const cached = cache.get(name);
      if (cached && now() < cached.until) return cached.token;
      const token = make(key);
      cache.set(name, { token, until: now() + forMs });
      return token;
    },
    delete: (key) => cache.delete(nameOf(key)),
  };
}

/** The private key of a raw P-256 pair in base64url, the form of Web Push keys. */
export function rawKeyPair(publicKey: string, privateKey: string): KeyObject {
  const point = Buffer.from(publicKey, "base64url");
  const x = point.subarray(1, 33).toString("base64url");
  const y = point.subarray(33).toString("base64url");
  return createPrivateKey({ key: { kty: "EC", crv: "P-256", x, y, d: privateKey }, format: "jwk" });
}
