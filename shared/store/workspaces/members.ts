// Who belongs to a workspace, in which role, and who is invited (D-TEAM, AMB-78).
import { DAY, SECOND, timestamp } from "../../clock.ts";
import { ApiError, conflict, notFound, unauthorized } from "../../http/errors.ts";
import type { Role } from "../../http/roles.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Platform } from "../../resources.ts";
import { above, absent, all, any, atMost, is, present } from "../conditions.ts";
import { platformKeys } from "../keys.ts";
import type { Item, TenantId } from "../model.ts";
import { onTransactionCanceled } from "../refusals.ts";
import type { TransactItem } from "../table.ts";
import { findUser, hashPassword, type User } from "./identity.ts";

const INVITED_MS = 7 * DAY;
const TOKEN_BYTES = 32;
const SALT_BYTES = 16;
/** How often the team is counted anew because somebody else came first. */
const MAX_ATTEMPTS = 10;

export interface Member {
  user_id: string;
  email: string;
  name: string;
  role: Role;
  created_at: string;
}

export interface Invitation {
  id: string;
  email: string;
  role: Role;
  expires_at: string;
}

/** Members, oldest first. */
export async function listMembers(platform: Platform, tenant: TenantId): Promise<Member[]> {
  const { pk } = platformKeys.tenant(tenant);
  const { items } = await platform.query({ pk, prefix: platformKeys.member("", "").sk });
  return items.map(memberOf).sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Invitations that may still be accepted. */
export async function listInvitations(platform: Platform, tenant: TenantId): Promise<Invitation[]> {
  const { pk } = platformKeys.tenant(tenant);
  const { items } = await platform.query({ pk, prefix: platformKeys.invited("", "").sk });
  const now = timestamp(platform.clock.now());
  return items.map(invitationOf).filter(({ expires_at }) => expires_at > now);
}

/** @throws 409 for somebody who is in already, 429 beyond the plan's members, open invitations included. */
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
  const now = platform.clock.now();
  const token = platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const invitation: Invitation = { id: platform.ids.uuidAt(now), email, role, expires_at: timestamp(now + INVITED_MS) };
  const expires = Math.ceil((now + INVITED_MS) / SECOND);
  const isFree = any(absent(), atMost("expires_at", timestamp(now)));
  return platform
    .transact([
      { put: { ...platformKeys.invitation(token), ...invitation, tenant: team.tenant, expires }, when: absent() },
      { put: { ...platformKeys.invited(team.tenant, email), ...invitation, expires }, when: isFree },
      teamWrite(team),
    ])
    .then(
      () => ({ ...invitation, token }),
      onTransactionCanceled(() => undefined),
    );
}

