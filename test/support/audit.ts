// The audit trail in tests.
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
