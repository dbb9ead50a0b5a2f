// The gates between a credential and a handler, each with the refusal the specification gives it.
import type { APIGatewayProxyEventV2 } from "aws-lambda";
import {
  type AgentScope,
  confirmedPermissions,
  holds,
  optInScopes,
  type Permission,
  permissionOfScope,
  type Scope,
} from "../contract/roles.ts";
import { MINUTE } from "../kernel/clock.ts";
import type { Context } from "../kernel/deps.ts";
import { ApiError, closed } from "../kernel/errors.ts";
import { plans, requireFeature } from "../rules/plans.ts";
import type { Platform } from "../store/context.ts";
import { minuteOf } from "../store/platform-items.ts";
import { RequestCount, UserItem } from "../store/workspaces/identity-items.ts";
import type { Access } from "./access.ts";
import type { Caller, Workspace } from "./authenticate.ts";
import type { Endpoint } from "./endpoint.ts";
import { type RequestTokens, tokensToTake } from "./request-tokens.ts";
import { type CountDone, linkOf, unitsOf } from "./sdk-limits.ts";
import type { servingUses } from "./serving.ts";

type Event = APIGatewayProxyEventV2;
type GateContext = Pick<
  Context<typeof servingUses>,
  "platform" | "requestTokens" | "sdkLimits" | "demandsConfirmation"
> & { addressOf(event: Event): string };

/** A request of a known caller. `countDone` is set as soon as it is known, so that a refusal is counted as well. */
interface KnownRequest {
  caller: Caller;
  event: Event;
  countDone?: CountDone;
}

/** The gates for a known caller, in this order, before the request is parsed. */
export const gatesOf =
  (
    { route, access }: Pick<Endpoint, "route" | "access">,
    { platform, requestTokens, sdkLimits, demandsConfirmation, addressOf }: GateContext,
  ) =>
  async (request: KnownRequest): Promise<void> => {
    const { caller, event } = request;
    await limitRequests(caller, platform, requestTokens);
    const units = unitsOf(event.requestContext.http.method, Buffer.byteLength(event.body ?? ""));
    const link = linkOf(route, units);
    request.countDone = await sdkLimits.count({ caller, link, address: () => addressOf(event), units }, platform);
    requireWorkspace(caller, access);
    requireProvider(caller, access);
    requireSecondFactor(caller, access);
    requireWritable(caller, access);
    requirePermission(caller, access.permission);
    requireScope(caller, access.scope);
    await requireConfirmed(caller, access, platform, demandsConfirmation);
    if (access.feature && caller.kind !== "public") requireFeature(caller.workspace.plan, access.feature);
  };

/** How long a counter is kept after its window. */
const KEPT_SECONDS = 300;

/**
 * Counts requests in a fixed one-minute window per workspace, for dashboard tokens and agent keys (LIM-1 to LIM-3,
 * ERR-19, D-MCP). A busy environment counts several requests of the window by one write: the limit is never exceeded.
 */
export async function limitRequests(
  caller: Caller,
  platform: Pick<Platform, "change" | "clock">,
  tokens: RequestTokens,
): Promise<void> {
  if (caller.kind !== "dashboard" && caller.kind !== "agent") return;
  const { tenant, plan } = caller.workspace;
  const max = plans[plan].requestsPerMinute;
  const now = platform.clock.now();
  const minute = minuteOf(now);
  const state = tokens.of(tenant, minute);
  state.used++;
  if (state.left > 0) {
    state.left--;
    return;
  }

  const wanted = tokensToTake(state, max);
  const counting = { add: { count: wanted }, set: { expires: (minute + 1) * 60 + KEPT_SECONDS } };
  const { count } = await platform.change(RequestCount, { tenant, minute }, counting);
  state.taken = Math.max(state.taken, count);
  const granted = Math.min(wanted, max - (count - wanted));
  if (granted > 0) {
    state.left += granted - 1;
    return;
  }

  const seconds = Math.max(1, Math.ceil(((minute + 1) * MINUTE - now) / 1_000));
  throw new ApiError("RATE_LIMITED", "rate limit exceeded", {
    body: { error: "rate limit exceeded", retry_after: seconds },
    headers: { "retry-after": String(seconds) },
  });
}

/**
 * Refuses a suspended or deleted workspace (ERR-6, ERR-7). A suspended one allows only sessions, the bill and `/me`.
 */
export function requireWorkspace(caller: Caller, { effect, openWhileSuspended = false }: Access): void {
  if (caller.kind === "public") return;
  const { status } = caller.workspace;
  if (status === "deleted") throw closed();
  if (status === "suspended" && effect !== "session" && !openWhileSuspended)
    throw new ApiError("TENANT_SUSPENDED", "This workspace is suspended.");
}

/** Refuses writes of read-only callers, by the declared effect and not by the method (ERR-9). */
function requireWritable(caller: Caller, { effect }: Pick<Access, "effect">): void {
  if (caller.kind === "dashboard" && caller.readOnly && effect === "write") throw readOnly();
  if (caller.kind === "dashboard" && caller.narrowed && effect === "own") throw readOnly();
}

