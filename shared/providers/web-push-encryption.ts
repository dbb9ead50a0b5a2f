// Encryption of Web Push messages: RFC 8291 over the content coding aes128gcm of RFC 8188, one record.
import { createCipheriv, createECDH, createHmac } from "node:crypto";
import { channel } from "node:diagnostics_channel";

interface SubscriptionKeys {
  /** The browser's public key, an uncompressed point of P-256, in base64url. */
  p256dh: string;
  /** 16 bytes in base64url. */
  auth: string;
}

/**
 * Publishes the key of each message, like the key log of TLS, so that the local service can decrypt it. It has no
 * subscribers in a deployed function.
 */
export const keyLog = channel("web-push:key");
export interface LoggedKey {
  salt: Buffer;
  key: Buffer;
  nonce: Buffer;
}

const RECORD_BYTES = 4_096;
const KEY_BYTES = 32;
const POINT_BYTES = 65;
const SALT_BYTES = 16;
const AUTH_BYTES = 16;
const TAG_BYTES = 16;
const HEADER_BYTES = SALT_BYTES + 4 + 1 + POINT_BYTES;
/** The size that each push service must accept (RFC 8291 section 4), less header, padding delimiter and tag. */
export const MAX_PLAINTEXT_BYTES = RECORD_BYTES - HEADER_BYTES - 1 - TAG_BYTES;
const LAST_RECORD = Buffer.from([2]);

const hmac = (key: Uint8Array, ...parts: readonly Uint8Array[]) => {
  const mac = createHmac("sha256", key);
  for (const part of parts) mac.update(part);
  return mac.digest();
};
/** HKDF with an output of at most one block. */
const derive = (secret: Uint8Array, salt: Uint8Array, info: Uint8Array, length: number) =>
  hmac(hmac(salt, secret), info, Buffer.from([1])).subarray(0, length);

/**
 * Encrypts a message for one subscription. `bytes` returns cryptographically strong random bytes.
 * @throws if the keys of the subscription are invalid.
 */
export function encryptPush(plaintext: Uint8Array, keys: SubscriptionKeys, bytes: (length: number) => Buffer): Buffer {
  const theirs = Buffer.from(keys.p256dh, "base64url");
  const auth = Buffer.from(keys.auth, "base64url");
  if (theirs.length !== POINT_BYTES || auth.length !== AUTH_BYTES)
    throw new Error("The keys of the subscription are invalid.");

  const ours = createECDH("prime256v1");
  ours.setPrivateKey(bytes(KEY_BYTES));
  const shared = ours.computeSecret(theirs);
  const point = ours.getPublicKey();
  const secret = derive(shared, auth, Buffer.concat([Buffer.from("WebPush: info\0"), theirs, point]), KEY_BYTES);

  const salt = bytes(SALT_BYTES);
  const key = derive(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derive(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);
  if (keyLog.hasSubscribers) keyLog.publish({ salt, key, nonce } satisfies LoggedKey);

  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(RECORD_BYTES);
  const sealed = [cipher.update(plaintext), cipher.update(LAST_RECORD), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, size, Buffer.from([POINT_BYTES]), point, ...sealed]);
}
