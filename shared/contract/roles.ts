// Roles, permissions and scopes, in one table each (D-TEAM, D-SCOPE, D-MCP).

export const roles = ["owner", "admin", "marketer", "developer", "analyst", "viewer"] as const;
export type Role = (typeof roles)[number];

/** Permission → the roles that hold it; every role may read. */
export const permissions = {
  "content:write": ["owner", "admin", "marketer"],
  send: ["owner", "admin", "marketer"],
  "subscribers:write": ["owner", "admin", "marketer", "developer"],
  "channels:write": ["owner", "admin", "developer"],
  "credentials:manage": ["owner", "admin", "developer"],
  "insights:write": ["owner", "admin", "marketer", "analyst"],
  "team:manage": ["owner", "admin"],
  "billing:manage": ["owner"],
} as const satisfies Record<string, readonly Role[]>;

export type Permission = keyof typeof permissions;

/** Permissions that need a confirmed email address, if the deployment requires one (ACC-4). */
export const confirmedPermissions: ReadonlySet<Permission> = new Set(["send", "credentials:manage"]);

export const scopes = [
  "events:write",
  "events:read",
  "subscribers:read",
  "subscribers:write",
  "messages:read",
  "messages:send",
  "hooks:read",
  "hooks:write",
  "test:write",
] as const;
export type Scope = (typeof scopes)[number];

/** Scopes that only a key created with them has: a key without scopes passes the checks of all others. */
export const optInScopes: ReadonlySet<Scope> = new Set(["subscribers:write", "messages:read", "messages:send"]);

/** The scopes of an agent key (D-MCP). */
export const agentScopes = ["read", "read:pii", "write:drafts", "write:send"] as const;
export type AgentScope = (typeof agentScopes)[number];

/** The permission that a member needs to give a key this scope: a key never has more rights than its creator. */
export const permissionOfScope: { readonly [S in Scope | AgentScope]?: Permission } = {
  "messages:send": "send",
  "write:drafts": "content:write",
  "write:send": "send",
  "test:write": "credentials:manage",
};

export function holds(role: Role, permission: Permission): boolean {
  const holders: readonly Role[] = permissions[permission];
  return holders.includes(role);
}

/** Only an owner invites an owner. */
export const mayInvite = (inviter: Role, role: Role): boolean =>
  holds(inviter, "team:manage") && (role !== "owner" || inviter === "owner");
