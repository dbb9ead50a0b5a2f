// New passwords and confirmed addresses: by a mailed token, or by the password that was valid until now
// (docs/decisions/0033).
import { DAY, HOUR, SECOND, timestamp, ttl } from "../../kernel/clock.ts";
import { ApiError, conflict, notFound, unauthorized } from "../../kernel/errors.ts";
import { mailboxOf } from "../../rules/addresses.ts";
import { absent, all, asRead, is, present } from "../conditions.ts";
import type { Platform } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, checkItem, type ItemWrite, type RowOf, removeItem } from "../item.ts";
import { busy, contended, done, happened, orRefuse, transacted, untilUncontended, whereItHolds } from "../refusals.ts";
import { type AttemptLimit, countAttempt } from "./attempts.ts";
import { hashPassword, membershipsOf } from "./identity.ts";
import { MemberItem, UserItem } from "./identity-items.ts";
import { withParents } from "./session-ends.ts";
import { AccountMail, AccountToken, type MailPurpose, UserSession } from "./session-items.ts";

const MAIL_KEPT_MS = HOUR;
const VALID_MS: Record<MailPurpose, number> = { reset: HOUR, confirm: DAY };
const TOKEN_BYTES = 32;
const SALT_BYTES = 16;
const ENDED_MEANWHILE = "The session has ended meanwhile. Log in again.";
/** Sessions that end in the transaction of a new password. It may hold 100 items. */
const MAX_ENDED_TOGETHER = 90;

type UserRow = RowOf<typeof UserItem>;

/**
 * Asks for a mail with a token. It is the same write for every address: the answer and its time do not say whether a
 * user has it. The mail follows from the row.
 */
export async function requestMail(platform: Platform, email: string, purpose: MailPurpose): Promise<void> {
  const id = platform.ids.uuid();
  const expires = ttl(platform.clock.now() + MAIL_KEPT_MS);
  await platform.put(AccountMail, { id }, { id, email, purpose, react: "account-mail", expires });
}

/** Makes the token of a mail. @returns undefined if there is no need for it: no such user, or confirmed already. */
export async function makeToken(
  platform: Platform,
  { email, purpose }: { email: string; purpose: MailPurpose },
): Promise<{ token: string; user: UserRow } | undefined> {
  const user = await platform.get(UserItem, { email });
  if (!user || (purpose === "confirm" && user.confirmed_at !== undefined)) return undefined;
  const token = platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const expires = ttl(platform.clock.now() + VALID_MS[purpose]);
  const row = { user: user.id, email: user.email, purpose, replaces: hashOf(user.password), expires };
  await whereItHolds(platform.put(AccountToken, { digest: hashOf(token) }, row, absent()));
  return { token, user };
}

/** Mails with a token to all names of a mailbox with a plus that their users have not confirmed: strangers make such users up. */
export const UNCONFIRMED_AN_HOUR: AttemptLimit = { kind: "unconfirmed-names", max: 5, windowMs: HOUR };
export const UNCONFIRMED_A_DAY: AttemptLimit = { kind: "unconfirmed-names-day", max: 10, windowMs: DAY };

/**
 * Counts a mail to a user for the mailbox, where the address is a further name of it that was not confirmed. A name that its owner
 * confirmed has mails of its own, which no stranger uses up. A mail that is tried again counts once.
 * @returns false if the mailbox has as many as strangers may cause
 */
export async function countForMailbox(
  platform: Platform,
  { id }: Pick<RowOf<typeof AccountMail>, "id">,
  { email, confirmed_at }: Pick<UserRow, "email" | "confirmed_at">,
): Promise<boolean> {
  const mailbox = mailboxOf(email);
  if (mailbox === email || confirmed_at !== undefined) return true;
  const isUncounted = all(present(), absent("counted"));
  const isFirst = await happened(platform.change(AccountMail, { id }, { set: { counted: true } }, isUncounted));
  if (!isFirst) return true;

  try {
    await countAttempt(platform, UNCONFIRMED_AN_HOUR, mailbox);
    await countAttempt(platform, UNCONFIRMED_A_DAY, mailbox);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === "RATE_LIMITED") return false;
    throw error;
  }
}

/** The user that a valid token of this purpose was mailed to. @throws 404. */
export async function userOfToken(platform: Platform, token: string, purpose: MailPurpose): Promise<UserRow> {
  const row = await platform.get(AccountToken, { digest: hashOf(token) });
  if (!row || row.purpose !== purpose || row.expires * SECOND <= platform.clock.now()) throw notFound("token");
  const user = await platform.get(UserItem, { email: row.email });
  if (!user || user.id !== row.user) throw notFound("token");
  if (purpose === "reset" && hashOf(user.password) !== row.replaces) throw notFound("token");
  return user;
}

/**
 * Replaces the password by a mailed token, ends all sessions and confirms the address. Of two uses at once, one fails.
 * @returns the user as stored now. @throws 404.
 */
