// What the list of a send's recipients says of each is what its totals count.
import { ask } from "./questions.ts";
import { receiptsOf } from "./receipts.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON came back
type Json = any;

const ROUTE = "GET /api/v1/notifications/{id}/recipients";

/** Compares the reasons of a job that has ended with those that its recipients are listed with. */
export async function checkReasons(
  world: SimWorld,
  tenant: Tenant,
  { id, counts, fail_reasons, skip_reasons }: Json,
  broken: (text: string, ...entities: string[]) => void,
): Promise<void> {
  if (counts.failed + counts.skipped === 0) return;
  const listed = { failed: new Map<string, Json[]>(), skipped: new Map<string, Json[]>() };
  let cursor = "";
  do {
    const query = { limit: "100", ...(cursor && { cursor }) };
    const { status, body } = await ask(world, tenant, ROUTE, { params: { id }, query });
    // Faults may not have ended yet.
    if (status !== 200) return;
    for (const one of body.items as Json[]) {
      const reasons = listed[(one.state === "uncertain" ? "failed" : one.state) as keyof typeof listed];
      if (one.reason !== null) reasons?.set(one.reason, [...(reasons.get(one.reason) ?? []), one.subscriber_id]);
    }
    cursor = body.next_cursor;
  } while (cursor);
  // A mail without an answer may turn out to have arrived. What is known of the erased is less than what was counted.
  const late = receiptsOf(world).filter(({ call }) => call.job === id).length;
  const own = [...world.ledger.people.values()].filter((person) => person.tenant === tenant.id);
  const erased = own.filter(({ erasingSince }) => erasingSince !== undefined).length;
  for (const [state, counted] of Object.entries({ failed: fail_reasons, skipped: skip_reasons }) as [
    keyof typeof listed,
    Record<string, number>,
  ][])
    for (const reason of new Set([...Object.keys(counted), ...listed[state].keys()])) {
      const found = listed[state].get(reason) ?? [];
      const missing = (counted[reason] ?? 0) - found.length;
      if (missing < -erased || missing > late + erased)
        broken(`job ${id} counts ${counted[reason]} ${state} by ${reason} and lists ${found.length}`, id, ...found);
    }
}
