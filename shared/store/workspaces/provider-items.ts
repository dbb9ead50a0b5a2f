// The stored form of signing in by OpenID Connect: a workspace's identity provider, the domains it speaks for, attempts, links.
import * as v from "valibot";
import type { roles } from "../../contract/roles.ts";
import { Timestamp } from "../../contract/schemas.ts";
import { hashOf } from "../hash.ts";
import { platformItem } from "../item.ts";
import { json } from "../json-text.ts";
import { WorkspaceId } from "./items.ts";

/** An owner is made by an owner, and never by a provider. */
export const providedRoles = [
  "admin",
  "marketer",
  "developer",
  "analyst",
  "viewer",
] as const satisfies readonly (typeof roles)[number][];
type ProvidedRole = (typeof providedRoles)[number];

interface GroupRole {
  group: string;
  role: ProvidedRole;
}

export const ProviderItem = platformItem({
  about: "The identity provider (OpenID Connect) of a workspace's members; its client secret is sealed by KMS.",
  pk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  sk: () => "PROVIDER",
  row: {
    tenant: WorkspaceId,
    issuer: v.string(),
    client_id: v.string(),
    client_secret: v.optional(v.string()),
    scope: v.string(),
    domains: v.array(v.string()),
    /** The role of a first sign-in without a group that has one; absent: it needs an invitation. */
    default_role: v.optional(v.picklist(providedRoles)),
    groups_claim: v.optional(v.string()),
    group_roles: v.optional(json<GroupRole[]>()),
    updated_at: Timestamp,
  },
  writers: ["api-auth"],
  purge: "by-key",
});

export const ProvenDomain = platformItem({
  about:
    "A domain of email addresses that a workspace proved by a DNS record: its provider speaks for these addresses.",
  pk: ({ domain }: { domain: string }) => `DOMAIN#${domain}`,
  sk: ({ tenant }: { tenant: string }) => `TENANT#${tenant}`,
  row: { tenant: WorkspaceId, domain: v.string(), proven_at: Timestamp },
  writers: ["api-auth"],
  purge: "by-tenant-attribute",
});

export const SignInAttempt = platformItem({
  about: "A sign-in that was begun at a provider, found by the SHA-256 of its state: single use.",
  pk: ({ digest }: { digest: string }) => `SIGNIN#${digest}`,
  row: {
    tenant: WorkspaceId,
    issuer: v.string(),
    client_id: v.string(),
    nonce: v.string(),
    /** The verifier of PKCE. */
    verifier: v.string(),
    /** SHA-256 of what only the browser that began has. */
    binding: v.string(),
    redirect_uri: v.string(),
    /** At the provider of the installation: the workspace that is wanted. */
    wanted: v.optional(WorkspaceId),
    expires: v.number(),
  },
  writers: ["api-auth"],
  lifetime: "10 minutes",
  purge: "by-tenant-attribute",
});

export const FederatedIdentity = platformItem({
  about: "The user behind a subject of an issuer, for one workspace, or for the installation (`installation`).",
  pk: ({ tenant, issuer, subject }: { tenant: string; issuer: string; subject: string }) =>
    `FEDERATED#${hashOf([tenant, issuer, subject].join("\n"))}`,
  row: { tenant: WorkspaceId, user: v.string(), email: v.string(), created_at: Timestamp },
  writers: ["api-auth"],
  purge: "by-tenant-attribute",
});
