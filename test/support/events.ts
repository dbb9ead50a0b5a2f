// Events for tests: sent by either tier, and exported whole.
import type { Answer, Tenant, TestWorld } from "./world.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came back
type Json = any;

export const ingest = (
  world: TestWorld,
  tenant: Tenant,
  body: object,
  tier: "sdk" | "server" = "server",
): Promise<Answer> => world.call("POST /v1/events", { as: tenant[tier], body });

/** How many events count for the bill of the period. */
export const paidEvents = async (tenant: Tenant): Promise<number> =>
  (await tenant.call("GET /api/v1/billing")).body.usage.events;

/** As many events of anonymous visitors, or as `of` says. */
export const someEvents = (count: number, of: (n: number) => object = () => ({})): object[] =>
  Array.from({ length: count }, (_, n) => ({ event_name: "seen", anonymous_id: `visitor-${n}`, ...of(n) }));

export const identify = (
  world: TestWorld,
  tenant: Tenant,
  anonymous_id: string,
  subscriber_id: string,
): Promise<Answer> => world.call("POST /v1/events/identify", { as: tenant.sdk, body: { anonymous_id, subscriber_id } });

export async function exportPage(world: TestWorld, tenant: Tenant, query: Record<string, string> = {}): Promise<Json> {
  const search = new URLSearchParams(query).toString();
  const { status, body } = await world.call(`GET /v1/events/export?${search}`, { as: tenant.server });
  if (status !== 200) throw new Error(`The export was refused: ${JSON.stringify(body)}`);
  return body;
}

/** Every event up to now, page by page; `between` runs after each page. */
export async function exportAll(
  world: TestWorld,
  tenant: Tenant,
  query: Record<string, string> = {},
  between: (page: number) => Promise<unknown> = async () => undefined,
): Promise<Json[]> {
  const items: Json[] = [];
  let cursor = "";
  for (let page = 0; ; page++) {
    const body = await exportPage(world, tenant, { ...query, ...(cursor && { cursor }) });
    items.push(...body.items);
    if (body.next_cursor === "") return items;
    cursor = body.next_cursor;
    await between(page);
  }
}
