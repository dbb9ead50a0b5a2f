// The identity provider of a workspace, named by an owner (ACC-14, ACC-17).
import * as v from "valibot";
import { OneOf, said, TrimmedTextUpTo, titled } from "../../../shared/contract/schemas.ts";
import type { Egress } from "../../../shared/egress/egress.ts";
import { type Caller, requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { discover } from "../../../shared/http/openid.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { perEnvironment } from "../../../shared/kernel/deps.ts";
import { ApiError, invalid, requireFound } from "../../../shared/kernel/errors.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { withAsciiDomain } from "../../../shared/rules/contacts.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { type Platform, type PlatformReader, platformRead, platformWrite } from "../../../shared/store/context.ts";
import { fromJson, toJson } from "../../../shared/store/json-text.ts";
import { serviceUrl } from "../../../shared/store/workspaces/account-mails.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import {
  clientSecrets,
  INSTALLATION,
  isProven,
  type Provider,
  proofOf,
  proveDomain,
  providerOf,
  removeProvider,
  storeProvider,
} from "../../../shared/store/workspaces/provider.ts";
import { providedRoles } from "../../../shared/store/workspaces/provider-items.ts";

/** The page of the console to which a provider sends the browser back. */
export const signedInPage = (origin: string): string => `${origin}/console/signed-in`;

/** Each provider sends browsers back to its own address, so that no other provider gets its code (RFC 9700, 4.4). */
export const backTo = (page: string, tenant: TenantId): string => `${page}/${tenant}`;

/** The provider that the operator set for all workspaces, as a public client: PKCE proves it. */
export const installationProvider = /* @__PURE__ */ perEnvironment(
  "installationProvider",
  { env: ["SIGN_IN_ISSUER", "SIGN_IN_CLIENT_ID"] },
  ({ env: { SIGN_IN_ISSUER: issuer, SIGN_IN_CLIENT_ID: client_id }, clock }): Provider | undefined => {
    const updated_at = timestamp(clock.now());
    const named = issuer && client_id ? { issuer, client_id } : undefined;
    return named && { tenant: INSTALLATION, ...named, scope: SCOPE, domains: [], updated_at };
  },
);

const MAX_DOMAINS = 10;
const MAX_GROUPS = 50;
const SCOPE = "openid email profile";

const Domain = v.pipe(
  said("The part after the @ of an address", TrimmedTextUpTo(253)),
  v.toLowerCase(),
  v.transform((domain) => withAsciiDomain(`@${domain}`).slice(1)),
  v.regex(/^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/, "must be a domain"),
);
const ProvidedRole = OneOf(providedRoles);

const ABOUT = {
  issuer: "The issuer, as the provider's own description names it",
  client_id: "Of the client that the provider has for this workspace",
  scope: "What is asked of the provider",
  domains: "The email domains that the provider speaks for, once a DNS record proves each",
  default_role: "Of whoever signs in first; `null`: they need an invitation or a group with a role",
  groups_claim: "The claim with the groups of the user",
  group: "As the provider names it",
  group_roles: "The first group that the user is in gives the role, at every sign-in; owners keep theirs",
  required: "Only sessions that began at the provider reach the workspace, and owners with a second factor",
} as const;

const GroupRole = v.strictObject({ group: said(ABOUT.group, TrimmedTextUpTo(256)), role: ProvidedRole });
const GroupRoles = v.pipe(v.array(GroupRole), v.maxLength(MAX_GROUPS, `must have at most ${MAX_GROUPS}`));
const Scopes = v.pipe(TrimmedTextUpTo(256), v.regex(/(?:^| )openid(?: |$)/, "must have openid in it"));
/** The body of a request, or the stored row. */
const DomainInput = v.union(
  [
    Domain,
    v.pipe(
      v.looseObject({ domain: Domain }),
      v.transform(({ domain }) => domain),
    ),
  ],
  "must be a domain",
);
const Domains = v.pipe(
  v.array(DomainInput),
  v.minLength(1, "must name a domain"),
  v.maxLength(MAX_DOMAINS, `must have at most ${MAX_DOMAINS} domains`),
  v.description(ABOUT.domains),
  v.transform((domains) => [...new Set(domains)]),
);

