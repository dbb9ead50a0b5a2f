// Who belongs to a workspace, in which role, and who is invited (D-TEAM, AMB-78).
import * as v from "valibot";
import { DAY, SECOND, timestamp } from "../../clock.ts";
import { ApiError, conflict, notFound, unauthorized } from "../../http/errors.ts";
import type { Role } from "../../http/roles.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Platform, PlatformReader } from "../../resources.ts";
import { above, absent, all, any, atMost, is, present } from "../conditions.ts";
import { changeItem, fieldsOf, type ItemWrite, putItem, removeItem } from "../item.ts";
import type { TenantId } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import { findUser, hashPassword, type User } from "./identity.ts";
import {
  InvitationItem,
  InvitedItem,
  invitationFields,
  MemberItem,
  MembershipItem,
  memberFields,
  UserItem,
} from "./identity-items.ts";
import { WorkspaceItem } from "./items.ts";

const INVITED_MS = 7 * DAY;
const TOKEN_BYTES = 32;
const SALT_BYTES = 16;
/** How often the team is counted again after a concurrent change. */
const MAX_ATTEMPTS = 10;

export const Member = v.object(memberFields);
export type Member = v.InferOutput<typeof Member>;

export const Invitation = v.object(invitationFields);
export type Invitation = v.InferOutput<typeof Invitation>;

/** Members, oldest first. */
export async function listMembers(platform: PlatformReader, tenant: TenantId): Promise<Member[]> {
  const { items } = await platform.query(MemberItem, { tenant });
  return items.map((row) => fieldsOf(memberFields, row)).sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Invitations that may still be accepted. */
export async function listInvitations(platform: PlatformReader, tenant: TenantId): Promise<Invitation[]> {
  const { items } = await platform.query(InvitedItem, { tenant });
  const now = timestamp(platform.clock.now());
  return items.map((row) => fieldsOf(invitationFields, row)).filter(({ expires_at }) => expires_at > now);
}

/** @throws 409 for a member or an address that is invited already, 429 beyond the plan's members (with open invitations). */
export async function invite(
  platform: Platform,
  { tenant, plan }: { tenant: TenantId; plan: PlanName },
  { email, role }: { email: string; role: Role },
): Promise<Invitation & { token: string }> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const team = await readTeam(platform, tenant);
    const isSame = (other: { email: string }) => other.email.toLowerCase() === email.toLowerCase();
    if (team.members.some(isSame)) throw conflict("This person is a member already.");
    if (team.invitations.some(isSame)) throw conflict("This person is invited already.");
    const used = team.members.length + team.invitations.length;
    if (used >= plans[plan].teamMembers) throw beyondPlan(plan, `${used} are in or invited`);
    const invited = await putInvitation(platform, team, { email, role });
    if (invited) return invited;
  }
  throw conflict("Somebody else is inviting people at the moment. Try again.");
}

async function putInvitation(
  platform: Platform,
  team: Team,
  { email, role }: { email: string; role: Role },
): Promise<(Invitation & { token: string }) | undefined> {
  const { tenant } = team;
  const now = platform.clock.now();
  const token = platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const invitation: Invitation = { id: platform.ids.uuidAt(now), email, role, expires_at: timestamp(now + INVITED_MS) };
  const expires = Math.ceil((now + INVITED_MS) / SECOND);
  const isFree = any(absent(), atMost("expires_at", timestamp(now)));
  return platform
    .transact([
      putItem(InvitationItem, { token }, { ...invitation, tenant, expires }, absent()),
      putItem(InvitedItem, { tenant, email }, { ...invitation, expires }, isFree),
      teamWrite(team),
    ])
    .then(
      () => ({ ...invitation, token }),
      onTransactionCanceled(() => undefined),
    );
}

/** Wrong passwords that end an invitation. */
const MAX_WRONG_PASSWORDS = 5;

/**
 * Makes an invited person a member: a new user, or an existing one with the right password.
 * @param admit counts the attempt for the invited address, before the password of an existing user is checked
 * @throws 401, 403, 404, 429.
 */
export async function acceptInvitation(
  platform: Platform,
  { token, name, password }: { token: string; name: string; password: string },
  admit: (email: string) => Promise<void>,
): Promise<{ user: User; tenant: TenantId; role: Role }> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = await platform.get(InvitationItem, { token });
    if (!row || row.expires_at <= timestamp(platform.clock.now())) throw notFound("invitation");
    const { tenant, email, role } = row;
    const team = await readTeam(platform, tenant);
    if (team.isClosed) throw new ApiError("TENANT_DELETED", "This workspace is closed.");
    if (team.members.length >= plans[team.plan].teamMembers)
      throw beyondPlan(team.plan, `${team.members.length} are in`);
    const invited = await invitedUser(platform, { email, name, password }, admit);
    if (!invited) return refusePassword(platform, { token, tenant, email });
    const { user, write } = invited;
    const created_at = timestamp(platform.clock.now());
    const member = { user_id: user.id, tenant, role, email, name: user.name, created_at };
    const isIn = await platform
      .transact([
        removeItem(InvitationItem, { token }, present()),
        removeItem(InvitedItem, { tenant, email }),
        putItem(MemberItem, { tenant, user: user.id }, member, absent()),
        putItem(MembershipItem, { user: user.id, tenant }, member),
        teamWrite(team, Number(role === "owner")),
        write,
      ])
      .then(
        () => true,
        onTransactionCanceled(([invitation, , existing]) => {
          if (invitation || existing) throw notFound("invitation");
          return false;
        }),
      );
    if (isIn) return { user, tenant, role };
  }
  throw conflict("The team is changing at the moment. Try again.");
}

