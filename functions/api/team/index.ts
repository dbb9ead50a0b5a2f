// The members of a workspace with their roles, and invitations.
import * as v from "valibot";
import { roles } from "../../../shared/contract/roles.ts";
import { OneOf, said } from "../../../shared/contract/schemas.ts";
import { requireUser, workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { AccountEmail } from "../../../shared/http/registration.ts";
import { HOUR } from "../../../shared/kernel/clock.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { mailer, mailing } from "../../../shared/providers/mailer.ts";
import { mailboxOf } from "../../../shared/rules/addresses.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import { invitationMail, serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import {
  Invitation,
  invite,
  listInvitations,
  markUnmailed,
  withdrawInvitation,
} from "../../../shared/store/workspaces/invitations.ts";
import { changeRole, getMember, listMembers, Member, removeMember } from "../../../shared/store/workspaces/members.ts";

/** Limits of invitations, which are mails to strangers: for one workspace, and for one mailbox. */
export const INVITATIONS_PER_WORKSPACE: AttemptLimit = { kind: "invite-workspace", max: 100, windowMs: HOUR };
export const INVITATIONS_PER_EMAIL: AttemptLimit = { kind: "invite-email", max: 5, windowMs: HOUR };

const Role = OneOf(roles);

const endpoint = endpoints({ credentials: ["dashboard"], inRealTime: true, uses: [] });

export const team = group("team", "Members, roles and invitations.", [
  endpoint(
    "GET /api/v1/team/members",
    { uses: [platformRead] },
    { summary: "List members", returns: v.object({ items: v.array(Member) }) },
    async ({ platform, tenant }) => ({ items: await listMembers(platform, tenant) }),
  ),

  endpoint(
    "GET /api/v1/team/members/:userId",
    { uses: [platformRead] },
    { summary: "Get a member", returns: Member },
    ({ platform, tenant, params }) => getMember(platform, tenant, params.userId),
  ),

  endpoint(
    "PATCH /api/v1/team/members/:userId",
    { permission: "team:manage", uses: [platformWrite] },
    {
      summary: "Change a member's role",
      body: v.strictObject({ role: Role }),
      example: { body: { role: "developer" } },
      returns: Member,
      errors: ["CONFLICT"],
    },
    ({ platform, tenant, params, body, caller }) =>
      changeRole(platform, { tenant, user: params.userId }, { role: body.role, by: roleOf(caller) }),
  ),

  endpoint(
    "DELETE /api/v1/team/members/:userId",
    { permission: "team:manage", uses: [platformWrite] },
    {
      summary: "Remove a member: access ends at once",
      description:
        "A user who belongs to no other workspace goes with it: the address may register or be invited again.",
      errors: ["CONFLICT"],
    },
    ({ platform, tenant, params, caller }) => removeMember(platform, tenant, params.userId, roleOf(caller)),
  ),

  endpoint(
    "GET /api/v1/team/invitations",
    { uses: [platformRead] },
    { summary: "List open invitations", returns: v.object({ items: v.array(Invitation) }) },
    async ({ platform, tenant }) => ({ items: await listInvitations(platform, tenant) }),
  ),

  endpoint(
    "POST /api/v1/team/invitations",
    { permission: "team:manage", isForConfirmed: true, uses: [platformWrite, mailer, mailing, serviceUrl] },
    {
      summary: "Invite by email: valid for 7 days, once",
      description:
        "Where the service can mail, the token is in a mail to the invited address and nowhere else (`mailed: true`). " +
        "Else it is in this response.",
      body: v.strictObject({
        email: AccountEmail,
        role: Role,
      }),
      example: { body: { email: "grace@example.com", role: "marketer" } },
      returns: v.object({
        ...Invitation.entries,
        mailed: said("Whether the token was mailed; then it is not in this answer", v.boolean()),
        token: v.optional(v.string()),
      }),
      status: 201,
      errors: ["CONFLICT", "QUOTA_EXCEEDED", "RATE_LIMITED"],
    },
    async ({ platform, mail, canMail, serviceUrl, caller, body }) => {
      if (body.role === "owner" && roleOf(caller) !== "owner")
        throw new ApiError("FORBIDDEN", "Only an owner may invite an owner.");
      const { tenant, name, plan } = workspaceOf(caller);
      const { user, agency } = requireUser(caller);
      const by = { user, of: agency ?? tenant };
      await countAttempt(platform, INVITATIONS_PER_WORKSPACE, tenant);
      await countAttempt(platform, INVITATIONS_PER_EMAIL, mailboxOf(body.email));
      const { token, ...invitation } = await invite(platform, { tenant, plan }, { ...body, mailed: canMail, by });
      if (!canMail) return { ...invitation, mailed: false, token };
      const { id, email, role, expires_at } = invitation;
      // Only the hash of the token is stored, so another function could not mail it.
      const letter = invitationMail(serviceUrl, { workspace: name, role, token, expires_at });
      const mailed = await mail({ tenant, id, to: email, ...letter });
      if (mailed === "sent") return { ...invitation, mailed: true };
      await markUnmailed(platform, token);
      return { ...invitation, mailed: false, token };
    },
  ),

  endpoint(
    "DELETE /api/v1/team/invitations/:id",
    { permission: "team:manage", uses: [platformWrite] },
    { summary: "Withdraw an invitation: its token is no longer valid" },
    ({ platform, tenant, params }) => withdrawInvitation(platform, tenant, params.id),
  ),
]);

const roleOf = (caller: { kind: string; role?: (typeof roles)[number] }) => caller.role ?? "viewer";
