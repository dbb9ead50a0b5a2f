// What clients of the dashboard do with campaigns and conversions, and what people buy.
import { MINUTE, timestamp } from "../../shared/clock.ts";
import { insist, insistOpen } from "./actors.ts";
import type { Answer } from "./front-door.ts";
import type { Campaign, Definition, Person } from "./ledger.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

const ROUTE = "/api/v1/campaigns";

/** The id of a channel of a type: every workspace has an in-app channel. */
export async function channelOf(world: SimWorld, tenant: Tenant, type: string): Promise<string> {
  const { body } = await insistOpen(world, tenant, "dashboard", "GET /api/v1/channels", {});
  return body.channels.find((channel: { type: string }) => channel.type === type).id;
}

/** Creates a campaign and releases it. @returns undefined if it was refused. */
export async function releaseCampaign(world: SimWorld, tenant: Tenant, body: object): Promise<Campaign | undefined> {
  const made = await insist(world, tenant, "dashboard", `POST ${ROUTE}`, { body });
  if (made.status !== 201) return undefined;
  const { id } = made.body;
  world.name(id, `campaign-${world.ledger.campaigns.size + 1}`);
  const campaign: Campaign = { tenant: tenant.id, id, jobs: [] };
  world.ledger.campaigns.set(id, campaign);
  const request = { params: { id } };
  await insist(world, tenant, "dashboard", `POST ${ROUTE}/{id}/release`, request);
  const { body: shown } = await insist(world, tenant, "dashboard", `GET ${ROUTE}/{id}`, request);
  for (const { job_id } of shown?.messages ?? []) if (job_id) campaign.jobs.push(job_id);
  return campaign;
}

/** Pauses, resumes, archives or unarchives. An answered pause is a promise until the next resumption is asked for. */
export async function actOnCampaign(
  world: SimWorld,
  tenant: Tenant,
  campaign: Campaign,
  action: "pause" | "resume" | "archive" | "unarchive",
): Promise<Answer> {
  const holds = action === "pause" || action === "archive";
  if (!holds) delete campaign.heldSince;
  const request = { params: { id: campaign.id }, body: { action } };
  const answer = await insist(world, tenant, "dashboard", `PATCH ${ROUTE}/{id}`, request);
  if (holds && answer.status === 200) campaign.heldSince = world.kernel.now();
  return answer;
}

/** Says what counts as a conversion, before anything is sent. */
async function defineConversion(world: SimWorld, tenant: Tenant, definition: Definition): Promise<void> {
  const body = {
    event_name: definition.event,
    value_property: "cents",
    window_seconds: definition.windowMs / 1_000,
  };
  const { status } = await insist(world, tenant, "dashboard", "POST /api/v1/insights/config", { body });
  if (status === 204) world.ledger.definitions.set(tenant.id, definition);
}

/** Somebody buys something, perhaps told twice. */
async function buy(world: SimWorld, tenant: Tenant, person: Person, ago: number): Promise<void> {
  const { kernel, random, ledger } = world;
  const definition = ledger.definitions.get(tenant.id);
  if (!definition) return;
  const at = kernel.now() - ago;
  const cents = random.between(1, 9_000);
  const body = {
    event_name: definition.event,
    idempotency_key: `purchase-${random.bytes(6).toString("hex")}`,
    subscriber_id: person.id,
    properties: { cents },
    occurred_at: timestamp(at),
  };
  const tell = () => insist(world, tenant, "sdk", "POST /v1/events", { body });
  const answers = await Promise.all(random.chance(0.2) ? [tell(), tell()] : [tell()]);
  if (answers.some(({ status }) => status === 202))
    ledger.purchases.push({ tenant: tenant.id, person: person.id, event: definition.event, at, cents });
}

/** In some worlds people buy, before, during and after what is sent. */
export function withPurchases(world: SimWorld, tenant: Tenant, people: readonly Person[], busyMs: number): void {
  const { random } = world;
  if (random.chance(0.4)) return;
  world.act(0, () => defineConversion(world, tenant, { event: "bought", windowMs: random.pick([3, 10, 60]) * MINUTE }));
  for (let n = random.between(2, 2 * people.length); n > 0; n--) {
    const ago = random.chance(0.2) ? random.between(0, 20 * MINUTE) : 0;
    world.act(random.between(MINUTE, 2 * busyMs), () => buy(world, tenant, random.pick(people), ago));
  }
}
