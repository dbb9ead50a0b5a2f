// The audit trail is whole after crashes and faults, and has every send that was answered.
import type { Invariant } from "../invariant.ts";
import { ask } from "../questions.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

export const auditTrail: Invariant = {
  name: "audit-trail",
  watch: (world, broken) => ({
    end: async () => {
      for (const tenant of world.ledger.tenants.values()) {
        const { status, body } = await ask(world, tenant, "POST /api/v1/audit/verify", { body: {} });
        // A closed workspace answers nothing.
        if (status !== 200) continue;
        if (!body.valid) broken(`the audit trail is broken: ${JSON.stringify(body.broken)}`, tenant.id);
        const found = await recorded(world, tenant);
        // Faults may not have ended yet.
        if (!found) continue;
        const { targets, unknown } = found;
        const missing = [...world.ledger.byJob].filter(([job, send]) => send.tenant === tenant.id && !targets.has(job));
        for (const [job] of missing.slice(unknown)) broken(`send ${job} is not in the audit trail`, job, tenant.id);
      }
    },
  }),
};

/** What the trail says of sends: their ids, and how many calls have no outcome. */
async function recorded(world: SimWorld, tenant: Tenant) {
  const targets = new Set<string>();
  let unknown = 0;
  for (let cursor: string | undefined; cursor !== ""; ) {
    const query = { action: "notifications.create", limit: "100", ...(cursor && { cursor }) };
    const { status, body } = await ask(world, tenant, "GET /api/v1/audit", { query });
    if (status !== 200) return undefined;
    for (const { target, outcome } of body.items)
      if (outcome === "unknown") unknown++;
      else if (target) targets.add(target);
    cursor = body.next_cursor;
  }
  return { targets, unknown };
}