const Settings = v.strictObject({
  issuer: said(ABOUT.issuer, TrimmedTextUpTo(512)),
  client_id: said(ABOUT.client_id, TrimmedTextUpTo(256)),
  client_secret: said(
    "Left out: as it was, while issuer and client stay. It is never returned",
    v.optional(v.nullable(TrimmedTextUpTo(1_024))),
  ),
  scope: said(ABOUT.scope, v.optional(Scopes, SCOPE)),
  domains: Domains,
  default_role: said(ABOUT.default_role, v.optional(v.nullable(ProvidedRole), null)),
  groups_claim: said(ABOUT.groups_claim, v.optional(v.nullable(TrimmedTextUpTo(128)), null)),
  group_roles: said(ABOUT.group_roles, v.optional(GroupRoles, [])),
  required: said(ABOUT.required, v.optional(v.boolean(), false)),
});

const Shown = titled("IdentityProvider", {
  issuer: said(ABOUT.issuer, v.string()),
  client_id: said(ABOUT.client_id, v.string()),
  has_client_secret: said("A client secret is stored", v.boolean()),
  scope: said(ABOUT.scope, v.string()),
  domains: said(
    ABOUT.domains,
    v.array(
      v.object({
        domain: said("The part after the @ of an address", v.string()),
        proven: said("Its DNS has the record", v.boolean()),
        record_name: said("The name of the TXT record", v.string()),
        record_value: said("What the record says", v.string()),
      }),
    ),
  ),
  default_role: said(ABOUT.default_role, v.nullable(v.picklist(providedRoles))),
  groups_claim: said(ABOUT.groups_claim, v.nullable(v.string())),
  group_roles: said(
    ABOUT.group_roles,
    v.array(v.object({ group: said(ABOUT.group, v.string()), role: v.picklist(providedRoles) })),
  ),
  required: said(ABOUT.required, v.boolean()),
  redirect_uri: said("What the provider's client allows as redirect URI, and no other", v.string()),
});

const endpoint = endpoints({
  credentials: ["dashboard"],
  inRealTime: true,
  uses: [serviceUrl],
});

export const identityProvider = [
  endpoint(
    "GET /api/v1/auth/identity-provider",
    { uses: [platformRead] },
    { summary: "Get the identity provider of the workspace", returns: Shown, errors: ["NOT_FOUND"] },
    async ({ platform, tenant, serviceUrl }) => {
      const provider = requireFound(await providerOf(platform, tenant), "identity provider");
      return shown(platform, provider, signedInPage(serviceUrl));
    },
  ),

  endpoint(
    "PUT /api/v1/auth/identity-provider",
    { permission: "team:manage", isForConfirmed: true, uses: [platformWrite, egress, clientSecrets] },
    {
      summary: "Set the identity provider (OpenID Connect) through which members sign in",
      description:
        "For owners. The provider is asked for its description, and the DNS of each domain that is not proven yet for the " +
        "record that the answer names: set the record, then send the same again. With another issuer or client, sessions " +
        "that began at the one before end. `required` needs a session of yours that began " +
        "at this provider, so that you stay in.",
      body: Settings,
      example: {
        body: {
          issuer: "https://login.example.com",
          client_id: "engagement",
          client_secret: "a secret of the provider's client",
          domains: ["example.com"],
          default_role: "viewer",
          groups_claim: "groups",
          group_roles: [{ group: "marketing", role: "marketer" }],
        },
      },
      returns: Shown,
      errors: ["CONFLICT"],
    },
    async ({ platform, tenant, caller, egress, clientSecrets, serviceUrl, body }) => {
      requireOwner(caller);
      requireClaim(body);
      const before = await providerOf(platform, tenant);
      const isSame = before?.issuer === body.issuer && before.client_id === body.client_id;
      requireWayBack(caller, body.required, isSame);
      const refusal = egress.refusal(body.issuer, "sign_in");
      if (refusal !== undefined) throw invalid({ issuer: refusal });
      const found = await discover(egress, body.issuer);
      if (found.kind === "failed") throw invalid({ issuer: `cannot be used: ${found.reason}` });

      // A secret belongs to the issuer that gave it, and is sent to no other.
      const kept = isSame ? before.client_secret : undefined;
      const { client_secret: secret } = body;
      const sealed = secret ? await clientSecrets(tenant).seal(Buffer.from(secret)) : undefined;
      const row = {
        tenant,
        issuer: body.issuer,
        client_id: body.client_id,
        client_secret: secret === undefined ? kept : sealed,
        scope: body.scope,
        domains: body.domains,
        default_role: body.default_role ?? undefined,
        groups_claim: body.groups_claim ?? undefined,
        group_roles: body.group_roles.length > 0 ? toJson(body.group_roles) : undefined,
        updated_at: timestamp(platform.clock.now()),
      };
      await storeProvider(platform, before, row, body.required);
      await proveDomains({ platform, egress }, tenant, body.domains);

      const stored = requireFound(await providerOf(platform, tenant), "identity provider");
      return shown(platform, stored, signedInPage(serviceUrl));
    },
  ),

  endpoint(
    "DELETE /api/v1/auth/identity-provider",
    { permission: "team:manage", uses: [platformWrite] },
    {
      summary: "Remove the identity provider: members sign in with passwords again",
      description: "Sessions that began there end.",
      errors: ["NOT_FOUND"],
    },
    async ({ platform, tenant, caller }) => {
      requireOwner(caller);
      const provider = requireFound(await providerOf(platform, tenant), "identity provider");
      await removeProvider(platform, provider);
    },
  ),
];

