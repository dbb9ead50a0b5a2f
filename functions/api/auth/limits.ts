// Limits of attempts at the public endpoints of accounts.
import { HOUR, MINUTE } from "../../../shared/kernel/clock.ts";
import type { AttemptLimit } from "../../../shared/store/workspaces/attempts.ts";

/** docs/decisions/0021#login. */
export const LOGINS_PER_EMAIL: AttemptLimit = { kind: "login-email", max: 10, windowMs: 15 * MINUTE };
export const LOGINS_PER_ADDRESS: AttemptLimit = { kind: "login-ip", max: 100, windowMs: 15 * MINUTE };
/** Mails with a token to one address, whether or not a user has it. */
export const RESETS_PER_EMAIL: AttemptLimit = { kind: "reset-email", max: 10, windowMs: 15 * MINUTE };
export const CONFIRMATIONS_PER_USER: AttemptLimit = { kind: "confirm-user", max: 5, windowMs: HOUR };
