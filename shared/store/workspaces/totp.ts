// One-time codes of an authenticator (RFC 6238, as RFC 4226 counts them): SHA-1, 30 seconds, six digits.
import { createHmac, timingSafeEqual } from "node:crypto";
import { SECOND } from "../../kernel/clock.ts";

export const TOTP_KEY_BYTES = 20;
const STEP_MS = 30 * SECOND;
const DIGITS = 6;
/** Clocks of telephones are off, and people type slowly: the steps before and after count. */
const TOLERATED_STEPS = 1;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** The code of a step of time. */
export function totpCode(key: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", key).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
}

/** The step whose code this is, at `now` in milliseconds; undefined if it is none. */
export function stepOfCode(key: Buffer, code: string, now: number): number | undefined {
  const present = Math.floor(now / STEP_MS);
  const presented = Buffer.from(code);
  for (let step = present - TOLERATED_STEPS; step <= present + TOLERATED_STEPS; step++) {
    const expected = Buffer.from(totpCode(key, step));
    if (presented.length === expected.length && timingSafeEqual(presented, expected)) return step;
  }
  return undefined;
}

/** RFC 4648, without padding: as authenticators take keys that are typed. */
export function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => ALPHABET.charAt(Number.parseInt(five.padEnd(5, "0"), 2))).join("");
}

/** The content of a QR code for an authenticator app. */
export function totpUri(key: Buffer, issuer: string, account: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  return `otpauth://totp/${label}?secret=${base32(key)}&issuer=${encodeURIComponent(issuer)}`;
}