/** Lets an invited person in: a new user, or a known one who gives the right password. @throws 401, 403, 404, 429. */
export async function acceptInvitation(
  platform: Platform,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ user: User; tenant: TenantId; role: Role }> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = await platform.get(platformKeys.invitation(token));
    if (!row || String(row.expires_at) <= timestamp(platform.clock.now())) throw notFound("invitation");
    const { tenant, email, role } = row as Item & { tenant: TenantId; email: string; role: Role };
    const team = await readTeam(platform, tenant);
    if (team.isClosed) throw new ApiError("TENANT_DELETED", "This workspace is closed.");
    if (team.members.length >= plans[team.plan].teamMembers)
      throw beyondPlan(team.plan, `${team.members.length} are in`);
    const { user, write } = await invitedUser(platform, { email, name, password });
    const created_at = timestamp(platform.clock.now());
    const member = { user_id: user.id, tenant, role, email, name: user.name, created_at };
    const isIn = await platform
      .transact([
        { remove: platformKeys.invitation(token), when: present() },
        { remove: platformKeys.invited(tenant, email) },
        { put: { ...platformKeys.member(tenant, user.id), ...member }, when: absent() },
        { put: { ...platformKeys.membership(user.id, tenant), ...member } },
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

/** The user an invitation is for, and the step that makes the user, or notes that a known one joins a workspace. */
async function invitedUser(
  platform: Platform,
  { email, name, password }: { email: string; name: string; password: string },
): Promise<{ user: User; write: TransactItem }> {
  const key = platformKeys.user(email);
  if (await platform.get(key)) {
    const user = await findUser(platform, email, password);
    if (!user) throw unauthorized("The password of this user is wrong.");
    return { user, write: { update: key, change: { add: { joined: 1 } }, when: present() } };
  }
  const user = { id: platform.ids.uuid(), email, name };
  const hashed = await hashPassword(password, platform.ids.bytes(SALT_BYTES));
  const created_at = timestamp(platform.clock.now());
  return { user, write: { put: { ...key, ...user, password: hashed, created_at }, when: absent() } };
}

interface Team {
  tenant: TenantId;
  plan: PlanName;
  isClosed: boolean;
  /** How often somebody was invited or came in: who counted seats writes only if nobody else did meanwhile. */
  version: number;
  members: Member[];
  invitations: Invitation[];
}

async function readTeam(platform: Platform, tenant: TenantId): Promise<Team> {
  const workspace = await platform.get(platformKeys.tenant(tenant));
  if (!workspace) throw notFound("workspace");
  const [members, invitations] = await Promise.all([listMembers(platform, tenant), listInvitations(platform, tenant)]);
  const { plan, status, team: version = 0 } = workspace as Item & { plan: PlanName; team?: number };
  return { tenant, plan, isClosed: status === "deleted", version, members, invitations };
}

/** Stands only if the team is still as it was counted (D-PLAN): whoever comes second counts anew. */
function teamWrite({ tenant, version }: Team, owners = 0): TransactItem {
  const isAsCounted = version === 0 ? absent("team") : is("team", version);
  const add = owners > 0 ? { team: 1, owners } : { team: 1 };
  return { update: platformKeys.tenant(tenant), change: { add }, when: all(present(), isAsCounted) };
}

const beyondPlan = (plan: PlanName, used: string) =>
  new ApiError("QUOTA_EXCEEDED", `The plan allows ${plans[plan].teamMembers} team members; ${used}.`);

/** @throws 404, 403 for an admin who touches an owner, 409 for the last owner. */
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
      { update: platformKeys.member(tenant, user), change: { set: { role } }, when: is("role", member.role) },
      ...ownersChange(tenant, member.role, role),
      { update: platformKeys.membership(user, tenant), change: { set: { role } } },
    ]);
  return { ...member, role };
}

/** @throws 404, 403 for an admin who removes an owner, 409 for the last owner. */
export async function removeMember(platform: Platform, tenant: TenantId, user: string, by: Role): Promise<void> {
  const member = await requireMember(platform, tenant, user);
  guardOwners(by, member.role, undefined);
  await swapMember(platform, [
    { remove: platformKeys.member(tenant, user), when: is("role", member.role) },
    ...ownersChange(tenant, member.role, undefined),
    { remove: platformKeys.membership(user, tenant) },
  ]);
}

async function requireMember(platform: Platform, tenant: TenantId, user: string): Promise<Member> {
  const row = await platform.get(platformKeys.member(tenant, user));
  if (!row) throw notFound("member");
  return memberOf(row);
}

function guardOwners(by: Role, from: Role, to: Role | undefined): void {
  if (by !== "owner" && (from === "owner" || to === "owner"))
    throw new ApiError("FORBIDDEN", "Only an owner may make, change or remove an owner.");
}

/** The workspace counts its owners, so that no race can take the last one. */
function ownersChange(tenant: TenantId, from: Role | undefined, to: Role | undefined): TransactItem[] {
  const change = Number(to === "owner") - Number(from === "owner");
  if (change === 0) return [];
  const update = platformKeys.tenant(tenant);
  if (change > 0) return [{ update, change: { add: { owners: 1 } }, when: present() }];
  return [
    { update, change: { add: { owners: -1 } }, when: all(present(), above("owners", 1)) },
  ];
}

const swapMember = (platform: Platform, writes: TransactItem[]) =>
  platform.transact(writes).catch(
    onTransactionCanceled(([member]) => {
      throw member
        ? conflict("The member changed meanwhile. Try again.")
        : conflict("A workspace keeps at least one owner.");
    }),
  );

const memberOf = (item: Item): Member => ({
  user_id: String(item.user_id),
  email: String(item.email),
  name: String(item.name),
  role: item.role as Role,
  created_at: String(item.created_at),
});

const invitationOf = (item: Item): Invitation => ({
  id: String(item.id),
  email: String(item.email),
  role: item.role as Role,
  expires_at: String(item.expires_at),
});
