// Ids: how they are made, the time in them, and their short form.
import { Buffer } from "node:buffer";

declare const brand: unique symbol;

/** A workspace id that came from a verified credential, or from a message that is reloaded under it. */
export type TenantId = string & { readonly [brand]: "tenant" };

export interface Ids {
  /** A random UUID (version 4). */
  uuid(): string;
  /** A UUID (version 7) whose order is the order of `at`, in milliseconds, and of one `at` that of the calls. */
  uuidAt(at: number): string;
  /** Cryptographically strong bytes, for keys and tokens. */
  bytes(length: number): Buffer;
}

/** Ids drawn from one source of bytes, so that a seed decides them all in tests. */
export function idsFrom(bytes: (length: number) => Buffer): Ids {
  const last = { at: Number.NEGATIVE_INFINITY, n: 0 };
  return {
    bytes,
    uuid: () => uuidOf(bytes(16), 4),
    uuidAt: (at) => {
      last.n = at === last.at ? Math.min(last.n + 1, MAX_COUNTER) : 0;
      last.at = at;
      const tail = bytes(10);
      tail.writeUInt16BE(last.n);
      return uuidV7(at, tail);
    },
  };
}

/** The 12 bits after the version count the ids of a millisecond (RFC 9562, section 6.2, method 1). */
const MAX_COUNTER = 0xfff;

/** A UUIDv7 made of a time and ten bytes: the same input gives the same id. */
export function uuidV7(at: number, tail: Uint8Array): string {
  return uuidOf(timed(at, tail), 7);
}

/** The same as a UUIDv8, of which the 12 bits after the version may have a meaning (RFC 9562). */
export function uuidV8(at: number, tail: Uint8Array): string {
  return uuidOf(timed(at, tail), 8);
}

function timed(at: number, tail: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(at, 0, 6);
  bytes.set(tail.subarray(0, 10), 6);
  return bytes;
}

/** A UUID of the given version made of 16 bytes (version 8 for ids derived by hash). */
export function uuidOf(source: Uint8Array, version: 4 | 7 | 8): string {
  const bytes = Buffer.from(source.subarray(0, 16));
  bytes[6] = (bytes[6]! & 0x0f) | (version << 4);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return uuidFrom(bytes);
}

/** The time that a UUID of `uuidV7` or `uuidV8` was made of, in milliseconds. */
export const timeOfUuid = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/** The beginning of all ids of a time, in milliseconds. */
export const uuidPrefixOf = (at: number): string => {
  const hex = Math.max(0, at).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
};

/** The beginning of a pseudonym, which ids do not have. A pseudonym replaces an erased subscriber. */
export const PSEUDONYM_PREFIX = "~";
export const isPseudonym = (id: string): boolean => id.startsWith(PSEUDONYM_PREFIX);

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PLAIN = "=";

/** A UUID as its 16 bytes in base64url; another id as it is. */
export function packId(id: string): string {
  if (isPseudonym(id)) return PSEUDONYM_PREFIX + packId(id.slice(PSEUDONYM_PREFIX.length));
  return UUID.test(id) ? Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url") : PLAIN + id;
}

export function unpackId(text: string): string {
  if (isPseudonym(text)) return PSEUDONYM_PREFIX + unpackId(text.slice(PSEUDONYM_PREFIX.length));
  if (text.startsWith(PLAIN)) return text.slice(PLAIN.length);
  return uuidFrom(Buffer.from(text, "base64url"));
}

/** The UUID that these 16 bytes are. */
export function uuidFrom(bytes: Buffer): string {
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
