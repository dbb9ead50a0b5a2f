// Who may call an endpoint, as its declaration says.
import type { AgentScope, Permission, Scope } from "../contract/roles.ts";
import type { Feature } from "../rules/plans.ts";

type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
export type Route = `${Method} /${string}`;

/**
 * `sdk` = X-SDK-Key; `server` = server key as bearer; `dashboard` = session token as bearer; `agent` = agent key as
 * bearer; none = public.
 */
export type Credential = "sdk" | "server" | "dashboard" | "agent";

/**
 * `session` is exempt from the read-only check (login, logout, refresh, switch). `own` changes the account of the caller
 * alone: a viewer may, a token that was made read-only may not.
 */
type Effect = "read" | "write" | "own" | "session";

export interface PresentedCredentials {
  sdkKey: string | undefined;
  bearer: string | undefined;
}

/** A request that is not parsed yet. */
export interface PresentingRequest {
  body: unknown;
  isBase64Encoded: boolean;
  /** Lower-cased names. */
  headers: Readonly<Record<string, string | undefined>>;
}

export interface Access {
  /** Any one of these is accepted; an empty list is a public endpoint. */
  credentials?: readonly Credential[];
  /** Credentials that are refused with 403 rather than 401 (AMB-28). */
  forbidden?: readonly Credential[];
  permission?: Permission;
  scope?: Scope;
  /** Default: GET and HEAD read, everything else writes. */
  effect?: Effect;
  feature?: Feature;
  /** Event ingestion may cache a valid credential for up to one minute (ATH-R6). */
  cachesCredentials?: boolean;
  /** Where the protocol of the endpoint puts the credential, if not in the usual headers. @throws 400 */
  presents?(request: PresentingRequest): PresentedCredentials;
  /** The endpoint is a tool of `/v1/mcp` for agent keys with this scope (docs/decisions/0037). */
  agents?: AgentScope;
  /** Needs a confirmed email address (ACC-4), as every endpoint of a permission to send or to manage credentials does. */
  isForConfirmed?: boolean;
  /** Credentials whose calls the audit trail leaves out, because they are many and leave records of their own. */
  unaudited?: readonly Credential[];
  /** Whether a body states a consent. The audit trail records such a call, also of the client SDK (F22). */
  consents?(body: unknown): boolean;
  /** The endpoint reads and writes users and their sessions: in a sandbox its time is real. */
  inRealTime?: boolean;
  /** Allowed in a suspended workspace: the bill and `/me` (D-TENANT). */
  openWhileSuspended?: boolean;
  /** Allowed in a session without the second factor that the workspace demands: the caller's own account (ACC-12). */
  openBeforeSecondFactor?: boolean;
}

/**
 * Options for calls about the caller's own account. They are open in a suspended workspace, and to a restricted
 * session.
 */
export const ofOwnAccount = {
  credentials: ["dashboard"],
  openWhileSuspended: true,
  openBeforeSecondFactor: true,
  inRealTime: true,
} as const satisfies Access;
