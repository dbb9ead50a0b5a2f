// Signed tokens that providers ask for, and a small memory for those that may be used again.
import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../clock.ts";

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A JWT signed with an RSA key (RS256) or one of P-256 (ES256). */
export function signToken(key: KeyObject | string, header: object, claims: object): string {
  const privateKey = typeof key === "string" ? createPrivateKey(key) : key;
  const alg = privateKey.asymmetricKeyType === "rsa" ? "RS256" : "ES256";
  const text = `${part({ alg, typ: "JWT", ...header })}.${part(claims)}`;
  const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

export interface Memory<T> {
  /** What is remembered under a name, or what `make` makes, kept for so many milliseconds. */
  get(name: string, forMs: number, make: () => T): T;
  forget(name: string): void;
}

const MAX_CACHED = 1_000;

export function openMemory<T>(clock: Clock): Memory<T> {
  const cache = new Map<string, { value: T; until: number }>();
  return {
    get: (name, forMs, make) => {
      const found = cache.get(name);
      if (found && clock.now() < found.until) return found.value;
      if (cache.size >= MAX_CACHED) cache.clear();
      const value = make();
      cache.set(name, { value, until: clock.now() + forMs });
      return value;
    },
    forget: (name) => {
      cache.delete(name);
    },
  };
}

/** The JSON Web Key of a raw pair of P-256 in base64url, as Web Push has them. */
export function rawKeyPair(publicKey: string, privateKey: string): KeyObject {
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
  return createPrivateKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y!, d: privateKey }, format: "jwk" });
}
