// The user of a provider's subject: linked once by a proven address, a member by invitation, group or default role (ACC-16).
import type { Role } from "../../contract/roles.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { absent, is, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { changeItem, fullKey, type ItemWrite, putItem, type RowOf, removeItem } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { busy, contended, done, transacted, untilUncontended } from "../refusals.ts";
import { InvitationItem, InvitedItem, MemberItem, MembershipItem, UserItem } from "./identity-items.ts";
import { areMeant, readTeam, requireSeat, teamWrite } from "./invitations.ts";
import { changeRole } from "./members.ts";
import { newHash, passwordWrites } from "./passwords.ts";
import { domainOf, INSTALLATION, isProven, type Provider } from "./provider.ts";
import { FederatedIdentity } from "./provider-items.ts";

const PASSWORD_BYTES = 32;

type UserRow = RowOf<typeof UserItem>;
type MemberRow = RowOf<typeof MemberItem>;

/** The user in a verified ID token. */
export interface AssertedUser {
  subject: string;
  /** Absent unless the provider says that it verified it. */
  email: string | undefined;
  name: string | undefined;
  groups: readonly string[];
}

interface SignedIn {
  user: UserRow;
  tenant: TenantId;
  role: Role;
}

/**
 * The user and member for a provider's assertion; creates both if the provider's settings allow it. @throws 403 for an
 * address outside the provider's domains, and for a user who is not and does not become a member; 409, 429
 */
export async function signedInUser(platform: Platform, provider: Provider, asserted: AssertedUser): Promise<SignedIn> {
  const { tenant } = provider;
  return untilUncontended(busy.conflict("The team is changing at the moment. Try again."), async () => {
    const { user, writes } = await userBehind(platform, provider, asserted);
    const member = await platform.get(MemberItem, { tenant, user: user.id });
    const granted = roleOf(provider, asserted.groups);
    if (!member) {
      const joined = await join(platform, provider, { user, granted, writes });
      return joined ? done(joined) : contended;
    }

    const role = member.role === "owner" ? member.role : (granted ?? roleWithoutGroup(provider, member));
    const isLinked = writes.length === 0 || (await transacted(platform, writes));
    if (!isLinked) return contended;
    const isByGroup = granted !== undefined;
    if (role !== member.role) await changeRole(platform, { tenant, user: user.id }, { role, by: "owner", isByGroup });
    return done({ user, tenant, role });
  });
}

/**
 * The existing user for an assertion of the installation's provider. @throws 403 for an address that is not verified,
 * or that no user has; 409
 */
export function knownUser(platform: Platform, provider: Provider, asserted: AssertedUser): Promise<UserRow> {
  return untilUncontended(busy.conflict("The user is changing at the moment. Try again."), async () => {
    const { user, writes } = await userBehind(platform, provider, asserted);
    const isLinked = writes.length === 0 || (await transacted(platform, writes));
    return isLinked ? done(user) : contended;
  });
}

/** The role of the first group that the provider's settings name; undefined if the subject is in none. */
function roleOf({ group_roles }: Provider, groups: readonly string[]): Role | undefined {
  const mapped = group_roles === undefined ? [] : fromJson(group_roles);
  return mapped.find(({ group }) => groups.includes(group))?.role;
}

/**
 * The role of a member without a group of the settings: a role by group ends with the group. @throws 403 if the member
 * has no role then
 */
function roleWithoutGroup({ group_roles, default_role }: Provider, { role, by_group }: MemberRow): Role {
  if (group_roles === undefined || !by_group) return role;
  if (default_role === undefined) throw notAMember();
  return default_role;
}

const notAMember = () =>
  new ApiError("FORBIDDEN", "You are no member of this workspace. Ask for an invitation, or for a group with a role.");

interface Behind {
  user: UserRow;
  /** The writes that link the user, create it, or give it to the person who proved the address. */
  writes: ItemWrite<"platform">[];
}

