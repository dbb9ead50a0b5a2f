// Who belongs to a workspace, in which role, and who is invited.
import * as v from "valibot";
import { HOUR } from "../../../shared/clock.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError } from "../../../shared/http/errors.ts";
import { roles } from "../../../shared/http/roles.ts";
import { mailer } from "../../../shared/mailer.ts";
import { platformRead, platformWrite } from "../../../shared/resources.ts";
import { isEmailAddress } from "../../../shared/rules/contacts.ts";
import { type AttemptLimit, countAttempt } from "../../../shared/store/workspaces/attempts.ts";
import {
  changeRole,
  Invitation,
  invite,
  listInvitations,
  listMembers,
  Member,
  removeMember,
} from "../../../shared/store/workspaces/members.ts";

/** Mails to strangers: what one workspace may send, and what one address may get. */
const INVITATIONS_PER_WORKSPACE: AttemptLimit = { kind: "invite-workspace", max: 100, windowMs: HOUR };
const INVITATIONS_PER_EMAIL: AttemptLimit = { kind: "invite-email", max: 5, windowMs: HOUR };

const Role = v.picklist(roles, `must be one of ${roles.join(", ")}`);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const team = group("team", "Members, roles and invitations.", [
  endpoint(
    "GET /api/v1/team/members",
    { uses: [platformRead] },
    { summary: "List members", returns: v.object({ items: v.array(Member) }) },
    async ({ platform, tenant }) => ({ items: await listMembers(platform, tenant) }),
  ),

  endpoint(
    "PATCH /api/v1/team/members/:userId",
    { permission: "team:manage", uses: [platformWrite] },
    {
      summary: "Change a member's role",
      body: v.strictObject({ role: Role }),
      returns: Member,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    ({ platform, tenant, params, body, caller }) =>
      changeRole(platform, tenant, params.userId, body.role, roleOf(caller)),
  ),

  endpoint(
    "DELETE /api/v1/team/members/:userId",
    { permission: "team:manage", uses: [platformWrite] },
    { summary: "Remove a member: access ends at once", errors: ["NOT_FOUND", "CONFLICT"] },
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
    { permission: "team:manage", uses: [platformWrite, mailer] },
    {
      summary: "Invite by e-mail: valid for 7 days, once",
      description:
        "The token is in this response, and in a mail to the invited address where the service has a mail domain.",
      body: v.strictObject({
        email: v.pipe(v.string("must be a string"), v.trim(), v.check(isEmailAddress, "must be an e-mail address")),
        role: Role,
      }),
      returns: v.object({ ...Invitation.entries, token: v.string() }),
      status: 201,
      errors: ["CONFLICT", "QUOTA_EXCEEDED", "RATE_LIMITED"],
    },
    async ({ platform, mail, caller, body }) => {
      if (body.role === "owner" && roleOf(caller) !== "owner")
        throw new ApiError("FORBIDDEN", "Only an owner may invite an owner.");
      const { tenant, name, plan } = workspaceOf(caller);
      await countAttempt(platform, INVITATIONS_PER_WORKSPACE, tenant);
      await countAttempt(platform, INVITATIONS_PER_EMAIL, body.email);
      const invitation = await invite(platform, { tenant, plan }, body);
      const { id, email, role, expires_at, token } = invitation;
      // Only the hash of the token is stored, so no other function could mail it; the response has it too (AMB-78).
      await mail({
        tenant,
        id,
        to: email,
        subject: `You are invited to ${name}`,
        text: `You are invited to join ${name} as ${role}.\n\nYour token: ${token}\n\nIt is good once, until ${expires_at}.`,
      });
      return invitation;
    },
  ),
]);

const roleOf = (caller: { kind: string; role?: (typeof roles)[number] }) => caller.role ?? "viewer";
