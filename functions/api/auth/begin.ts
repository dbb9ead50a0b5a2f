// How every session of a user begins: by registration, login, switch, invitation or a new password.
import * as v from "valibot";
import { titled } from "../../../shared/contract/schemas.ts";
import { isOfMembership, opensWithoutProvider } from "../../../shared/http/authenticate.ts";
import { signInRequired } from "../../../shared/http/gates.ts";
import { tokenSigner } from "../../../shared/http/signing.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { closed, unauthorized } from "../../../shared/kernel/errors.ts";
import { platformWrite } from "../../../shared/store/context.ts";
import { ref } from "../../../shared/store/item.ts";
import { type Membership, membershipsOf, User } from "../../../shared/store/workspaces/identity.ts";
import { MemberItem } from "../../../shared/store/workspaces/identity-items.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import { beginSession, rotateRefreshToken } from "../../../shared/store/workspaces/refresh.ts";
import { hasLostProvider, type WorkspaceRow } from "../../../shared/store/workspaces/workspaces.ts";
import { AccessToken, bearer, ENDED } from "./tokens.ts";

export const Tokens = v.object({ ...AccessToken.entries, refresh_token: v.string() });
export const Session = titled("Session", {
  user: User,
  tenant: v.object({ id: v.string(), name: v.string(), plan: v.string(), role: v.string() }),
  ...Tokens.entries,
});

export const issuing = [platformWrite, tokenSigner] as const;
type IssuingContext = Context<typeof issuing>;

/** The request that a session begins with. */
interface Origin {
  headers: Readonly<Record<string, string | undefined>>;
  sourceIp: string;
}

interface SessionStart extends Membership {
  user: User;
  /**
   * The stored hash of the password that the user gave. If the password is changed at the same time, the new one wins.
   */
  password?: string;
  secondFactor?: boolean;
  /** The user proved a second factor of this service, not only one of an identity provider. */
  hasOwnFactor?: boolean;
  readOnly?: boolean;
  /** The session that this one is derived from. */
  parent?: string | undefined;
  /**
   * The session begins at the identity provider of the workspace or of the installation, whose second factors are not
   * ours.
   */
  byProvider?: { isEnrolled: boolean; of: "workspace" | "installation"; client: string } | undefined;
}

/**
 * Makes both tokens of a new session.
 * @throws 401 if the password was changed in the meantime; 403 if the workspace demands its identity provider
 */
export async function begin(
  { platform, signer }: IssuingContext,
  { headers, sourceIp }: Origin,
  {
    user,
    password,
    tenant,
    role,
    readOnly = false,
    parent,
    byProvider,
    secondFactor = false,
    hasOwnFactor = secondFactor && byProvider === undefined,
  }: SessionStart,
): Promise<v.InferInput<typeof Session>> {
  const workspace = requireOpen(await platform.get(WorkspaceItem, { tenant }));
  const { name = "", plan } = workspace;
  const isOwn = byProvider?.of === "workspace";
  const { sign_in_client: provider } = workspace;
  if (isOwn && provider !== byProvider.client) throw unauthorized("The identity provider has changed meanwhile.");
  if (workspace.sign_in_required && !isOwn && !opensWithoutProvider(role, hasOwnFactor)) throw signInRequired();
  const session = await beginSession(platform, {
    user: user.id,
    tenant,
    readOnly,
    device: deviceOf(headers["user-agent"] ?? ""),
    address: sourceIp,
    ...(password !== undefined && { login: { email: user.email, password, isEnrolled: byProvider?.isEnrolled } }),
    ...(isOwn && { provided: tenant, provider }),
    isProvided: byProvider !== undefined,
    secondFactor,
    parent,
  });
  if (!session) throw unauthorized("The session or the password has ended meanwhile. Log in again.");
  const access_token = await signer.accessToken({ user: user.id, tenant, role, readOnly, session: session.id });
  return { user, tenant: { id: tenant, name, plan, role }, ...bearer(access_token), refresh_token: session.token };
}

/**
 * Makes the access token of a session that continues, and its next refresh token.
 * @param of the workspace that the session must belong to; left out: any
 * @throws 401 for a token that is no longer valid, 403 for a deleted workspace
 */
export async function goOn({ platform, signer }: IssuingContext, token: string, of?: string) {
  const session = await rotateRefreshToken(platform, token);
  if (!session || (of !== undefined && session.tenant !== of)) throw unauthorized(ENDED);
  const { id, user, tenant, readOnly, begunAt, provided, provider } = session;
  const [workspace, member] = await platform.getEach([
    ref(WorkspaceItem, { tenant }),
    ref(MemberItem, { tenant, user }),
  ]);
  if (!member || !isOfMembership(member, begunAt)) throw unauthorized(ENDED);
  if (hasLostProvider({ provided, provider, created_at: begunAt }, [workspace])) throw unauthorized(ENDED);
  requireOpen(workspace);
  const subject = { user, tenant, role: member.role, session: id, ...(readOnly && { readOnly }) };
  return { ...bearer(await signer.accessToken(subject)), refresh_token: session.token };
}

interface SignInOptions {
  /** The workspace that the request names; undefined: any. */
  named?: string | undefined;
  hasOwnFactor: boolean;
}

/**
 * Finds a membership of a user: in the workspace that is named, else in the first open one. Workspaces that do not
 * demand an identity provider come first.
 * @throws 401 without a membership
 */
export async function firstOpen(
  platform: IssuingContext["platform"],
  user: string,
  { named, hasOwnFactor }: SignInOptions,
): Promise<Membership & { workspace: string }> {
  const memberships = (await membershipsOf(platform, user)).filter(
    ({ tenant }) => named === undefined || tenant === named,
  );
  if (memberships.length === 0) throw unauthorized("The user belongs to no such workspace.");
  const keys = memberships.map(({ tenant }) => ({ tenant }));
  const workspaces = await platform.getAll(WorkspaceItem, keys);
  const open = memberships.flatMap((membership, at) => {
    const workspace = workspaces[at];
    if (!workspace || workspace.status === "deleted") return [];
    const opens = !workspace.sign_in_required || opensWithoutProvider(membership.role, hasOwnFactor);
    return [{ ...membership, workspace: workspace.name ?? "", opens }];
  });
  const first = open.find(({ opens }) => opens) ?? open[0];
  if (!first) throw closed();
  const { opens: _, ...found } = first;
  return found;
}

/** ERR-7: no session begins or is refreshed in a deleted workspace. */
function requireOpen(workspace: WorkspaceRow | undefined): WorkspaceRow {
  if (!workspace || workspace.status === "deleted") throw closed();
  return workspace;
}

const MAX_DEVICE_CHARACTERS = 80;
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\bChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/\biPhone\b|\biPad\b/, "iOS"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

const nameIn = (names: readonly [RegExp, string][], text: string) => names.find(([sign]) => sign.test(text))?.[1];

/**
 * The name of a session's device, from its user agent: `Firefox on Windows`, or the name that another client gives
 * itself.
 */
function deviceOf(userAgent: string): string {
  const plain = userAgent.replaceAll(/[^ -~]/g, "").trim();
  const browser = nameIn(browsers, plain);
  const system = nameIn(systems, plain);
  if (browser && system) return `${browser} on ${system}`;
  return plain.slice(0, MAX_DEVICE_CHARACTERS) || "unknown";
}
