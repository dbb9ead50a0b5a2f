// The caller of a request: SDK key, server key, agent key or dashboard token, each checked against the rows it names.
import { type AgentScope, type Role, roles, type Scope } from "../contract/roles.ts";
import { type Clock, SECOND } from "../kernel/clock.ts";
import { ApiError, unauthorized } from "../kernel/errors.ts";
import type { TenantId } from "../kernel/ids.ts";
import type { Platform } from "../store/context.ts";
import { hashOf } from "../store/hash.ts";
import { ref } from "../store/item.ts";
import { fromJson } from "../store/json-text.ts";
import type { SandboxTime } from "../store/sandbox/sandbox.ts";
import type { Secrets } from "../store/secrets.ts";
import { AgentCredential, MemberItem, ServerCredential } from "../store/workspaces/identity-items.ts";
import { WorkspaceItem } from "../store/workspaces/items.ts";
import { tenantOfSdkKey } from "../store/workspaces/sdk-keys.ts";
import { UserSession } from "../store/workspaces/session-items.ts";
import type { SendingSettings } from "../store/workspaces/settings.ts";
import { hasLostProvider, keepsClients, sendingSettingsOf, type WorkspaceRow } from "../store/workspaces/workspaces.ts";
import type { Access, Credential, PresentedCredentials } from "./access.ts";
import type { TokenVerifier } from "./tokens.ts";

const SERVER_KEY = /^service_srv_[A-Za-z0-9_-]{32}$/;
const AGENT_KEY = /^service_mcp_[A-Za-z0-9_-]{32}$/;

export interface Workspace extends Pick<WorkspaceRow, "plan" | "status" | "kind"> {
  tenant: TenantId;
  name: string;
  /** The currency of its revenue, as ISO 4217; `null`: not set. */
  currency: string | null;
  sendCap: number | null;
  sending: SendingSettings;
  time: SandboxTime;
  /** Whether ids of users must be signed (ACC-8), and the keys for it, the newest last. */
  identity: { isDemanded: boolean; keys: readonly string[] };
  /** Releases wait for a second person. */
  isApprovalRequired: boolean;
  /** Attributes in conditions of agents without `read:pii`. */
  agentAttributes: readonly string[];
}

interface KeyHolder {
  workspace: Workspace;
  key: string;
  /** SHA-256 of the key. */
  hash: string;
  /** When its use was last noted, in milliseconds. */
  usedAt: number;
}

export type Caller =
  | { kind: "sdk"; workspace: Workspace }
  | ({ kind: "server"; scopes: readonly Scope[]; explicit: boolean } & KeyHolder)
  | ({ kind: "agent"; scopes: readonly AgentScope[] } & KeyHolder)
  | {
      kind: "dashboard";
      workspace: Workspace;
      user: string;
      email: string;
      name: string;
      role: Role;
      readOnly: boolean;
      /** The token itself is read-only, whatever the role. */
      narrowed: boolean;
      agency?: string;
      /** Its session, which has not ended. */
      session?: string;
      /**
       * Whether the session has a second factor, the user's own or the provider's, and whether the workspace or its
       * agency demands one.
       */
      secondFactor: { isProven: boolean; isOwn: boolean; isDemanded: boolean };
      /**
       * Whether the session began at a provider, and at the workspace's present one, or needs none; and whether the
       * provider is demanded.
       */
      provider: { isOwn: boolean; isCurrent: boolean; isProven: boolean; isDemanded: boolean };
      /** The address was not confirmed when the user became a member. */
      isUnconfirmed: boolean;
    }
  | { kind: "public" };

/** The workspace of an authenticated caller. @throws for a public endpoint, which has none. */
export function workspaceOf(caller: Caller): Workspace {
  if (caller.kind === "public") throw new Error("A public endpoint asked for a workspace.");
  return caller.workspace;
}

/** The caller of an endpoint for the dashboard. @throws 401 for others */
export function requireUser(caller: Caller): Extract<Caller, { kind: "dashboard" }> {
  if (caller.kind !== "dashboard") throw unauthorized();
  return caller;
}

/**
 * The attributes that texts may show to a caller: the listed ones for an agent without `read:pii`, else undefined
 * (AGT-4).
 */
