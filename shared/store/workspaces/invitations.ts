// Invitations to a workspace (D-TEAM, AMB-78).
import * as v from "valibot";
import { mayInvite, type Role } from "../../contract/roles.ts";
import { DAY, MINUTE, timestamp, ttl } from "../../kernel/clock.ts";
import { ApiError, closed, conflict, notFound, requireFound } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { type PlanName, plans } from "../../rules/plans.ts";
import { absent, all, any, atMost, is, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, fieldsOf, type ItemWrite, putItem, type RowOf, removeItem } from "../item.ts";
import {
  type Attempt,
  busy,
  contended,
  done,
  orRefuse,
  transacted,
  untilUncontended,
  whereItHolds,
} from "../refusals.ts";
import { InvitationItem, InvitedItem, invitationFields, MemberItem } from "./identity-items.ts";
import { WorkspaceItem } from "./items.ts";
import { listMembers, type Member } from "./members.ts";
import { keepsClients } from "./workspaces.ts";

const INVITED_MS = 7 * DAY;
const TOKEN_BYTES = 32;
/** Long past by any clock. */
const WITHDRAWN = timestamp(0);

export const Invitation = v.object(invitationFields);
export type Invitation = v.InferOutput<typeof Invitation>;

/** Invitations that may still be accepted. */
export const listInvitations = async (platform: PlatformReader, tenant: TenantId): Promise<Invitation[]> =>
  (await invitationsOf(platform, tenant)).open.map((row) => fieldsOf(invitationFields, row));

/** The valid invitations, and those that are invalid because the inviter lost the right to invite. */
async function invitationsOf(platform: PlatformReader, tenant: TenantId) {
  const { items } = await platform.query(InvitedItem, { tenant });
  const now = timestamp(platform.clock.now());
  const valid = items.filter(({ expires_at }) => expires_at > now);
  const open = await areMeant(platform, tenant, valid);
  return { open: valid.filter((_, i) => open[i]), ended: valid.filter((_, i) => !open[i]) };
}

type Meant = Pick<RowOf<typeof InvitedItem>, "role" | "by" | "by_in" | "expires_at">;

/** The clocks of two processes differ by less. */
const CLOCK_TOLERANCE_MS = MINUTE;

/** A member who was removed and came back has another membership; so has one who lost the right to invite and got it back. */
function hadSameRight(inviter: RowOf<typeof MemberItem>, { role, expires_at }: Meant): boolean {
  const sentAt = Date.parse(expires_at) - INVITED_MS;
  const { created_at, invites_ended_at, owner_invites_ended_at } = inviter;
  const ends = [invites_ended_at, role === "owner" ? owner_invites_ended_at : undefined];
  const isEnded = ends.some((at) => at !== undefined && Date.parse(at) >= sentAt);
  return !isEnded && Date.parse(created_at) <= sentAt + CLOCK_TOLERANCE_MS;
}

/**
 * Whether who invited might still do so: an invitation ends with its inviter's membership, or right to invite (D-TEAM), and one
 * of an agency's member counts only while the agency keeps clients.
 */
export async function areMeant(
  platform: Pick<PlatformReader, "getAll">,
  tenant: TenantId,
  invitations: readonly Meant[],
): Promise<boolean[]> {
  const inviters = await platform.getAll(
    MemberItem,
    invitations.map(({ by, by_in }) => ({ tenant: by_in, user: by })),
  );
  const agencies = new Set(invitations.flatMap(({ by_in }) => (by_in === tenant ? [] : [by_in])));
  const keys = [...agencies].map((agency) => ({ tenant: agency }));
  const rows = keys.length === 0 ? [] : await platform.getAll(WorkspaceItem, keys);
  const open = new Set<string>([tenant, ...rows.flatMap((row) => (row && keepsClients(row) ? [row.id] : []))]);
  return invitations.map((invitation, i) => {
    const { role, by_in } = invitation;
    const inviter = inviters[i];
    return (
      inviter !== undefined && open.has(by_in) && mayInvite(inviter.role, role) && hadSameRight(inviter, invitation)
    );
  });
}

/** The invited people, by the id of the invitation: the address while it is listed, and then the name of the member. */
export async function invitedPeople(platform: PlatformReader, tenant: TenantId): Promise<Map<string, string>> {
  const [invited, members] = await Promise.all([
    platform.query(InvitedItem, { tenant }),
    platform.query(MemberItem, { tenant }),
  ]);
  const joined = members.items.flatMap(({ invitation, name }): [string, string][] =>
    invitation === undefined ? [] : [[invitation, name]],
  );
  return new Map([...invited.items.map(({ id, email }): [string, string] => [id, email]), ...joined]);
}

interface NewInvitation {
  email: string;
  role: Role;
  /** The token will be in a mail and nowhere else. */
  mailed: boolean;
  /** A member of the workspace, or of its agency. */
  by: { user: string; of: string };
}

/**
 * Invites an address. @throws 409 for a member or an address that is invited already, 429 beyond the plan's members
 * (with open invitations)
 */
