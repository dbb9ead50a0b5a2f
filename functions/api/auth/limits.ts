// Limits of attempts at the public endpoints of accounts (docs/decisions/0021#login). One machine never locks out a
// user who comes from elsewhere.
import { openSampled } from "../../../shared/http/sampled-limits.ts";
import { DAY, HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import { perEnvironment } from "../../../shared/kernel/deps.ts";
import { networkOf } from "../../../shared/rules/network-of.ts";
import type { Platform } from "../../../shared/store/context.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";

export const LOGINS_PER_ADDRESS: AttemptLimit = { kind: "login-ip", max: 100, windowMs: 15 * MINUTE };
/**
 * Sign-ins at identity providers. Passwords are not guessed there, and a whole office may sign in from one address.
 * Each sign-in has a begin and an end.
 */
export const SIGN_INS_PER_ADDRESS: AttemptLimit = { kind: "sign-in-ip", max: 300, windowMs: 15 * MINUTE };
export const GUESSES_FROM_ADDRESS: AttemptLimit = { kind: "login-email-ip", max: 10, windowMs: 15 * MINUTE };
/** Guesses of all machines together: a limit against guessing that is spread over many. */
export const GUESSES: AttemptLimit = { kind: "login-email", max: 200, windowMs: 15 * MINUTE };
/** Guesses of a user who is logged in: no other caller can use them up. */
export const PASSWORDS_PER_USER: AttemptLimit = { kind: "password-user", max: 10, windowMs: 15 * MINUTE };
/**
 * One-time codes of one user, after the right password. A year of guessing at both limits succeeds once in thirty
 * times.
 */
export const CODES_PER_USER: AttemptLimit = { kind: "code-user", max: 10, windowMs: 15 * MINUTE };
export const CODES_A_DAY: AttemptLimit = { kind: "code-user-day", max: 30, windowMs: DAY };
/** Mails with a token to one address, whether or not it belongs to a user. */
export const RESETS_AN_HOUR: AttemptLimit = { kind: "reset-email", max: 3, windowMs: HOUR };
export const RESETS_A_DAY: AttemptLimit = { kind: "reset-email-day", max: 10, windowMs: DAY };
export const CONFIRMATIONS_AN_HOUR: AttemptLimit = { kind: "confirm-email", max: 5, windowMs: HOUR };

/** One address may be a whole office with many tabs. */
export const REFRESHES_PER_ADDRESS: AttemptLimit = { kind: "refresh-ip", max: 6_000, windowMs: 15 * MINUTE };
/**
 * Password checks of all machines together, behind the limits by address: each takes a tenth of a second of processor
 * time. Refreshing has a limit of its own, so that guesses end no session.
 */
export const PASSWORDS_OF_ALL: AttemptLimit = { kind: "passwords-all", max: 3_000, windowMs: MINUTE };
/** Password checks of all known browsers together. An attacker has no known browser, so guesses do not use these up. */
export const PASSWORDS_OF_KNOWN: AttemptLimit = { kind: "passwords-known", max: 3_000, windowMs: MINUTE };
export const REFRESHES_OF_ALL: AttemptLimit = { kind: "refresh-all", max: 60_000, windowMs: MINUTE };

const PASSWORDS_TOGETHER = 5;
const REFRESHES_TOGETHER = 25;
const EVERYBODY = "all";

interface SharedLimits {
  /** Counts the check of a password, in a browser that is known or elsewhere. @throws 429 */
  password(platform: Counter, isKnown?: boolean): Promise<void>;
  /** Counts the use of a refresh token, from a network address. @throws 429 */
  refresh(platform: Counter, sourceIp: string): Promise<void>;
}

/** Limits that all callers share. They are met too often to write each count. */
export const sharedLimits = /* @__PURE__ */ perEnvironment("sharedLimits", {}, (): SharedLimits => {
  const [passwords, refreshes] = [openSampled(PASSWORDS_TOGETHER), openSampled(REFRESHES_TOGETHER)];
  return {
    password: (platform, isKnown = false) =>
      passwords(platform, isKnown ? PASSWORDS_OF_KNOWN : PASSWORDS_OF_ALL, EVERYBODY),
    refresh: async (platform, sourceIp) => {
      await refreshes(platform, REFRESHES_PER_ADDRESS, networkOf(sourceIp));
      await refreshes(platform, REFRESHES_OF_ALL, EVERYBODY);
    },
  };
});

type Counter = Pick<Platform, "change" | "clock">;

/** Counts a guess at the password of an account, from a network address. @throws 429 */
export async function countGuess(platform: Counter, email: string, sourceIp: string): Promise<void> {
  await countAttempt(platform, GUESSES_FROM_ADDRESS, `${email} ${networkOf(sourceIp)}`);
  await countAttempt(platform, GUESSES, email);
}

/** Counts a mail that resets a password. @throws 429 */
export async function countReset(platform: Counter, email: string): Promise<void> {
  await countAttempt(platform, RESETS_AN_HOUR, email);
  await countAttempt(platform, RESETS_A_DAY, email);
}

/** Counts a further mail that confirms an address. @throws 429 */
export const countConfirmation = (platform: Counter, email: string): Promise<void> =>
  countAttempt(platform, CONFIRMATIONS_AN_HOUR, email);