export const attributesSeenBy = (caller: Caller): ReadonlySet<string> | undefined =>
  caller.kind === "agent" && !caller.scopes.includes("read:pii")
    ? new Set(caller.workspace.agentAttributes)
    : undefined;

/** An owner with a second factor of their own keeps access, also while the provider does not answer. */
export const opensWithoutProvider = (role: Role, hasOwnFactor: boolean): boolean => role === "owner" && hasOwnFactor;

interface AuthenticationDeps {
  platform: Pick<Platform, "get" | "getEach">;
  secrets: Secrets;
  tokens: TokenVerifier;
  clock: Clock;
}

/**
 * Finds the caller (docs/decisions/0021#identity). An SDK key beside a dashboard token must be of the same workspace
 * (AMB-59). @throws 401; 403 for a credential that the endpoint forbids
 */
export async function authenticate(
  { credentials, forbidden }: { credentials: readonly Credential[]; forbidden: NonNullable<Access["forbidden"]> },
  presented: PresentedCredentials,
  deps: AuthenticationDeps,
): Promise<Caller> {
  if (credentials.length === 0) return { kind: "public" };
  const { sdkKey, bearer } = presented;
  const bySdkKey = sdkKey !== undefined && credentials.includes("sdk") ? await sdkCaller(sdkKey, deps) : undefined;
  const accepted = { credentials, isOptional: bySdkKey !== undefined };
  const byBearer = bearer === undefined ? undefined : await bearerCaller(bearer, accepted, deps);
  if (bySdkKey && byBearer && bySdkKey.workspace.tenant !== byBearer.workspace.tenant) throw unauthorized();
  const caller = bySdkKey ?? byBearer;
  if (caller) return caller;
  if (sdkKey !== undefined && forbidden.includes("sdk") && (await sdkCaller(sdkKey, deps)))
    throw new ApiError("FORBIDDEN", "A client key may not call this endpoint.");
  throw unauthorized();
}

async function bearerCaller(
  bearer: string,
  { credentials, isOptional }: { credentials: readonly Credential[]; isOptional: boolean },
  deps: AuthenticationDeps,
): Promise<Exclude<Caller, { kind: "public" }> | undefined> {
  if (bearer.startsWith("service_srv_")) {
    if (credentials.includes("server")) return serverCaller(bearer, deps);
  } else if (bearer.startsWith("service_mcp_")) {
    if (credentials.includes("agent")) return agentCaller(bearer, deps);
  } else if (credentials.includes("dashboard")) return dashboardCaller(bearer, deps);
  if (isOptional) return undefined;
  throw unauthorized();
}

type CallerOf<K extends Caller["kind"]> = Extract<Caller, { kind: K }>;

async function sdkCaller(key: string, { secrets, platform }: AuthenticationDeps): Promise<CallerOf<"sdk">> {
  const tenant = await tenantOfSdkKey(key, secrets);
  if (!tenant) throw unauthorized();
  return { kind: "sdk", workspace: await workspaceBy(platform, tenant) };
}

async function serverCaller(key: string, { platform }: AuthenticationDeps): Promise<CallerOf<"server">> {
  if (!SERVER_KEY.test(key)) throw unauthorized();
  const hash = hashOf(key);
  const row = await platform.get(ServerCredential, { hash });
  if (!row || row.revoked_at || row.kind !== "server") throw unauthorized();
  const { scopes, explicit } = row;
  return { kind: "server", scopes, explicit, ...(await keyHolder(platform, hash, row)) };
}

/** The caller of an agent key, which ends by its date or by revocation (ATH-R9). */
async function agentCaller(key: string, { platform, clock }: AuthenticationDeps): Promise<CallerOf<"agent">> {
  if (!AGENT_KEY.test(key)) throw unauthorized();
  const hash = hashOf(key);
  const row = await platform.get(AgentCredential, { hash });
  if (!row || row.revoked_at || Date.parse(row.expires_at) <= clock.now()) throw unauthorized();
  return { kind: "agent", scopes: row.scopes, ...(await keyHolder(platform, hash, row)) };
}

