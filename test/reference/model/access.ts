// Who may call what: rules 1 to 12 of Authentication, D-TEAM, D-SCOPE.
import { type Answer, type Body, type Credential, Refusal, type Request } from "./kit.ts";
import type { World } from "./world.ts";

type Permission =
  | "content:write"
  | "send"
  | "subscribers:write"
  | "channels:write"
  | "credentials:manage"
  | "insights:write"
  | "team:manage"
  | "billing:manage";

export interface Operation {
  route: string;
  who: readonly Credential["kind"][];
  /** Of a dashboard token. A route without one is a read, or open to every role. */
  permission?: Permission;
  /** Of a server key made with explicit scopes. */
  scope?: string;
  /** A dashboard token that may only read is refused. */
  write?: boolean;
  /** Refuses by plan before the body is looked at. */
  plan?: (world: World) => void;
  run(world: World, request: Request, params: Record<string, string>): Answer;
}

const everyone = ["owner", "admin", "marketer"];

/** D-TEAM: who holds which permission. */
const HOLDERS: Record<Permission, readonly string[]> = {
  "content:write": everyone,
  send: everyone,
  "subscribers:write": [...everyone, "developer"],
  "channels:write": ["owner", "admin", "developer"],
  "credentials:manage": ["owner", "admin", "developer"],
  "insights:write": [...everyone, "analyst"],
  "team:manage": ["owner", "admin"],
  "billing:manage": ["owner"],
};

/** Scopes that a key without explicit scopes lacks (api-additions: none by default). */
const OPT_IN = ["subscribers:write", "messages:send", "messages:read"];

export function admit(world: World, operation: Operation, { as }: Request): void {
  // AMB-28: an SDK key where only a server key may read is told so; any other wrong kind is no credential at all.
  if (as.kind === "sdk" && operation.route === "GET /v1/events/export") throw new Refusal(403, { code: "FORBIDDEN" });
  if (!operation.who.includes(as.kind)) throw new Refusal(401, { code: "UNAUTHORIZED" });

  // ATH-3, D-TEAM: the token of a viewer may only read.
  const isReadOnly = as.kind === "dashboard" && (as.readOnly === true || as.role === "viewer");
  if (isReadOnly && operation.write) throw new Refusal(403, { code: "READ_ONLY_TOKEN" });

  const { permission, scope } = operation;
  if (as.kind === "dashboard" && permission && !HOLDERS[permission].includes(as.role ?? "owner"))
    throw new Refusal(403, { code: "FORBIDDEN" });

  // AMB-27: a key made without explicit scopes passes on the surfaces of rule 4.
  if (as.kind === "server" && scope) {
    const holds = as.scopes ? as.scopes.includes(scope) : !OPT_IN.includes(scope);
    if (!holds) throw new Refusal(403, { code: "FORBIDDEN" });
  }
  operation.plan?.(world);
}

const dashboard = ["dashboard"] as const;

export const ok = (body?: Body): Answer => ({ status: 200, body });
export const created = (body: Body): Answer => ({ status: 201, body });

/** A read of the dashboard: open to every role. */
export const read = (route: string, run: Operation["run"]): Operation => ({ route, who: dashboard, run });

/** A write of the dashboard under a permission. */
export const write = (route: string, permission: Permission, run: Operation["run"]): Operation => ({
  ...{ route, who: dashboard, permission, write: true, run },
});