const readOnly = () => new ApiError("READ_ONLY_TOKEN", "A read-only token may not write.");

function requirePermission(caller: Caller, permission: Permission | undefined): void {
  if (!permission || caller.kind !== "dashboard" || holds(caller.role, permission)) return;
  throw new ApiError("FORBIDDEN", `The role ${caller.role} lacks the permission ${permission}.`);
}

/**
 * Requires a second factor if the workspace demands it (ACC-12). A session without one reaches only the caller's own
 * account.
 */
export function requireSecondFactor(caller: Caller, access: Access): void {
  if (caller.kind !== "dashboard" || !caller.secondFactor.isDemanded || caller.secondFactor.isProven) return;
  if (!needsSecondFactor(access)) return;
  throw new ApiError("SECOND_FACTOR_MISSING", "This workspace demands a second factor. Set one up in your account.");
}

/**
 * Requires the provider of the workspace if it is demanded (ACC-17). Other sessions reach only the caller's own
 * account.
 */
export function requireProvider(caller: Caller, access: Access): void {
  if (caller.kind !== "dashboard" || !caller.provider.isDemanded || caller.provider.isProven) return;
  if (!needsSecondFactor(access)) return;
  throw signInRequired();
}

export const signInRequired = () =>
  new ApiError("SIGN_IN_REQUIRED", "This workspace is opened by its identity provider. Sign in there.");

export const needsSecondFactor = ({ effect, openBeforeSecondFactor = false }: Access): boolean =>
  effect !== "session" && !openBeforeSecondFactor;

/** Requires that a member's role has every scope it gives to a key (ATH-R5, AGT-1). @throws 403 */
export function requireOwnScopes(caller: Caller, scopes: readonly (Scope | AgentScope)[]): void {
  if (caller.kind !== "dashboard") return;
  for (const scope of scopes) {
    const permission = permissionOfScope[scope];
    if (permission && !holds(caller.role, permission))
      throw new ApiError(
        "FORBIDDEN",
        `The role ${caller.role} lacks the permission ${permission}, so it may not give ${scope}.`,
      );
  }
}

/** The most people in a one-off send if the workspace requires a second person (RDA-26, docs/decisions/0137). */
const MAX_ALONE = 100;

interface Audience {
  target?: unknown;
  subscriberIds?: unknown;
  external_ids?: unknown;
}

const isToMany = ({ target, subscriberIds, external_ids }: Audience): boolean =>
  target !== undefined || [subscriberIds, external_ids].some((ids) => Array.isArray(ids) && ids.length > MAX_ALONE);

/** Requires a campaign for a send to many, if the workspace requires a second person (RDA-26). @throws 403 */
export function requireFew({ isApprovalRequired }: Workspace, send: Audience): void {
  if (isApprovalRequired && isToMany(send))
    throw new ApiError(
      "APPROVAL_REQUIRED",
      `This workspace asks a second person before a send to an audience or to more than ${MAX_ALONE} people: make it a campaign.`,
    );
}

/**
 * Requires the agency plan (D-AGENCY). Existing client workspaces stay open on a smaller plan too (AMB-87). @throws 403
 * for a workspace that never was an agency
 */
export function requireAgencyPlan({ plan, kind }: Workspace): void {
  if (kind !== "agency") requireFeature(plan, "agency");
}

/**
 * Whether the address is unconfirmed. The user's row is read only for a member who had not confirmed it when joining
 * (ACC-4).
 */
export async function lacksConfirmation(
  caller: Caller,
  platform: Pick<Platform, "get">,
  isDemanded: boolean,
): Promise<boolean> {
  if (!isDemanded || caller.kind !== "dashboard" || !caller.isUnconfirmed) return false;
  const user = await platform.get(UserItem, { email: caller.email });
  return user?.confirmed_at === undefined;
}

/** Requires a confirmed address. @throws 403 */
async function requireConfirmed(
  caller: Caller,
  access: Pick<Access, "permission" | "isForConfirmed">,
  platform: Pick<Platform, "get">,
  isDemanded: boolean,
): Promise<void> {
  if (needsConfirmed(access) && (await lacksConfirmation(caller, platform, isDemanded)))
    throw new ApiError(
      "EMAIL_NOT_CONFIRMED",
      "Confirm your email address first: open the link that was mailed to you.",
    );
}

export const needsConfirmed = ({ permission, isForConfirmed = false }: Pick<Access, "permission" | "isForConfirmed">) =>
  isForConfirmed || (permission !== undefined && confirmedPermissions.has(permission));

/** Requires a scope. A key that was created without scopes passes (AMB-27), except for opt-in scopes (BKS-1). */
export function requireScope(caller: Caller, scope: Scope | undefined): void {
  if (!scope || caller.kind !== "server" || caller.scopes.includes(scope)) return;
  if (!caller.explicit && !optInScopes.has(scope)) return;
  throw new ApiError("FORBIDDEN", `This key lacks the scope ${scope}.`);
}
