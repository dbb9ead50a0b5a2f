// Who belongs to a workspace, in which role, and who is invited (D-TEAM, AMB-78).
import { DAY, SECOND, timestamp } from "../../clock.ts";
import { ApiError, conflict, notFound, unauthorized } from "../../http/errors.ts";
import type { Role } from "../../http/roles.ts";
import { type PlanName, plans } from "../../plans.ts";
import type { Platform } from "../../resources.ts";
import { absent, all, any, atMost, is, present } from "../conditions.ts";
import { platform as keys } from "../keys.ts";
import type { Item, TenantId } from "../model.ts";
import { refusedSteps } from "../refusals.ts";
import type { Step } from "../table.ts";
import { findUser, hashPassword, type User } from "./identity.ts";

const INVITED_MS = 7 * DAY;
const TOKEN_BYTES = 32;
const SALT_BYTES = 16;

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
  const { pk } = keys.tenant(tenant);
  const { items } = await platform.query({ pk, prefix: keys.member("", "").sk });
  return items.map(memberOf).sort((a, b) => a.created_at.localeCompare(b.created_at));
}

/** Invitations that may still be accepted. */
export async function listInvitations(platform: Platform, tenant: TenantId): Promise<Invitation[]> {
  const { pk } = keys.tenant(tenant);
  const { items } = await platform.query({ pk, prefix: keys.invited("", "").sk });
  const now = timestamp(platform.clock.now());
  return items.map(invitationOf).filter(({ expires_at }) => expires_at > now);
}

/** @throws 409 for somebody who is in already, 429 beyond the plan's members, open invitations included. */
export async function invite(
  platform: Platform,
  workspace: { tenant: TenantId; plan: PlanName },
  { email, role }: { email: string; role: Role },
): Promise<Invitation & { token: string }> {
  const { tenant, plan } = workspace;
  const [members, invitations] = await Promise.all([listMembers(platform, tenant), listInvitations(platform, tenant)]);
  const isSame = (other: { email: string }) => other.email.toLowerCase() === email.toLowerCase();
  if (members.some(isSame)) throw conflict("This person is a member already.");
  if (invitations.some(isSame)) throw conflict("This person is invited already.");
  const used = members.length + invitations.length;
  if (used >= plans[plan].teamMembers)
    throw new ApiError(
      "QUOTA_EXCEEDED",
      `The plan allows ${plans[plan].teamMembers} team members; ${used} are in or invited.`,
    );
  const now = platform.clock.now();
  const token = platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const invitation: Invitation = { id: platform.ids.uuidAt(now), email, role, expires_at: timestamp(now + INVITED_MS) };
  const expires = Math.ceil((now + INVITED_MS) / SECOND);
  const isFree = any(absent(), atMost("expires_at", timestamp(now)));
  await platform
    .transact([
      { put: { ...keys.invitation(token), ...invitation, tenant, expires }, when: absent() },
      { put: { ...keys.invited(tenant, email), ...invitation, expires }, when: isFree },
    ])
    .catch(
      refusedSteps(() => {
        throw conflict("This person is invited already.");
      }),
    );
  return { ...invitation, token };
}

/** Lets an invited person in: a new user, or a known one who gives the right password. @throws 401, 404. */
export async function acceptInvitation(
  platform: Platform,
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ user: User; tenant: TenantId; role: Role }> {
  const row = await platform.get(keys.invitation(token));
  if (!row || String(row.expires_at) <= timestamp(platform.clock.now())) throw notFound("invitation");
  const { tenant, email, role } = row as Item & { tenant: TenantId; email: string; role: Role };
  const created_at = timestamp(platform.clock.now());
  const isKnown = (await platform.get(keys.user(email))) !== undefined;
  const known = isKnown ? await findUser(platform, email, password) : undefined;
  if (isKnown && !known) throw unauthorized("The password of this user is wrong.");
  const user = known ?? { id: platform.ids.uuid(), email, name };
  const newUser: Step[] = known
    ? []
    : [
        {
          put: {
            ...keys.user(email),
            ...user,
            password: await hashPassword(password, platform.ids.bytes(SALT_BYTES)),
            created_at,
          },
          when: absent(),
        },
      ];
  const member = { user_id: user.id, tenant, role, email, name: user.name, created_at };
  await platform
    .transact([
      { remove: keys.invitation(token), when: present() },
      { remove: keys.invited(tenant, email) },
      { put: { ...keys.member(tenant, user.id), ...member }, when: absent() },
      { put: { ...keys.membership(user.id, tenant), ...member } },
      ...ownersChange(tenant, undefined, role),
      ...newUser,
    ])
    .catch(
      refusedSteps(() => {
        throw notFound("invitation");
      }),
    );
  return { user, tenant, role };
}

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
      { update: keys.member(tenant, user), change: { set: { role } }, when: is("role", member.role) },
      ...ownersChange(tenant, member.role, role),
      { update: keys.membership(user, tenant), change: { set: { role } } },
    ]);
  return { ...member, role };
}

/** @throws 404, 403 for an admin who removes an owner, 409 for the last owner. */
export async function removeMember(platform: Platform, tenant: TenantId, user: string, by: Role): Promise<void> {
  const member = await requireMember(platform, tenant, user);
  guardOwners(by, member.role, undefined);
  await swapMember(platform, [
    { remove: keys.member(tenant, user), when: is("role", member.role) },
    ...ownersChange(tenant, member.role, undefined),
    { remove: keys.membership(user, tenant) },
  ]);
}

async function requireMember(platform: Platform, tenant: TenantId, user: string): Promise<Member> {
  const row = await platform.get(keys.member(tenant, user));
  if (!row) throw notFound("member");
  return memberOf(row);
}

function guardOwners(by: Role, from: Role, to: Role | undefined): void {
  if (by !== "owner" && (from === "owner" || to === "owner"))
    throw new ApiError("FORBIDDEN", "Only an owner may make, change or remove an owner.");
}

/** The workspace counts its owners, so that no race can take the last one. */
function ownersChange(tenant: TenantId, from: Role | undefined, to: Role | undefined): Step[] {
  const change = Number(to === "owner") - Number(from === "owner");
  if (change === 0) return [];
  const update = keys.tenant(tenant);
  if (change > 0) return [{ update, change: { add: { owners: 1 } }, when: present() }];
  return [
    { update, change: { add: { owners: -1 } }, when: all(present(), (n) => `${n.name("owners")} > ${n.value(1)}`) },
  ];
}

const swapMember = (platform: Platform, steps: Step[]) =>
  platform.transact(steps).catch(
    refusedSteps(([member]) => {
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