export async function resetPassword(platform: Platform, token: string, password: string): Promise<UserRow> {
  const hash = await newHash(platform, password);
  const consume = removeItem(AccountToken, { digest: hashOf(token) }, present());
  const find = () => userOfToken(platform, token, "reset");
  return replacePassword(platform, find, hash, { along: consume, isProven: true });
}

/** Replaces the password of a user who has just given the current one; all sessions but `kept` end. @throws 409. */
export async function changePassword(
  platform: Platform,
  { email, password: current }: { email: string; password: string },
  password: string,
  kept: string | undefined,
): Promise<UserRow> {
  const hash = await newHash(platform, password);
  const find = async () => {
    const user = await platform.get(UserItem, { email });
    if (!user || user.password !== current) throw conflict("The password was changed meanwhile.");
    return user;
  };
  return replacePassword(platform, find, hash, { kept });
}

async function replacePassword(
  platform: Platform,
  find: () => Promise<UserRow>,
  hash: string,
  how: { along?: ItemWrite<"platform">; isProven?: boolean; kept?: string | undefined },
): Promise<UserRow> {
  return untilUncontended(busy.conflict("Sessions of this user begin at the moment. Try again."), async () => {
    const user = await find();
    const writes = await passwordWrites(platform, user, hash, how);
    const isOpen = how.kept === undefined ? [] : [checkItem(UserSession, { user: user.id, id: how.kept }, present())];
    const isDone = await transacted(platform, [...writes, ...isOpen, ...(how.along ? [how.along] : [])]);
    if (!isDone) return contended;
    if (how.isProven) await unmark(platform, user.id);
    return done({ ...user, password: hash });
  });
}

/**
 * The writes that give a user a new password and end the sessions there are, but for `kept`. They succeed only together,
 * and only if no session has begun and no other password was set since the user was read.
 */
export async function passwordWrites(
  platform: Platform,
  user: UserRow,
  hash: string,
  { isProven = false, joins = false, kept }: { isProven?: boolean; joins?: boolean; kept?: string | undefined },
): Promise<ItemWrite<"platform">[]> {
  const set = { password: hash, ...(isProven && { confirmed_at: timestamp(platform.clock.now()) }) };
  // The holder of the old password may have been offered a key.
  const remove = isProven && user.confirmed_at === undefined ? secondFactorFields : (["totp_next"] as const);
  return accountWrites(platform, user, { set, remove, add: joins ? { joined: 1 } : {} }, kept);
}

/** The second factor of a user. The owner of the mailbox takes over an account whose address was never confirmed. */
export const secondFactorFields = ["totp", "totp_step", "totp_next", "recovery"] as const;

interface AccountChange {
  set: Partial<Pick<UserRow, "password" | "confirmed_at" | "totp" | "totp_step" | "recovery">>;
  remove: readonly (typeof secondFactorFields)[number][];
  add?: { joined?: number };
}

/** The writes that change a user's credentials, and end all sessions but `kept`. @throws 401 if that one has ended */
export async function accountWrites(
  platform: Platform,
  user: UserRow,
  { set, remove, add }: AccountChange,
  kept: string | undefined,
): Promise<ItemWrite<"platform">[]> {
  const rows = await platform.queryAll(UserSession, { user: user.id });
  if (kept !== undefined && !rows.some(({ id }) => id === kept)) throw unauthorized(ENDED_MEANWHILE);
  const open = withParents(rows, kept);
  const sessions = rows.filter(({ id }) => !open.has(id));
  const ended = sessions.map(({ id }) => removeItem(UserSession, { user: user.id, id }));
  await platform.writeAll(ended.slice(MAX_ENDED_TOGETHER));
  const isAsRead = all(is("password", user.password), asRead("logins", user.logins));
  return [
    changeItem(UserItem, { email: user.email }, { set, remove, add: { logins: 1, ...add } }, isAsRead),
    ...ended.slice(0, MAX_ENDED_TOGETHER),
  ];
}

export const newHash = (platform: Platform, password: string): Promise<string> =>
  hashPassword(password, platform.ids.bytes(SALT_BYTES));

/** Confirms an address by a mailed token. @throws 404. */
export async function confirmAddress(platform: Platform, token: string): Promise<void> {
  const user = await userOfToken(platform, token, "confirm");
  const initial = { confirmed_at: timestamp(platform.clock.now()) };
  await platform
    .transact([
      removeItem(AccountToken, { digest: hashOf(token) }, present()),
      changeItem(UserItem, { email: user.email }, { initial }, is("id", user.id)),
    ])
    .catch(orRefuse(() => notFound("token")));
  await unmark(platform, user.id);
}

/** Spares later requests the look at the user's row. Where this fails half-way, that row is looked at. */
async function unmark(platform: Platform, user: string): Promise<void> {
  for (const { tenant } of await membershipsOf(platform, user))
    await whereItHolds(platform.change(MemberItem, { tenant, user }, { remove: ["unconfirmed"] }, present()));
}
