// How an invitation is accepted: by a new user, or an existing one (D-TEAM, AMB-78, ACC-9).
import type { Role } from "../../contract/roles.ts";
import { timestamp } from "../../kernel/clock.ts";
import { notFound, unauthorized } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { absent, is, present } from "../conditions.ts";
import type { Platform } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, fullKey, type ItemWrite, putItem, type RowOf, removeItem } from "../item.ts";
import { busy, contended, done, failuresOf, untilUncontended, whereItHolds } from "../refusals.ts";
import { findUser } from "./identity.ts";
import { InvitationItem, InvitedItem, MemberItem, MembershipItem, UserItem } from "./identity-items.ts";
import { areMeant, readTeam, requireSeat, type Team, teamWrite } from "./invitations.ts";
import { newHash, passwordWrites } from "./passwords.ts";

/** Wrong passwords that end an invitation. */
const MAX_WRONG_PASSWORDS = 5;

interface AcceptanceChecks {
  /** Counts the attempt for the invited address, before the password of an existing user is checked. */
  admit(email: string): Promise<void>;
  /** Refuses a new password that is easy to guess for a person who knows these texts. */
  refuseWeak(personal: readonly string[]): void;
  /** Asks an existing user, whose password was right, for the second factor. @throws 401 */
  proveSecondFactor(user: UserRow): Promise<void>;
}

/**
 * Makes an invited person a member: a new user, or an existing one. A mailed token proves the mailbox: it confirms the
 * address, and sets the password of a user who has not confirmed it. Otherwise an existing user gives the right password.
 * @throws 401, 403, 404, 422 for a new password that is weak, 429.
 */
export async function acceptInvitation(
  platform: Platform,
  { token, name, password }: { token: string; name: string; password: string },
  checks: AcceptanceChecks,
): Promise<{ user: UserRow; tenant: TenantId; role: Role }> {
  const digest = hashOf(token);
  const { admit, proveSecondFactor, ...others } = checks;
  const once = {
    ...others,
    admit: onceFor(admit, (email) => email),
    proveSecondFactor: onceFor(proveSecondFactor, factorOf),
  };
  return untilUncontended(busy.conflict("The team is changing at the moment. Try again."), async () => {
    const invitation = await requireInvitation(platform, digest);
    const { tenant, email, role, mailed = false } = invitation;
    const team = await readTeam(platform, tenant);
    requireSeat(team);
    const invited = await invitedUser(platform, { email, name, password, mailed, workspace: team.name }, once);
    if (invited.kind === "wrong password") return refusePassword(platform, { digest, tenant, email });
    const joined = await join(platform, { digest, invitation, team }, invited);
    return joined === "joined" ? done({ user: invited.user, tenant, role }) : contended;
  });
}

/** Another attempt is no other guess, and a code that was right is used up: a check is made once while nothing has changed. */
function onceFor<T>(check: (of: T) => Promise<void>, stateOf: (of: T) => string): (of: T) => Promise<void> {
  const made = new Map<string, Promise<void>>();
  return (of) => {
    const known = made.get(stateOf(of)) ?? check(of);
    made.set(stateOf(of), known);
    return known;
  };
}

/** The second factor that is in force: one that came between is asked for. */
const factorOf = ({ totp = "" }: UserRow): string => totp;

type InvitationRow = RowOf<typeof InvitationItem>;

async function requireInvitation(platform: Platform, digest: string): Promise<InvitationRow> {
  const row = await platform.get(InvitationItem, { digest });
  if (!row || row.expires_at <= timestamp(platform.clock.now())) throw notFound("invitation");
  const [isMeant] = await areMeant(platform, row.tenant, [row]);
  if (!isMeant) throw notFound("invitation");
  return row;
}