async function userBehind(platform: Platform, provider: Provider, asserted: AssertedUser): Promise<Behind> {
  const { tenant, issuer } = provider;
  const key = { tenant, issuer, subject: asserted.subject };
  const link = await platform.get(FederatedIdentity, key);
  const linked = link && (await platform.get(UserItem, { email: link.email }));
  if (linked && linked.id === link.user) return { user: linked, writes: [] };

  const email = await spokenFor(platform, provider, asserted.email);
  const existing = await platform.get(UserItem, { email });
  if (!existing && tenant === INSTALLATION)
    throw new ApiError("FORBIDDEN", "Nobody here has your email address. Ask for an invitation.");
  const { user, writes } = existing ? await claimed(platform, existing) : await made(platform, email, asserted.name);
  const row = { tenant, user: user.id, email: user.email, created_at: timestamp(platform.clock.now()) };
  return { user, writes: [putItem(FederatedIdentity, key, row), ...writes] };
}

/** @throws 403 for an address that is not verified, or of a domain that the workspace did not prove */
async function spokenFor(platform: PlatformReader, { tenant }: Provider, email: string | undefined): Promise<string> {
  if (email === undefined)
    throw new ApiError("FORBIDDEN", "The identity provider did not say that your email address is verified.");
  // The operator answers for the provider of the installation.
  if (tenant === INSTALLATION || (await isProven(platform, tenant, domainOf(email)))) return email;
  throw new ApiError("FORBIDDEN", "The identity provider does not speak for the domain of your email address.");
}

/** The owner of the mailbox takes over an account whose address was never confirmed: password and sessions end. */
async function claimed(platform: Platform, existing: UserRow): Promise<Behind> {
  if (existing.confirmed_at !== undefined) return { user: existing, writes: [] };
  const password = await nobodysPassword(platform);
  const writes = await passwordWrites(platform, existing, password, { isProven: true, joins: true });
  const { totp: _, ...kept } = existing;
  return { user: { ...kept, password, confirmed_at: timestamp(platform.clock.now()) }, writes };
}

async function made(platform: Platform, email: string, name: string | undefined): Promise<Behind> {
  const now = timestamp(platform.clock.now());
  const password = await nobodysPassword(platform);
  const row = { id: platform.ids.uuid(), email, name: name ?? email, password, created_at: now, confirmed_at: now };
  const user = { ...fullKey(UserItem, { email }, ""), ...row };
  return { user, writes: [putItem(UserItem, { email }, row, absent())] };
}

/** The user sets one by a mailed token. */
const nobodysPassword = (platform: Platform) =>
  newHash(platform, platform.ids.bytes(PASSWORD_BYTES).toString("base64url"));

/** Makes a member by group, invitation or default role. @returns undefined if the team changed in the meantime */
async function join(
  platform: Platform,
  { tenant, default_role }: Provider,
  { user, granted, writes }: Behind & { granted: Role | undefined },
): Promise<SignedIn | undefined> {
  const [team, invited] = await Promise.all([
    readTeam(platform, tenant),
    platform.get(InvitedItem, { tenant, email: user.email }),
  ]);
  const now = timestamp(platform.clock.now());
  const [isMeant = false] = await areMeant(platform, tenant, invited ? [invited] : []);
  const invitation = invited && invited.expires_at > now && isMeant ? invited : undefined;
  const role = granted ?? invitation?.role ?? default_role;
  if (role === undefined) throw notAMember();
  requireSeat(team);

  const { id, email, name } = user;
  const member = { user_id: id, tenant, role, email, name, created_at: now };
  const isNew = writes.length > 1;
  const isIn = await transacted(platform, [
    putItem(
      MemberItem,
      { tenant, user: id },
      { ...member, ...(invitation && { invitation: invitation.id }), ...(granted && { by_group: true }) },
      absent(),
    ),
    putItem(MembershipItem, { user: id, tenant }, member),
    teamWrite(team, Number(role === "owner")),
    ...(isNew ? [] : [changeItem(UserItem, { email }, { add: { joined: 1 } }, is("id", id))]),
    ...(invitation ? [removeItem(InvitedItem, { tenant, email }, is("id", invitation.id))] : []),
    ...(invitation?.digest === undefined ? [] : [removeItem(InvitationItem, { digest: invitation.digest }, present())]),
    ...writes,
  ]);
  return isIn ? { user, tenant, role } : undefined;
}
