// The stored form of callers: users, members, invitations, sessions, server keys, and the counters that limit them.
import * as v from "valibot";
import { agentScopes, roles, scopes } from "../../contract/roles.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { hashOf } from "../hash.ts";
import { entity, platformItem } from "../item.ts";
import { json } from "../json-text.ts";
import { WorkspaceId } from "./items.ts";

export const userFields = { id: v.string(), email: v.string(), name: v.string() };

export const UserItem = platformItem({
  about: "A user with the hash of the password.",
  pk: ({ email }: { email: string }) => `USER#${hashOf(email.toLowerCase())}`,
  row: {
    ...userFields,
    password: v.string(),
    created_at: Timestamp,
    /** When the user proved that the mailbox is theirs. */
    confirmed_at: v.optional(Timestamp),
    /** How often the user joined a workspace by an invitation. */
    joined: v.optional(v.number()),
    /** Rises with every session that begins and every new password: a new password ends exactly the sessions there are. */
    logins: v.optional(v.number()),
    /** The sealed key of the second factor, and the newest step of time whose code was used. */
    totp: v.optional(v.string()),
    totp_step: v.optional(v.number()),
    /** A sealed key that was shown, and is not proven by a code yet. */
    totp_next: v.optional(v.string()),
    /** SHA-256 of the recovery codes that are left. */
    recovery: v.optional(json<string[]>()),
  },
  writers: ["api-auth", "api-team", "operator", "purge"],
  purge: "with-members",
});

export const memberFields = {
  user_id: v.string(),
  email: v.string(),
  name: v.string(),
  role: v.picklist(roles),
  created_at: Timestamp,
};

export const MemberItem = platformItem({
  about: "A user's role in a workspace, listed under the workspace.",
  pk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  sk: ({ user }: { user: string }) => `MEMBER#${user}`,
  prefix: "MEMBER#",
  row: {
    ...memberFields,
    tenant: WorkspaceId,
    /** The user had not confirmed the address when this row was written: their own row says whether they have since. */
    unconfirmed: v.optional(v.literal(true)),
    /** The invitation that was accepted: the audit trail names its addressee. */
    invitation: v.optional(v.string()),
    /** When the member's right to invite last ended, and the right to invite owners: earlier invitations stay ended. */
    invites_ended_at: v.optional(Timestamp),
    owner_invites_ended_at: v.optional(Timestamp),
    /** The role is that of a group of the identity provider, and ends with it. */
    by_group: v.optional(v.literal(true)),
  },
  writers: ["api-auth", "api-team", "operator", "purge"],
  purge: "by-key",
});

export const MembershipItem = platformItem({
  about: "The same role, listed under the user.",
  pk: ({ user }: { user: string }) => `MEMBER#${user}`,
  sk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  row: { ...memberFields, tenant: WorkspaceId },
  writers: ["api-auth", "api-team", "operator", "purge"],
  purge: "by-tenant-attribute",
});

export const invitationFields = { id: v.string(), email: v.string(), role: v.picklist(roles), expires_at: Timestamp };

/** The inviting member, and the workspace of that membership: the invitation's, or its agency. */
const invitedBy = { by: v.string(), by_in: v.string() };

export const InvitationItem = platformItem({
  about: "An invitation, found by the SHA-256 of its token: single use.",
  pk: ({ digest }: { digest: string }) => `INVITE#${digest}`,
  row: {
    ...invitationFields,
    ...invitedBy,
    tenant: WorkspaceId,
    /** The token was only in a mail: a user who has it reads the mailbox (ACC-9). */
    mailed: v.optional(v.literal(true)),
    /** Wrong passwords of an existing user. */
    failures: v.optional(v.number()),
    expires: v.number(),
  },
  writers: ["api-auth", "api-team"],
  lifetime: "7 days",
  purge: "by-tenant-attribute",
});

export const InvitedItem = platformItem({
  about: "The same invitation, listed under its workspace: one per address.",
  pk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  sk: ({ email }: { email: string }) => `INVITED#${hashOf(email.toLowerCase())}`,
  prefix: "INVITED#",
  row: { ...invitationFields, ...invitedBy, digest: v.optional(v.string()), expires: v.number() },
  writers: ["api-auth", "api-team"],
  lifetime: "7 days",
  purge: "by-key",
});

