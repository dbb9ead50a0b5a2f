// The identity provider of a workspace: its settings, the domains that are proven, and sign-ins that were begun (ACC-14, ACC-15).
import { createHash } from "node:crypto";
import { SECOND, timestamp, ttl } from "../../kernel/clock.ts";
import { perEnvironment } from "../../kernel/deps.ts";
import { conflict } from "../../kernel/errors.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { byText } from "../../kernel/order.ts";
import { absent, is, present } from "../conditions.ts";
import type { Platform, PlatformReader } from "../context.ts";
import { hashOf } from "../hash.ts";
import { changeItem, type NewRowOf, putItem, type RowOf, ref, removeItem } from "../item.ts";
import { happened, transacted, whereItHolds } from "../refusals.ts";
import { WorkspaceItem } from "./items.ts";
import { ProvenDomain, ProviderItem, SignInAttempt } from "./provider-items.ts";
import { sealingBy } from "./sealing.ts";

/** In the place of a workspace: the provider that the operator named for all of them. No workspace has this id. */
export const INSTALLATION = "installation" as TenantId;

const ATTEMPT_MS = 600 * SECOND;
const RANDOM_BYTES = 32;

export type Provider = Omit<RowOf<typeof ProviderItem>, "pk" | "sk">;

/** Seals client secrets: one cannot be opened for another workspace. */
export const clientSecrets = /* @__PURE__ */ perEnvironment(
  "clientSecrets",
  { env: ["ENCRYPTION_KEY_ID"], grants: [{ actions: ["kms:Encrypt", "kms:Decrypt"], on: "client-secret-key" }] },
  (deps) => (tenant: TenantId) => sealingBy(deps, { purpose: "client-secret", tenant }),
);

export const providerOf = (platform: PlatformReader, tenant: string): Promise<Provider | undefined> =>
  platform.get(ProviderItem, { tenant });

/** The provider that speaks for the domain of an address: of the workspaces that are there, the one that proved it first. */
export async function providerForAddress(platform: PlatformReader, email: string): Promise<Provider | undefined> {
  const { items } = await platform.query(ProvenDomain, { domain: domainOf(email) });
  for (const { tenant } of items.sort(byText(({ proven_at }) => proven_at))) {
    const [workspace, provider] = await platform.getEach([
      ref(WorkspaceItem, { tenant }),
      ref(ProviderItem, { tenant }),
    ]);
    if (provider && workspace && workspace.status !== "deleted") return provider;
  }
  return undefined;
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

export async function isProven(platform: PlatformReader, tenant: string, domain: string): Promise<boolean> {
  return (await platform.get(ProvenDomain, { domain, tenant })) !== undefined;
}

/** The DNS record that proves that a workspace owns a domain: its name, and its text. */
export const proofOf = (tenant: string, domain: string): { name: string; value: string } => ({
  name: `_engagement.${domain}`,
  value: `engagement-workspace=${tenant}`,
});

export const clientOf = ({ issuer, client_id }: Pick<Provider, "issuer" | "client_id">): string =>
  hashOf([issuer, client_id].join("\n"));

/**
 * Stores the provider, and forgets domains that it no longer names. Sessions that began at another one before end, also where
 * that one is named again later. @throws 409 if it changed meanwhile.
 */
export async function storeProvider(
  platform: Platform,
  before: Provider | undefined,
  row: NewRowOf<typeof ProviderItem>,
  isRequired: boolean,
): Promise<void> {
  const { tenant } = row;
  const isReplaced = before !== undefined && clientOf(before) !== clientOf(row);
  const set = {
    sign_in_required: isRequired,
    sign_in_client: clientOf(row),
    ...(isReplaced && { sign_in_ended_at: timestamp(platform.clock.now()) }),
  };
  const isAsRead = before === undefined ? absent() : is("updated_at", before.updated_at);
  const dropped = (before?.domains ?? []).filter((domain) => !row.domains.includes(domain));
  const isStored = await transacted(platform, [
    putItem(ProviderItem, { tenant }, row, isAsRead),
    changeItem(WorkspaceItem, { tenant }, { set }, present()),
    ...dropped.map((domain) => removeItem(ProvenDomain, { domain, tenant })),
  ]);
  if (!isStored) throw conflict("The identity provider is being changed at the moment. Try again.");
}

export async function proveDomain(platform: Platform, tenant: TenantId, domain: string): Promise<void> {
  const row = { tenant, domain, proven_at: timestamp(platform.clock.now()) };
  await happened(platform.put(ProvenDomain, { domain, tenant }, row, absent()));
}

/** Passwords then open the workspace again. Sessions that began at the provider end with it. */
export async function removeProvider(platform: Platform, { tenant, domains }: Provider): Promise<void> {
  const set = { sign_in_required: false, sign_in_ended_at: timestamp(platform.clock.now()) };
  await platform.transact([
    removeItem(ProviderItem, { tenant }),
    changeItem(WorkspaceItem, { tenant }, { set, remove: ["sign_in_client"] }, present()),
    ...domains.map((domain) => removeItem(ProvenDomain, { domain, tenant })),
  ]);
}

interface BegunAttempt {
  state: string;
  nonce: string;
  /** The challenge of PKCE (S256). */
  challenge: string;
  /** For the browser alone: it ends what it began. */
  binding: string;
}

/** Remembers a sign-in for ten minutes. @param wanted the workspace that a sign-in at the installation's provider is for */
export async function beginAttempt(
  platform: Platform,
  { tenant, issuer, client_id }: Provider,
  redirect_uri: string,
  wanted: TenantId | undefined,
): Promise<BegunAttempt> {
  const [state, nonce, verifier, binding] = Array.from({ length: 4 }, () =>
    platform.ids.bytes(RANDOM_BYTES).toString("base64url"),
  ) as [string, string, string, string];
  const expires = ttl(platform.clock.now() + ATTEMPT_MS);
  const row = { tenant, issuer, client_id, nonce, verifier, binding: hashOf(binding), redirect_uri, wanted, expires };
  await whereItHolds(platform.put(SignInAttempt, { digest: hashOf(state) }, row, absent()));
  return { state, nonce, challenge: createHash("sha256").update(verifier).digest("base64url"), binding };
}

/** Uses up a sign-in. @returns undefined if there is none, it is too old, or another browser began it */
export async function endAttempt(
  platform: Platform,
  state: string,
  binding: string,
): Promise<RowOf<typeof SignInAttempt> | undefined> {
  const key = { digest: hashOf(state) };
  const row = await platform.get(SignInAttempt, key);
  const isUsedUp = row !== undefined && (await transacted(platform, [removeItem(SignInAttempt, key, present())]));
  if (!isUsedUp || row.binding !== hashOf(binding) || row.expires * SECOND <= platform.clock.now()) return undefined;
  return row;
}
