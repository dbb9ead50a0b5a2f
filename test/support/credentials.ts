// Every kind of credential of a request, and what the declarations say about it.
import { agentScopes, holds, type Role, type Scope, scopes } from "../../shared/contract/roles.ts";
import type { Credential } from "../../shared/http/access.ts";
import type { Endpoint } from "../../shared/http/endpoint.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import type { PlanName } from "../../shared/rules/plans.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { createAgentKey, createServerKey, revokeKey } from "../../shared/store/workspaces/keys.ts";
import { changeWorkspace } from "../../shared/store/workspaces/workspaces.ts";
import type { Answer, Headers, Tenant, TestWorld } from "./world.ts";

export interface PresentedCredential {
  name: string;
  headers: Headers;
  /** What it is, if it is good at all. */
  kind?: Credential;
  role?: Role;
  readOnly?: boolean;
  status?: "suspended" | "deleted";
  /** The scopes of a server key that was made with explicit ones. */
  scopes?: readonly Scope[];
  plan?: PlanName;
}

/** The scopes that a key without explicit ones lacks (BKS-1). */
const OPT_IN: readonly Scope[] = ["subscribers:write", "messages:read", "messages:send"];

const respell = (key: string) => `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`;

export const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

/** That of the session that an answer began. */
export const bearerOf = ({ body }: Pick<Answer, "body">): Headers => bearer(body.access_token);

/** All credentials of one workspace, good and bad, in the order a reader would try them. */
export async function everyCredential(world: TestWorld, tenant: Tenant): Promise<PresentedCredential[]> {
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  const token = (await tenant.dashboard()).authorization!.slice(7);
  const revoked = await createServerKey(tenant.store, platform, { name: "revoked" });
  await revokeKey(tenant.store, platform, "server", revoked.id);
  const [header, claims, signature] = token.split(".") as [string, string, string];
  const unsigned = `${Buffer.from(JSON.stringify({ alg: "none", typ: "JWT" })).toString("base64url")}.${claims}.`;
  const agentOf = async ({ store }: Tenant): Promise<Headers> =>
    bearer((await createAgentKey(store, platform, { name: "agent", scopes: agentScopes, days: 1 })).key);
  const closed = async (status: "suspended" | "deleted", kind: Credential): Promise<PresentedCredential> => {
    const other = await world.tenant();
    const headers = {
      sdk: other.sdk,
      server: other.server,
      dashboard: await other.dashboard(),
      agent: await agentOf(other),
    }[kind];
    await changeWorkspace(platform, other.id, { status });
    return { name: `${kind} of a ${status} workspace`, kind, role: "owner", status, headers };
  };
  const roles = ["admin", "marketer", "developer", "analyst", "viewer"] as const;
  return [
    { name: "nothing", headers: {} },
    { name: "an empty bearer", headers: { authorization: "Bearer " } },
    { name: "a garbage bearer", headers: bearer("garbage") },
    { name: "basic authentication", headers: { authorization: "Basic b3duZXI6cGFzc3dvcmQ=" } },
    { name: "an SDK key with a wrong signature", headers: { "x-sdk-key": respell(tenant.sdkKey) } },
    { name: "an SDK key as bearer", headers: bearer(tenant.sdkKey) },
    { name: "a server key in X-SDK-Key", headers: { "x-sdk-key": tenant.serverKey } },
    { name: "an unknown server key", headers: bearer(respell(tenant.serverKey)) },
    { name: "a revoked server key", headers: bearer(revoked.key) },
    { name: "an unknown agent key", headers: bearer(`service_mcp_${"a".repeat(32)}`) },
    { name: "an agent key", kind: "agent", headers: await agentOf(tenant) },
    { name: "an unsigned token", headers: bearer(unsigned) },
    { name: "a token with another signature", headers: bearer(`${header}.${claims}.${signature.replace(/^./, "_")}`) },
    { name: "an SDK key", kind: "sdk", headers: tenant.sdk },
    { name: "a server key", kind: "server", headers: tenant.server },
    {
      name: "a server key of other scopes",
      kind: "server",
      scopes: ["hooks:read"],
      headers: await tenant.backend("hooks:read"),
    },
    { name: "a server key of all scopes", kind: "server", scopes, headers: await tenant.backend() },
    { name: "an owner", kind: "dashboard", role: "owner", headers: bearer(token) },
    ...(await Promise.all(
      roles.map(
        async (role): Promise<PresentedCredential> => ({
          name: `a${role.match(/^a/) ? "n" : ""} ${role}`,
          kind: "dashboard",
          role,
          readOnly: role === "viewer",
          headers: await tenant.dashboard(role),
        }),
      ),
    )),
    {
      name: "a read-only owner",
      kind: "dashboard",
      role: "owner",
      readOnly: true,
      headers: await tenant.dashboard("owner", { readOnly: true }),
    },
    await closed("suspended", "sdk"),
    await closed("suspended", "server"),
    await closed("suspended", "dashboard"),
    await closed("suspended", "agent"),
    await closed("deleted", "sdk"),
    await closed("deleted", "server"),
    await closed("deleted", "dashboard"),
    await closed("deleted", "agent"),
  ];
}

/**
 * The refusal that a declaration demands, in the one order of checks (docs/decisions/0021#order-of-checks), or
 * undefined if it lets in.
 */
export function refusalOf(
  { access }: Pick<Endpoint, "access">,
  presented: PresentedCredential,
): { status: number; code: string } | undefined {
  const { credentials, forbidden, permission, scope, effect, openWhileSuspended } = access;
  if (credentials.length === 0) return undefined;
  const { kind, status, role, readOnly, scopes: held } = presented;
  if (kind && forbidden.includes(kind)) return { status: 403, code: "FORBIDDEN" };
  if (!kind || !credentials.includes(kind)) return { status: 401, code: "UNAUTHORIZED" };
  if (status === "deleted") return { status: 403, code: "TENANT_DELETED" };
  if (status === "suspended" && effect !== "session" && !openWhileSuspended)
    return { status: 403, code: "TENANT_SUSPENDED" };
  if (readOnly && (effect === "write" || (effect === "own" && role !== "viewer")))
    return { status: 403, code: "READ_ONLY_TOKEN" };
  if (permission && kind === "dashboard" && !holds(role!, permission)) return { status: 403, code: "FORBIDDEN" };
  if (scope && kind === "server" && !(held?.includes(scope) ?? !OPT_IN.includes(scope)))
    return { status: 403, code: "FORBIDDEN" };
  return undefined;
}

/** Calls an endpoint with every credential that it refuses. @returns what was refused otherwise than declared. */
export async function wrongRefusals(
  world: TestWorld,
  endpoint: Endpoint,
  all: readonly PresentedCredential[],
  target: string,
): Promise<{ presented: string; expected: object; status: number; code: string }[]> {
  const wrong = [];
  for (const presented of all) {
    const expected = refusalOf(endpoint, presented);
    if (!expected) continue;
    const body = endpoint.shape.body && { body: {} };
    const { status, body: answer } = await world.call(target, { as: presented.headers, ...body });
    const { code } = answer;
    if (status !== expected.status || code !== expected.code)
      wrong.push({ presented: presented.name, expected, status, code });
  }
  return wrong;
}
