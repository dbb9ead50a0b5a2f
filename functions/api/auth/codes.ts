// The code that a user with a second factor gives beside the password (ACC-11).
import * as v from "valibot";
import { TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import type { Platform, platformWrite } from "../../../shared/store/context.ts";
import type { RowOf } from "../../../shared/store/item.ts";
import { countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import type { UserItem } from "../../../shared/store/workspaces/identity-items.ts";
import { type factorKeys, isOneTimeCode, useCode, wrongCode } from "../../../shared/store/workspaces/second-factors.ts";
import { CODES_A_DAY, CODES_PER_USER } from "./limits.ts";

export const Code = v.pipe(
  TrimmedTextUpTo(64),
  v.description(
    "The six digits that the authenticator shows, or a recovery code; each works once, with spaces or without",
  ),
  // Authenticator apps show a code in two groups of digits.
  v.transform((text) => text.replaceAll(/\s/g, "")),
);

type UserRow = RowOf<typeof UserItem>;

/**
 * Uses up the code of a user who has a second factor, after the password was checked.
 * @returns whether the user has a second factor
 * @throws 401 SECOND_FACTOR_REQUIRED without a code, 401 for a wrong one, 429
 */
export async function proveSecondFactor(
  deps: Context<readonly [typeof platformWrite, typeof factorKeys]>,
  user: UserRow,
  code: string | undefined,
): Promise<boolean> {
  if (user.totp === undefined) return false;
  if (code === undefined)
    throw new ApiError("SECOND_FACTOR_REQUIRED", "Give the code that your authenticator shows, or a recovery code.");
  // An attacker who knows the password may use up these attempts. Recovery codes still work then, because they cannot
  // be guessed.
  if (isOneTimeCode(code)) await countGuessedCode(deps.platform, user.id);
  const isTaken = await useCode(deps, user, code);
  if (!isTaken) throw wrongCode();
  return true;
}

/** Counts a guess at a one-time code. @throws 429 */
export async function countGuessedCode(platform: Platform, user: string): Promise<void> {
  await countAttempt(platform, CODES_PER_USER, user);
  await countAttempt(platform, CODES_A_DAY, user);
}
