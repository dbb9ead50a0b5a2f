// Keyed hashes under the service's own keys, and the parts of signed tokens.
import { createHmac, createSecretKey, type Hmac, type KeyObject } from "node:crypto";

const keyObjects = new WeakMap<Buffer, KeyObject>();

/**
 * An HMAC-SHA-256 under a key that is used repeatedly. From a key of bytes, Node would make an object at each hash,
 * which takes five times as long as the hash of a short text.
 */
export function hmacUnder(key: Buffer): Hmac {
  let made = keyObjects.get(key);
  if (!made) {
    made = createSecretKey(key);
    keyObjects.set(key, made);
  }
  return createHmac("sha256", made);
}

/** A part of a JWT. */
export const tokenPart = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
