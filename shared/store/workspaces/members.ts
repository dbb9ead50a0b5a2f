// The members of a workspace, and their roles (D-TEAM, AMB-78).
import * as v from "valibot";
import { mayInvite, type Role } from "../../contract/roles.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, conflict, requireFound } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { byText } from "../../kernel/order.ts";
import { above, all, asRead, is, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { changeItem, fieldsOf, type ItemWrite, removeItem } from "../item.ts";
import { failuresOf } from "../refusals.ts";
import { MemberItem, MembershipItem, memberFields, UserItem } from "./identity-items.ts";
import { WorkspaceItem } from "./items.ts";

export const Member = v.object(memberFields);
export type Member = v.InferOutput<typeof Member>;

/** Members, oldest first. */
export async function listMembers(platform: PlatformReader, tenant: TenantId): Promise<Member[]> {
  const { items } = await platform.query(MemberItem, { tenant });
  return items.map((row) => fieldsOf(memberFields, row)).sort(byText(({ created_at }) => created_at));
}

/** Changes a role. @throws 404, 403 for an admin who changes an owner, 409 for the last owner */
export async function changeRole(
  platform: Platform,
  { tenant, user }: { tenant: TenantId; user: string },
  { role, by, isByGroup = false }: { role: Role; by: Role; isByGroup?: boolean },
): Promise<Member> {
  const row = requireFound(await platform.get(MemberItem, { tenant, user }), "member");
  const { role: before, by_group: wasByGroup = false } = row;
  guardOwners(by, before, role);
  const isSame = before === role && wasByGroup === isByGroup;
  const set = { role, ...endedInvites(before, role, timestamp(platform.clock.now())) };
  const change = isByGroup ? { set: { ...set, by_group: true as const } } : { set, remove: ["by_group" as const] };
  const writes = [
    changeItem(MemberItem, { tenant, user }, change, is("role", before)),
    changeItem(MembershipItem, { user, tenant }, { set: { role } }),
  ];
  if (!isSame) await swapMember(platform, writes, ownersChange(tenant, before, role));
  return { ...fieldsOf(memberFields, row), role };
}

function endedInvites(before: Role, role: Role, now: string) {
  const ends = (invited: Role) => mayInvite(before, invited) && !mayInvite(role, invited);
  return {
    ...(ends("viewer") && { invites_ended_at: now }),
    ...(ends("owner") && { owner_invites_ended_at: now }),
  };
}

/**
 * A user goes with the last membership, as at a purge: the address may register, or be invited as that of somebody new.
 * @throws 404, 403 for an admin who removes an owner, 409 for the last owner.
 */
export async function removeMember(platform: Platform, tenant: TenantId, user: string, by: Role): Promise<void> {
  const member = await getMember(platform, tenant, user);
  guardOwners(by, member.role, undefined);
  const writes = [
    removeItem(MemberItem, { tenant, user }, is("role", member.role)),
    removeItem(MembershipItem, { user, tenant }),
    ...(await lastOf(platform, tenant, member)),
  ];
  await swapMember(platform, writes, ownersChange(tenant, member.role, undefined));
}

/** The write that removes the user of a last membership, unless they join another workspace in the meantime. */
async function lastOf(
  platform: PlatformReader,
  tenant: TenantId,
  { user_id: id, email }: Member,
): Promise<ItemWrite<"platform">[]> {
  const [user, { items }] = await Promise.all([
    platform.get(UserItem, { email }),
    platform.query(MembershipItem, { user: id }),
  ]);
  const isLast = user?.id === id && items.every((membership) => membership.tenant === tenant);
  return isLast ? [removeItem(UserItem, { email }, asRead("joined", user.joined))] : [];
}

/** Gets a member. @throws 404 */
export async function getMember(platform: PlatformReader, tenant: TenantId, user: string): Promise<Member> {
  const row = requireFound(await platform.get(MemberItem, { tenant, user }), "member");
  return fieldsOf(memberFields, row);
}

/**
 * The name of a member; undefined for one who has left.
 * @param agency that looks at the workspace: its members act there too
 */
export async function memberName(
  platform: PlatformReader,
  { tenant, agency }: { tenant: TenantId; agency: string | undefined },
  user: string,
): Promise<string | undefined> {
  const keys = [tenant, ...(agency === undefined ? [] : [agency])].map((team) => ({ tenant: team, user }));
  const rows = await platform.getAll(MemberItem, keys);
  return rows.find((row) => row !== undefined)?.name;
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

async function swapMember(
  platform: Platform,
  writes: readonly ItemWrite<"platform">[],
  owners: readonly ItemWrite<"platform">[],
): Promise<void> {
  const failures = await failuresOf(platform, [...writes, ...owners]);
  if (failures.slice(0, writes.length).some(Boolean)) throw conflict("The member changed meanwhile. Try again.");
  if (failures.length > 0) throw conflict("A workspace keeps at least one owner.");
}