/** Proves the domains that are not proven yet and whose DNS has the record of this workspace. */
async function proveDomains(
  { platform, egress }: { platform: Platform; egress: Pick<Egress, "records"> },
  tenant: TenantId,
  domains: readonly string[],
): Promise<void> {
  const prove = async (domain: string) => {
    if (await isProven(platform, tenant, domain)) return;
    const { name, value } = proofOf(tenant, domain);
    const found = await egress.records(name, "TXT");
    if (found.kind === "known" && found.records.includes(value)) await proveDomain(platform, tenant, domain);
  };
  // A domain may take six seconds if its DNS does not answer, and a request ends after 29.
  await Promise.all(domains.map(prove));
}

/** The identity provider decides who each member is, so only an owner may name it. */
function requireOwner(caller: Caller): void {
  if (requireUser(caller).role !== "owner")
    throw new ApiError("FORBIDDEN", "Only an owner may change the identity provider.");
}

/** Groups are read from a claim, so roles by group need one. */
function requireClaim({ groups_claim, group_roles }: v.InferOutput<typeof Settings>): void {
  if (group_roles.length > 0 && groups_claim === null)
    throw invalid({ groups_claim: "must name the claim with the groups, which group_roles are for" });
}

function requireWayBack(caller: Caller, isRequired: boolean, isSame: boolean): void {
  if (!isRequired) return;
  if (!isSame)
    throw invalid({ required: "needs a provider that is set already: set it, sign in there, then demand it" });
  if (!requireUser(caller).provider.isCurrent)
    throw invalid({ required: "needs a session of yours that began at the provider, so that you stay in" });
}

async function shown(platform: PlatformReader, provider: Provider, page: string): Promise<v.InferInput<typeof Shown>> {
  const { tenant, issuer, client_id, client_secret, scope, domains, default_role, groups_claim, group_roles } =
    provider;
  const [proven, workspace] = await Promise.all([
    Promise.all(domains.map((domain) => isProven(platform, tenant, domain))),
    platform.get(WorkspaceItem, { tenant }),
  ]);
  return {
    issuer,
    client_id,
    has_client_secret: client_secret !== undefined,
    scope,
    domains: domains.map((domain, i) => shownDomain(tenant, domain, proven[i] === true)),
    default_role: default_role ?? null,
    groups_claim: groups_claim ?? null,
    group_roles: group_roles === undefined ? [] : fromJson(group_roles),
    required: workspace?.sign_in_required === true,
    redirect_uri: backTo(page, tenant),
  };
}

function shownDomain(tenant: TenantId, domain: string, proven: boolean) {
  const { name: record_name, value: record_value } = proofOf(tenant, domain);
  return { domain, proven, record_name, record_value };
}