async function dashboardCaller(
  token: string,
  { platform, tokens, clock }: AuthenticationDeps,
): Promise<CallerOf<"dashboard">> {
  const claims = await tokens.verify(token, clock.now());
  if (!claims) throw unauthorized();
  const { sub: user, session } = claims;
  const rows = [
    ref(WorkspaceItem, { tenant: claims.tid }),
    ref(MemberItem, { tenant: claims.agency ?? claims.tid, user }),
  ] as const;
  const [[workspace, member, begun], agency] = await Promise.all([
    session === undefined
      ? platform.getEach(rows)
      : platform.getEach([...rows, ref(UserSession, { user, id: session })]),
    claims.agency === undefined ? undefined : platform.get(WorkspaceItem, { tenant: claims.agency }),
  ]);
  if (!workspace || !member || (session !== undefined && !begun)) throw unauthorized();
  if (begun && (begun.expires * SECOND <= clock.now() || !isOfMembership(member, begun.created_at)))
    throw unauthorized();
  if (begun && hasLostProvider(begun, [workspace, agency])) throw unauthorized();
  if (claims.agency !== undefined && !(agency && opensClients(agency, session))) throw unauthorized();

  const { email, name, role, unconfirmed: isUnconfirmed = false } = member;
  if (!roles.includes(role)) throw unauthorized();
  const isAtProvider = (row: WorkspaceRow | undefined) =>
    begun?.provided !== undefined && row?.id === begun.provided && row.sign_in_client === begun.provider;
  const demanding = session === undefined ? [] : [workspace, agency].filter((row) => row?.sign_in_required === true);
  const narrowed = claims.narrowed ?? (claims.ro && claims.role !== "viewer");
  const hasSecondFactor = begun?.second_factor === true;
  // A session that began at a provider has the provider's second factor: it is not valid for a workspace with another
  // provider.
  const isOwnFactor = hasSecondFactor && begun.until === undefined;
  return {
    kind: "dashboard",
    workspace: workspaceOfRow(workspace),
    user,
    email,
    name,
    role,
    readOnly: narrowed || role === "viewer",
    narrowed,
    isUnconfirmed,
    secondFactor: {
      isProven: hasSecondFactor,
      isOwn: isOwnFactor,
      isDemanded: workspace.second_factor_required === true || agency?.second_factor_required === true,
    },
    provider: {
      isOwn: begun?.provided !== undefined,
      isDemanded: demanding.length > 0,
      isCurrent: isAtProvider(workspace),
      isProven: demanding.every(isAtProvider) || opensWithoutProvider(role, isOwnFactor),
    },
    ...(session !== undefined && { session }),
    ...(claims.agency !== undefined && { agency: claims.agency }),
  };
}

/**
 * Whether an agency opens the workspaces of its clients. Members lose them at once when the agency is suspended,
 * deleted or no longer an agency. A token without a session is from a test, and may name any workspace as the agency.
 */
const opensClients = (agency: WorkspaceRow, session: string | undefined): boolean =>
  session === undefined ? agency.status === "active" : keepsClients(agency);

/**
 * Whether a session began after its user became a member: a member who was removed and returns cannot use an older
 * session.
 */
export const isOfMembership = ({ created_at }: { created_at: string }, begunAt: string): boolean =>
  begunAt >= created_at;

/** The workspace with this id. @throws 401 if it is deleted */
async function workspaceBy(platform: AuthenticationDeps["platform"], tenant: string): Promise<Workspace> {
  const row = await platform.get(WorkspaceItem, { tenant });
  if (!row) throw unauthorized();
  return workspaceOfRow(row);
}

const keyHolder = async (
  platform: AuthenticationDeps["platform"],
  hash: string,
  { id, tenant, last_used_at: at }: { id: string; tenant: string; last_used_at?: string | undefined },
): Promise<KeyHolder> => ({
  workspace: await workspaceBy(platform, tenant),
  key: id,
  hash,
  usedAt: at === undefined ? Number.NEGATIVE_INFINITY : Date.parse(at),
});

const workspaceOfRow = (row: WorkspaceRow): Workspace => ({
  tenant: row.id,
  name: row.name ?? "",
  plan: row.plan,
  status: row.status,
  kind: row.kind,
  currency: row.currency ?? null,
  sendCap: row.monthly_send_cap ?? null,
  sending: sendingSettingsOf(row),
  time: row,
  identity: {
    isDemanded: row.identity_required === true,
    keys: row.identity_keys === undefined ? [] : fromJson(row.identity_keys).map(({ id }) => id),
  },
  isApprovalRequired: row.approval_required === true,
  agentAttributes: row.agent_attributes ?? [],
});