/** Counts a wrong password; the last one that is allowed ends the invitation. @throws 401. */
async function refusePassword(
  platform: Platform,
  { token, tenant, email }: { token: string; tenant: TenantId; email: string },
): Promise<never> {
  const failures = await platform.change(InvitationItem, { token }, { add: { failures: 1 } }, present()).then(
    (row) => row.failures ?? 0,
    onConditionFailed(() => 0),
  );
  if (failures >= MAX_WRONG_PASSWORDS)
    await platform.transact([removeItem(InvitationItem, { token }), removeItem(InvitedItem, { tenant, email })]);
  throw unauthorized("The password of this user is wrong.");
}

/**
 * The user an invitation is for, and the write that creates the user or counts that an existing one joins; undefined
 * for an existing user with another password.
 */
async function invitedUser(
  platform: Platform,
  { email, name, password }: { email: string; name: string; password: string },
  admit: (email: string) => Promise<void>,
): Promise<{ user: User; write: ItemWrite<"platform"> } | undefined> {
  if (await platform.get(UserItem, { email })) {
    await admit(email);
    const user = await findUser(platform, email, password);
    if (!user) return undefined;
    return { user, write: changeItem(UserItem, { email }, { add: { joined: 1 } }, present()) };
  }
  const user = { id: platform.ids.uuid(), email, name };
  const row = {
    ...user,
    password: await hashPassword(password, platform.ids.bytes(SALT_BYTES)),
    created_at: timestamp(platform.clock.now()),
  };
  return { user, write: putItem(UserItem, { email }, row, absent()) };
}

interface Team {
  tenant: TenantId;
  plan: PlanName;
  isClosed: boolean;
  /** Rises with every invitation sent or accepted: a seat is taken only if the count of seats is still right. */
  version: number;
  members: Member[];
  invitations: Invitation[];
}

async function readTeam(platform: PlatformReader, tenant: TenantId): Promise<Team> {
  const workspace = await platform.get(WorkspaceItem, { tenant });
  if (!workspace) throw notFound("workspace");
  const [members, invitations] = await Promise.all([listMembers(platform, tenant), listInvitations(platform, tenant)]);
  const { plan, status, team: version = 0 } = workspace;
  return { tenant, plan, isClosed: status === "deleted", version, members, invitations };
}

/** Succeeds only if the team is still as it was counted (D-PLAN): the second of two at once counts again. */
function teamWrite({ tenant, version }: Team, owners = 0): ItemWrite<"platform"> {
  const isAsCounted = version === 0 ? absent("team") : is("team", version);
  const add = owners > 0 ? { team: 1, owners } : { team: 1 };
  return changeItem(WorkspaceItem, { tenant }, { add }, all(present(), isAsCounted));
}

const beyondPlan = (plan: PlanName, used: string) =>
  new ApiError("QUOTA_EXCEEDED", `The plan allows ${plans[plan].teamMembers} team members; ${used}.`);

/** @throws 404, 403 for an admin who changes an owner, 409 for the last owner. */
export async function changeRole(
  platform: Platform,
  tenant: TenantId,
  user: string,
  role: Role,
  by: Role,
): Promise<Member> {
  const member = await requireMember(platform, tenant, user);
  guardOwners(by, member.role, role);
  if (member.role !== role)
    await swapMember(platform, [
      changeItem(MemberItem, { tenant, user }, { set: { role } }, is("role", member.role)),
      ...ownersChange(tenant, member.role, role),
      changeItem(MembershipItem, { user, tenant }, { set: { role } }),
    ]);
  return { ...member, role };
}

/** @throws 404, 403 for an admin who removes an owner, 409 for the last owner. */
export async function removeMember(platform: Platform, tenant: TenantId, user: string, by: Role): Promise<void> {
  const member = await requireMember(platform, tenant, user);
  guardOwners(by, member.role, undefined);
  await swapMember(platform, [
    removeItem(MemberItem, { tenant, user }, is("role", member.role)),
    ...ownersChange(tenant, member.role, undefined),
    removeItem(MembershipItem, { user, tenant }),
  ]);
}

async function requireMember(platform: PlatformReader, tenant: TenantId, user: string): Promise<Member> {
  const row = await platform.get(MemberItem, { tenant, user });
  if (!row) throw notFound("member");
  return fieldsOf(memberFields, row);
}

function guardOwners(by: Role, from: Role, to: Role | undefined): void {
  if (by !== "owner" && (from === "owner" || to === "owner"))
    throw new ApiError("FORBIDDEN", "Only an owner may make, change or remove an owner.");
}

/** The workspace counts its owners, so that no race can remove the last one. */
function ownersChange(tenant: TenantId, from: Role | undefined, to: Role | undefined): ItemWrite<"platform">[] {
  const owners = Number(to === "owner") - Number(from === "owner");
  if (owners === 0) return [];
  const when = owners > 0 ? present() : all(present(), above("owners", 1));
  return [changeItem(WorkspaceItem, { tenant }, { add: { owners } }, when)];
}

const swapMember = (platform: Platform, writes: readonly ItemWrite<"platform">[]) =>
  platform.transact(writes).catch(
    onTransactionCanceled(([member]) => {
      throw member
        ? conflict("The member changed meanwhile. Try again.")
        : conflict("A workspace keeps at least one owner.");
    }),
  );
