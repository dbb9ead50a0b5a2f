// The second factor of a user: a key of an authenticator, sealed by KMS, and recovery codes (ACC-10 to ACC-13).
import { perEnvironment } from "../../kernel/deps.ts";
import { conflict, unauthorized } from "../../kernel/errors.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import type { Platform } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, type ItemWrite, type RowOf } from "../item.ts";
import { fromJson, type JsonText, toJson } from "../json-text.ts";
import { happened, transacted } from "../refusals.ts";
import { UserItem } from "./identity-items.ts";
import { accountWrites, secondFactorFields } from "./passwords.ts";
import { type Sealer, sealingBy } from "./sealing.ts";
import { withParents } from "./session-ends.ts";
import { UserSession } from "./session-items.ts";
import { base32, stepOfCode, TOTP_KEY_BYTES } from "./totp.ts";

const RECOVERY_CODES = 10;
/** 80 bits cannot be guessed, so a hash without salt is enough. */
const RECOVERY_BYTES = 10;

type UserRow = RowOf<typeof UserItem>;

/** Seals the keys of authenticators: one cannot be opened for another user. */
export const factorKeys = /* @__PURE__ */ perEnvironment(
  "factorKeys",
  { env: ["ENCRYPTION_KEY_ID"], grants: [{ actions: ["kms:Encrypt", "kms:Decrypt"], on: "second-factor-key" }] },
  (deps) => (user: string) => sealingBy(deps, { purpose: "second-factor", user }),
);

interface FactorDeps {
  platform: Platform;
  factorKeys: (user: string) => Sealer;
}

/** Stores a new key beside the one in force: it counts as soon as a code proves it. @throws 409 where one is in force. */
export async function offerKey({ platform, factorKeys }: FactorDeps, user: UserRow): Promise<Buffer> {
  const key = platform.ids.bytes(TOTP_KEY_BYTES);
  const totp_next = await factorKeys(user.id).seal(key);
  const isStored = await happened(
    platform.change(UserItem, { email: user.email }, { set: { totp_next } }, all(is("id", user.id), absent("totp"))),
  );
  if (!isStored) throw conflict("A second factor is in force. Remove it first.");
  return key;
}

/**
 * Puts the offered key in force by a code of it. All sessions but `kept` end.
 * @returns the recovery codes, of which only hashes are stored. @throws 401 for a wrong code, 409.
 */
export async function confirmKey(
  { platform, factorKeys }: FactorDeps,
  user: UserRow,
  code: string,
  kept: string,
): Promise<string[]> {
  if (user.totp_next === undefined || user.totp !== undefined)
    throw conflict("No second factor is being set up. Begin again.");
  const key = await factorKeys(user.id).open(user.totp_next);
  const totp_step = stepOfCode(key, code, platform.clock.now());
  if (totp_step === undefined) throw wrongCode();
  const { codes, recovery } = newRecoveryCodes(platform);
  const set = { totp: user.totp_next, totp_step, recovery };
  const writes = await accountWrites(platform, user, { set, remove: ["totp_next"] }, kept);
  const { together, apart } = await lineWrites(platform, user, kept, { isProven: true });
  await changeTogether(platform, [...writes, ...together]);
  for (const write of apart) await transacted(platform, [write]);
  return codes;
}

/** Ends the second factor of a user, and all sessions but `kept`. @throws 409. */
export async function removeFactor(platform: Platform, user: UserRow, kept: string | undefined): Promise<void> {
  const writes = await accountWrites(platform, user, { set: {}, remove: secondFactorFields }, kept);
  const { together, apart } = await lineWrites(platform, user, kept, { isProven: false });
  for (const write of apart) await transacted(platform, [write]);
  await changeTogether(platform, [...writes, ...together]);
}

/** Replaces the recovery codes. @throws 409 if the second factor was removed in the meantime */
export async function renewRecoveryCodes(platform: Platform, user: UserRow): Promise<string[]> {
  const { codes, recovery } = newRecoveryCodes(platform);
  const isStored = await happened(
    platform.change(UserItem, { email: user.email }, { set: { recovery } }, is("totp", user.totp ?? "")),
  );
  if (!isStored) throw conflict("The second factor has changed meanwhile.");
  return codes;
}

/**
 * Uses up a code of the authenticator, or a recovery code. Of two uses at once one succeeds.
 * @returns false for a wrong or used one.
 */
export async function useCode({ platform, factorKeys }: FactorDeps, user: UserRow, code: string): Promise<boolean> {
  const { email, totp = "", recovery } = user;
  const isInForce = is<"totp" | "totp_step" | "recovery">("totp", totp);
  if (isOneTimeCode(code)) {
    const key = await factorKeys(user.id).open(totp);
    const totp_step = stepOfCode(key, code, platform.clock.now());
    if (totp_step === undefined) return false;
    const isUnused = any<"totp_step">(absent("totp_step"), below("totp_step", totp_step));
    return transacted(platform, [changeItem(UserItem, { email }, { set: { totp_step } }, all(isInForce, isUnused))]);
  }
  const left = recovery === undefined ? [] : fromJson(recovery);
  const hash = hashOf(code.toUpperCase().replaceAll(/[\s-]/g, ""));
  if (recovery === undefined || !left.includes(hash)) return false;
  const others = toJson(left.filter((code) => code !== hash));
  return transacted(platform, [
    changeItem(UserItem, { email }, { set: { recovery: others } }, all(isInForce, is("recovery", recovery))),
  ]);
}

export const isOneTimeCode = (code: string): boolean => /^\d{6}$/.test(code);

export const recoveryCodesLeft = ({ recovery }: UserRow): number =>
  recovery === undefined ? 0 : fromJson(recovery).length;

export const wrongCode = () => unauthorized("The code is wrong, or was used already.");

function newRecoveryCodes({ ids }: Platform): { codes: string[]; recovery: JsonText<string[]> } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => base32(ids.bytes(RECOVERY_BYTES)));
  const shown = codes.map((code) => (code.match(/.{4}/g) ?? []).join("-"));
  return { codes: shown, recovery: toJson(codes.map(hashOf)) };
}

/** Sessions of a line that change in the transaction of the account, the one that goes on first. It may hold 100 items. */
const MAX_OF_LINE = 8;

/**
 * A session that goes on has the second factor from now on, or no longer; so have those that it came from. Each switch makes their
 * line longer: the farthest of them change by themselves, so that none of them ever has a factor that its user has not.
 */
async function lineWrites(
  platform: Platform,
  { id: user }: UserRow,
  kept: string | undefined,
  { isProven }: { isProven: boolean },
): Promise<{ together: ItemWrite<"platform">[]; apart: ItemWrite<"platform">[] }> {
  const rows = await platform.queryAll(UserSession, { user });
  const change = isProven ? { set: { second_factor: true as const } } : { remove: ["second_factor" as const] };
  const line = [...withParents(rows, kept)].map((id) => changeItem(UserSession, { user, id }, change, is("id", id)));
  return { together: line.slice(0, MAX_OF_LINE), apart: line.slice(MAX_OF_LINE) };
}

async function changeTogether(platform: Platform, writes: readonly ItemWrite<"platform">[]): Promise<void> {
  const isDone = await transacted(platform, writes);
  if (!isDone) throw conflict("The account is changing at the moment. Try again.");
}
