// Segments for tests: created as the owner, changed and read through the API.
import { ingest } from "./events.ts";
import { entriesOf } from "./pages.ts";
import { recountMembers } from "./recounts.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** A rule that subscribers of the plan "pro" match. */
export const pro = { attribute: { plan: { $eq: "pro" } } };

export const getSegment = async (tenant: Tenant, id: string) => (await tenant.call(`GET /api/v1/segments/${id}`)).body;

/** How many would match a rule. */
export const preview = (tenant: Tenant, rule: unknown) => tenant.call("POST /api/v1/segments/preview", rule);

let named = 0;

/** Creates a segment and lets it be computed. @returns its id. */
export async function segmentOf(
  world: TestWorld,
  tenant: Tenant,
  rule: object,
  { is_dynamic = true, name = `Segment ${++named}` } = {},
): Promise<string> {
  const { status, body } = await tenant.call("POST /api/v1/segments", { name, is_dynamic, rule });
  if (status !== 201) throw new Error(`The segment was refused: ${JSON.stringify(body)}`);
  await world.settle();
  return body.id;
}

/** External ids of the members, and that the count agrees with them. */
export async function membersOf(tenant: Tenant, id: string): Promise<string[]> {
  const listed = await entriesOf<{ external_id: string }>((page) =>
    tenant.call(`GET /api/v1/segments/${id}/members${page}`),
  );
  const members = listed.map(({ external_id }) => external_id);
  const { count } = await getSegment(tenant, id);
  const rows = await recountMembers(tenant.store, { kind: "segment", id });
  if (count !== members.length || rows !== members.length)
    throw new Error(`count ${count}, rows ${rows}, members ${members.length}`);
  return members.sort();
}

export async function upsert(world: TestWorld, tenant: Tenant, external_id: string, attributes: object = {}) {
  const { body } = await world.call("POST /api/v1/subscribers/upsert", {
    as: tenant.sdk,
    body: { external_id, attributes },
  });
  await world.settle();
  return body.id as string;
}

/** An event of a subscriber, by default now. */
export async function did(world: TestWorld, tenant: Tenant, subscriber_id: string, event: object): Promise<void> {
  const { status, body } = await ingest(world, tenant, { subscriber_id, ...event });
  if (status !== 202) throw new Error(`The event was refused: ${JSON.stringify(body)}`);
  await world.settle();
}