export async function invite(
  platform: Platform,
  { tenant, plan }: { tenant: TenantId; plan: PlanName },
  invited: NewInvitation,
): Promise<Invitation & { token: string }> {
  const { email } = invited;
  return untilUncontended(busy.conflict("Somebody else is inviting people at the moment. Try again."), async () => {
    const team = await readTeam(platform, tenant);
    const isSame = (other: { email: string }) => other.email.toLowerCase() === email.toLowerCase();
    if (team.members.some(isSame)) throw conflict("This person is a member already.");
    if (team.invitations.some(isSame)) throw conflict("This person is invited already.");
    const used = team.members.length + team.invitations.length;
    if (used >= plans[plan].teamMembers) throw beyondPlan(plan, `${used} are in or invited`);
    return putInvitation(platform, team, invited);
  });
}

async function putInvitation(
  platform: Platform,
  team: Team,
  { email, role, mailed, by }: NewInvitation,
): Promise<Attempt<Invitation & { token: string }>> {
  const { tenant } = team;
  const now = platform.clock.now();
  const token = platform.ids.bytes(TOKEN_BYTES).toString("base64url");
  const digest = hashOf(token);
  const invitation: Invitation = { id: platform.ids.uuidAt(now), email, role, expires_at: timestamp(now + INVITED_MS) };
  const expires = ttl(now + INVITED_MS);
  const ended = team.ended.find((other) => other.email.toLowerCase() === email.toLowerCase());
  const isFree = any(absent(), atMost("expires_at", timestamp(now)), ...(ended ? [is("id", ended.id)] : []));
  const inviter = { by: by.user, by_in: by.of };
  const row = { ...invitation, ...inviter, tenant, expires, ...(mailed && { mailed: true as const }) };
  const isInvited = await transacted(platform, [
    putItem(InvitationItem, { digest }, row, absent()),
    putItem(InvitedItem, { tenant, email }, { ...invitation, ...inviter, digest, expires }, isFree),
    teamWrite(team),
  ]);
  return isInvited ? done({ ...invitation, token }) : contended;
}

/** The mail with the token could not be sent: the token is shown instead, and proves no mailbox. */
export async function markUnmailed(platform: Platform, token: string): Promise<void> {
  await whereItHolds(platform.change(InvitationItem, { digest: hashOf(token) }, { remove: ["mailed"] }, present()));
}

/** Ends an open invitation, which stays listed for the audit trail as an expired one does. @throws 404. */
export async function withdrawInvitation(platform: Platform, tenant: TenantId, id: string): Promise<void> {
  const { items } = await platform.query(InvitedItem, { tenant });
  const now = timestamp(platform.clock.now());
  const row = items.find((item) => item.id === id && item.expires_at > now);
  if (!row) throw notFound("invitation");
  await platform
    .transact([
      changeItem(
        InvitedItem,
        { tenant, email: row.email },
        { set: { expires_at: WITHDRAWN }, remove: ["digest"] },
        is("id", id),
      ),
      ...(row.digest === undefined ? [] : [removeItem(InvitationItem, { digest: row.digest })]),
    ])
    .catch(orRefuse(() => notFound("invitation")));
}

export interface Team {
  tenant: TenantId;
  name: string;
  plan: PlanName;
  isClosed: boolean;
  /** Rises with every invitation sent or accepted: a seat is taken only if the count of seats is still right. */
  version: number;
  members: Member[];
  invitations: readonly Pick<Invitation, "id" | "email">[];
  /** Invitations that cannot be accepted any more, though their time is not over. */
  ended: readonly Pick<Invitation, "id" | "email">[];
}

export async function readTeam(platform: PlatformReader, tenant: TenantId): Promise<Team> {
  const workspace = requireFound(await platform.get(WorkspaceItem, { tenant }), "workspace");
  const [members, { open: invitations, ended }] = await Promise.all([
    listMembers(platform, tenant),
    invitationsOf(platform, tenant),
  ]);
  const { name = "", plan, status, team: version = 0 } = workspace;
  return { tenant, name, plan, isClosed: status === "deleted", version, members, invitations, ended };
}

/** Succeeds only if the team is still as it was counted (D-PLAN): the second of two at once counts again. */
export function teamWrite({ tenant, version }: Team, owners = 0): ItemWrite<"platform"> {
  const isAsCounted = version === 0 ? absent("team") : is("team", version);
  const add = owners > 0 ? { team: 1, owners } : { team: 1 };
  return changeItem(WorkspaceItem, { tenant }, { add }, all(present(), isAsCounted));
}

/** @throws 403 of a deleted workspace, 429 where the plan allows no further member */
export function requireSeat({ isClosed, plan, members }: Team): void {
  if (isClosed) throw closed();
  if (members.length >= plans[plan].teamMembers) throw beyondPlan(plan, `${members.length} are in`);
}

const beyondPlan = (plan: PlanName, used: string) =>
  new ApiError("QUOTA_EXCEEDED", `The plan allows ${plans[plan].teamMembers} team members; ${used}.`);
