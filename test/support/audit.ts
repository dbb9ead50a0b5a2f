// The audit trail in tests.
import { type AuditEntry, auditTrail } from "../../shared/store/audit/trail.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import { quickDeps } from "./people.ts";
import type { Headers, Tenant, TestWorld } from "./world.ts";

export interface Entry {
  id: string;
  at: string;
  action: string;
  actor: { type: string; id: string; name: string | null; role: string | null };
  subject: { kind: string; id: string; name: string | null } | null;
  target: string | null;
  outcome: string;
  dry_run: boolean;
  status: number | null;
  code: string | null;
  request_id: string;
  ip: string | null;
  sends: { count: number; from: string; to: string } | null;
}

/** What a test asks of the audit trail of a workspace. */
export function auditOf(world: TestWorld, tenant: Tenant) {
  const call = async (route: string, body?: object, as?: Headers) =>
    world.call(route, { as: as ?? (await tenant.dashboard()), ...(body && { body }) });
  const list = async (query = ""): Promise<Entry[]> => (await call(`GET /api/v1/audit${query}`)).body.items;
  const verify = async () => (await call("POST /api/v1/audit/verify", {})).body;
  const labels = async (query = "") => (await list(query)).map(({ action, outcome }) => `${action} ${outcome}`);
  return { call, list, verify, labels };
}

/** Adds entries of calls that ended well to the audit trail of a workspace, without the calls. */
export async function addEntries(world: TestWorld, tenant: Tenant, entries: readonly AuditEntry[]): Promise<void> {
  const deps = quickDeps(world);
  const trail = auditTrail.open(deps)(tenant.id);
  const owner = { tenant: tenant.id, secrets: secrets.open(deps)(tenant.id) };
  for (const entry of entries)
    await trail.record(
      owner,
      entry,
      async () => {},
      () => ({ status: 201 }),
    );
}