/** Turns the invitation into a membership. @throws 404 if it was accepted or withdrawn in the meantime */
async function join(
  platform: Platform,
  { digest, invitation, team }: { digest: string; invitation: InvitationRow; team: Team },
  { user, writes }: InvitedUser,
): Promise<"joined" | "team changed"> {
  const { id, tenant, email, role } = invitation;
  const created_at = timestamp(platform.clock.now());
  const member = { user_id: user.id, tenant, role, email, name: user.name, created_at };
  const unconfirmed = user.confirmed_at === undefined ? { unconfirmed: true as const } : {};
  const failures = await failuresOf(platform, [
    removeItem(InvitationItem, { digest }, present()),
    removeItem(InvitedItem, { tenant, email }, is("id", id)),
    putItem(MemberItem, { tenant, user: user.id }, { ...member, ...unconfirmed, invitation: id }, absent()),
    putItem(MembershipItem, { user: user.id, tenant }, member),
    teamWrite(team, Number(role === "owner")),
    ...writes,
  ]);
  const [gone, unlisted, existing] = failures;
  if (gone || unlisted || existing) throw notFound("invitation");
  return failures.length === 0 ? "joined" : "team changed";
}

/** Counts a wrong password; the last one that is allowed ends the invitation. @throws 401. */
async function refusePassword(
  platform: Platform,
  { digest, tenant, email }: { digest: string; tenant: TenantId; email: string },
): Promise<never> {
  const counted = platform.change(InvitationItem, { digest }, { add: { failures: 1 } }, present());
  const { failures = 0 } = (await whereItHolds(counted)) ?? {};
  if (failures >= MAX_WRONG_PASSWORDS)
    await platform.transact([removeItem(InvitationItem, { digest }), removeItem(InvitedItem, { tenant, email })]);
  throw unauthorized("The password of this user is wrong.");
}

type UserRow = RowOf<typeof UserItem>;

/** The user an invitation is for, as stored after the writes that create the user, or count that an existing one joins. */
interface InvitedUser {
  kind: "invited";
  user: UserRow;
  writes: ItemWrite<"platform">[];
}

interface Acceptance extends Record<"email" | "name" | "password" | "workspace", string> {
  mailed: boolean;
}

/** @throws 401 for a second factor, 422 for a new password that is weak */
async function invitedUser(
  platform: Platform,
  acceptance: Acceptance,
  checks: AcceptanceChecks,
): Promise<InvitedUser | { kind: "wrong password" }> {
  const existing = await platform.get(UserItem, { email: acceptance.email });
  return existing ? existingUser(platform, existing, acceptance, checks) : newUser(platform, acceptance, checks);
}

async function existingUser(
  platform: Platform,
  existing: UserRow,
  { email, password, mailed, workspace }: Acceptance,
  { admit, refuseWeak, proveSecondFactor }: AcceptanceChecks,
): Promise<InvitedUser | { kind: "wrong password" }> {
  const now = timestamp(platform.clock.now());
  await admit(email);
  const isProven = mailed && existing.confirmed_at === undefined;
  const user = await findUser(platform, email, password);
  if (user) {
    await proveSecondFactor(user);
    const set = isProven ? { confirmed_at: now } : {};
    const joins = changeItem(UserItem, { email }, { add: { joined: 1 }, set }, is("password", user.password));
    return { kind: "invited", user: { ...user, ...set }, writes: [joins] };
  }
  if (!isProven) return { kind: "wrong password" };
  refuseWeak([email, workspace]);
  const hash = await newHash(platform, password);
  const writes = await passwordWrites(platform, existing, hash, { isProven, joins: true });
  const { totp: _, ...kept } = existing;
  return { kind: "invited", user: { ...kept, password: hash, confirmed_at: now }, writes };
}

async function newUser(
  platform: Platform,
  { email, name, password, mailed, workspace }: Acceptance,
  { refuseWeak }: AcceptanceChecks,
): Promise<InvitedUser> {
  refuseWeak([email, workspace]);
  const now = timestamp(platform.clock.now());
  const row = {
    id: platform.ids.uuid(),
    email,
    name,
    password: await newHash(platform, password),
    created_at: now,
    ...(mailed && { confirmed_at: now }),
  };
  const write = putItem(UserItem, { email }, row, absent());
  return { kind: "invited", user: { ...fullKey(UserItem, { email }, ""), ...row }, writes: [write] };
}
