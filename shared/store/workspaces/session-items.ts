// The stored form of sessions, and of the mails and tokens by which a user gets at an account again.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { platformItem } from "../item.ts";
import { WorkspaceId } from "./items.ts";

export const RefreshFamily = platformItem({
  about: "A refresh token and its successors: the hash of the one that is valid now, and of the one before for 10 s.",
  pk: ({ family }: { family: string }) => `REFRESH#${family}`,
  row: {
    user: v.string(),
    tenant: WorkspaceId,
    /** The session whose tokens they are. */
    session: v.string(),
    /** The seed of successors, in base64. */
    seed: v.string(),
    read_only: v.optional(v.literal(true)),
    current: v.string(),
    previous: v.optional(v.string()),
    previous_until: v.optional(v.number()),
    expires_at: v.number(),
    expires: v.number(),
  },
  writers: ["api-auth"],
  lifetime: "30 days after the last use",
  purge: "by-tenant-attribute",
});

export const UserSession = platformItem({
  about: "A session of a user, listed under the user: while it is there, its tokens are valid.",
  pk: ({ user }: { user: string }) => `SESSIONS#${user}`,
  sk: ({ id }: { id: string }) => `SESSION#${id}`,
  row: {
    id: v.string(),
    tenant: WorkspaceId,
    device: v.optional(v.string()),
    address: v.optional(v.string()),
    /** The session that it came from, with which it ends. */
    parent: v.optional(v.string()),
    /** The first of its line, where that is another one: none begins or is refreshed without it. */
    first: v.optional(v.string()),
    /** The workspace at whose identity provider it began: it reaches that workspace alone. */
    provided: v.optional(WorkspaceId),
    /** The provider, as `sign_in_client` of the workspace names it. */
    provider: v.optional(v.string()),
    /** When it ends whatever its use, in seconds: it began at a provider, or came from one that did. */
    until: v.optional(v.number()),
    /** It began with a second factor, or its user set one up in it. */
    second_factor: v.optional(v.literal(true)),
    created_at: Timestamp,
    last_used_at: Timestamp,
    expires: v.number(),
  },
  writers: ["api-auth", "operator"],
  lifetime: "30 days after the last use; 7 days where it began at a provider",
  purge: "by-tenant-attribute",
});

const mailPurposes = ["reset", "confirm"] as const;
export type MailPurpose = (typeof mailPurposes)[number];

export const AccountMail = platformItem({
  about: "A mail with a token that was asked for, until it is sent. It is there whether or not a user has the address.",
  pk: ({ id }: { id: string }) => `ACCOUNTMAIL#${id}`,
  row: {
    id: v.string(),
    email: v.string(),
    purpose: v.picklist(mailPurposes),
    react: v.literal("account-mail"),
    /** Its mailbox has counted it. */
    counted: v.optional(v.literal(true)),
    expires: v.number(),
  },
  writers: ["api-auth", "mail-account"],
  lifetime: "1 hour",
  purge: "kept",
});

export const AccountToken = platformItem({
  about: "A mailed token that resets a password or confirms an address, found by its SHA-256: single use.",
  pk: ({ digest }: { digest: string }) => `ACCOUNTTOKEN#${digest}`,
  row: {
    user: v.string(),
    email: v.string(),
    purpose: v.picklist(mailPurposes),
    /** SHA-256 of the stored password hash at that time: a new password ends all tokens that reset the old one. */
    replaces: v.string(),
    expires: v.number(),
  },
  writers: ["mail-account", "api-auth"],
  lifetime: "1 hour to reset a password, 24 hours to confirm an address",
  purge: "kept",
});