export const RegistrationInvite = platformItem({
  about: "An address that the operator lets register, on a deployment that takes invited ones only.",
  pk: ({ email }: { email: string }) => `REGISTER#${hashOf(email.toLowerCase())}`,
  row: { email: v.string(), expires: v.number() },
  writers: ["operator"],
  lifetime: "7 days",
  purge: "kept",
});

/** The fields of a server key in the API: attributes of its row, and further fields. */
export const serverKeyFields = {
  id: v.string(),
  name: v.string(),
  prefix: v.string(),
  scopes: v.array(v.picklist(scopes)),
  created_at: Timestamp,
};

export const ServerKeyItem = entity("server-key", {
  about: "A server key as the workspace lists it, with the key of its credential.",
  row: { ...serverKeyFields, credential: v.string() },
  writers: ["api-account"],
});

export const ServerCredential = platformItem({
  about: "What a server key opens, found by the hash of the key.",
  pk: ({ hash }: { hash: string }) => `KEY#${hash}`,
  row: {
    kind: v.literal("server"),
    tenant: WorkspaceId,
    id: v.string(),
    scopes: v.array(v.picklist(scopes)),
    /** Its scopes were named when it was made. */
    explicit: v.boolean(),
    last_used_at: v.optional(Timestamp),
    revoked_at: v.optional(Timestamp),
  },
  writers: ["api-account", "api-subscribers", "api-notifications", "api-hooks", "api-events"],
  purge: "by-tenant-attribute",
});

export const agentKeyFields = {
  id: v.string(),
  name: v.string(),
  prefix: v.string(),
  scopes: v.array(v.picklist(agentScopes)),
  created_at: Timestamp,
  expires_at: Timestamp,
};

export const AgentKeyItem = entity("agent-key", {
  about: "An agent key as the workspace lists it, with the key of its credential.",
  row: { ...agentKeyFields, credential: v.string() },
  writers: ["api-account"],
});

export const AgentCredential = platformItem({
  about: "What an agent key opens, found by the hash of the key.",
  pk: ({ hash }: { hash: string }) => `AGENT#${hash}`,
  row: {
    tenant: WorkspaceId,
    id: v.string(),
    scopes: agentKeyFields.scopes,
    expires_at: Timestamp,
    last_used_at: v.optional(Timestamp),
    revoked_at: v.optional(Timestamp),
  },
  writers: ["api-account", "api-mcp"],
  purge: "by-tenant-attribute",
});

/** The counter of one window. */
const counter = { count: v.number(), expires: v.number() };

export const requestCountPrefix = (tenant: string): string => `LIMIT#minute#${tenant}#`;

export const RequestCount = platformItem({
  about:
    "Requests with dashboard tokens and agent keys in a minute of a workspace: the only write that a refused request makes.",
  pk: ({ tenant, minute }: { tenant: string; minute: number }) => `${requestCountPrefix(tenant)}${minute}`,
  row: counter,
  writers: ["api-*", "stream"],
  lifetime: "5 minutes after its minute",
  purge: "by-key",
});

export const AttemptCount = platformItem({
  about:
    "Attempts to register, log in or accept an invitation in a window, by address, domain or email; test sends by workspace.",
  pk: ({ kind, who, window }: { kind: string; who: string; window: number }) => `LIMIT#${kind}#${who}#${window}`,
  row: counter,
  writers: ["api-team", "api-auth", "api-tests", "mail-account"],
  lifetime: "60 seconds after its window",
  purge: "kept",
});

export const KnownBrowser = platformItem({
  about:
    "A browser in which the user of an email address signed in, by the hash of both: guesses of others do not keep it out.",
  pk: ({ email, token }: { email: string; token: string }) => `BROWSER#${hashOf(`${email} ${token}`)}`,
  row: {
    /** SHA-256 of the stored password hash: browsers of an earlier password are not known. */
    password: v.string(),
    expires: v.number(),
  },
  writers: ["api-auth"],
  lifetime: "180 days after the last sign-in there",
  purge: "kept",
});
