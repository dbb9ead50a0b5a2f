// What clients of the dashboard do with campaigns and conversions, and what people buy.
import { MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { insist, insistOpen } from "./actors.ts";
import type { Answer } from "./front-door.ts";
import type { Definition, Person } from "./ledger.ts";
import type { Tenant } from "./tenants.ts";
import { ROUND_MS } from "./touches.ts";
import type { SimWorld } from "./world.ts";

const ROUTE = "/api/v1/campaigns";

/** A released campaign, as its owner knows it. */
export interface Campaign {
  tenant: string;
  id: string;
  jobs: string[];
  /** Since when nothing of it may be sent: a pause was answered, and no resumption was asked for since. */
  heldSince?: number;
  /** How many resumptions were asked for, and how many of them are not answered yet. */
  resumptions: { asked: number; open: number };
}

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
  const campaign: Campaign = { tenant: tenant.id, id, jobs: [], resumptions: { asked: 0, open: 0 } };
  world.ledger.campaigns.set(id, campaign);
  const request = { params: { id } };
  await insist(world, tenant, "dashboard", `POST ${ROUTE}/{id}/release`, request);
  const { body: shown } = await insist(world, tenant, "dashboard", `GET ${ROUTE}/{id}`, request);
  for (const { job_id } of shown?.messages ?? []) if (job_id) campaign.jobs.push(job_id);
  return campaign;
}

/**
 * Pauses, resumes, archives or unarchives. An answered pause is a promise until the next resumption is asked for. Of a pause
 * and a resumption that were under way together, either may be the last one.
 */
export async function actOnCampaign(
  world: SimWorld,
  tenant: Tenant,
  campaign: Campaign,
  action: "pause" | "resume" | "archive" | "unarchive",
): Promise<Answer> {
  const { resumptions } = campaign;
  const request = { params: { id: campaign.id }, body: { action } };
  const ask = () => insist(world, tenant, "dashboard", `PATCH ${ROUTE}/{id}`, request);
  if (action === "pause" || action === "archive") {
    const { asked, open } = resumptions;
    const answer = await ask();
    if (answer.status === 200 && open === 0 && asked === resumptions.asked) campaign.heldSince = world.kernel.now();
    return answer;
  }
  delete campaign.heldSince;
  resumptions.asked++;
  resumptions.open++;
  const answer = await ask();
  resumptions.open--;
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

/** Somebody buys before signing in: from then on the purchase is theirs. */
async function buyAndSignIn(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const { kernel, random, ledger } = world;
  const definition = ledger.definitions.get(tenant.id);
  if (!definition) return;
  const [at, cents] = [kernel.now(), random.between(1, 9_000)];
  const anonymous_id = `visitor-${random.bytes(4).toString("hex")}`;
  const event = { event_name: definition.event, anonymous_id, properties: { cents }, occurred_at: timestamp(at) };
  const idempotency_key = anonymous_id;
  const told = await insist(world, tenant, "sdk", "POST /v1/events", { body: { ...event, idempotency_key } });
  await kernel.sleep(random.between(2 * MINUTE, 5 * MINUTE));
  const body = { anonymous_id, subscriber_id: person.id };
  const { status } = await insist(world, tenant, "sdk", "POST /v1/events/identify", { body });
  if (told.status === 202 && status === 200)
    ledger.purchases.push({
      ...{ tenant: tenant.id, person: person.id, event: definition.event },
      ...{ at, cents, isAnonymous: true },
    });
}

/** In some worlds people buy, before, during and after what is sent. */
export function withPurchases(world: SimWorld, tenant: Tenant, people: readonly Person[], busyMs: number): void {
  const { random } = world;
  if (random.chance(0.4)) return;
  world.act(0, () => defineConversion(world, tenant, { event: "bought", windowMs: random.pick([3, 10, 60]) * MINUTE }));
  buyAtTouches(world, tenant, people);
  for (let n = random.between(0, 3); n > 0; n--)
    world.act(random.between(MINUTE, 2 * busyMs), () => buyAndSignIn(world, tenant, random.pick(people)));
  for (let n = random.between(2, 2 * people.length); n > 0; n--) {
    const ago = random.chance(0.2) ? random.between(0, 20 * MINUTE) : 0;
    world.act(random.between(MINUTE, 2 * busyMs), () => buy(world, tenant, random.pick(people), ago));
  }
}

/**
 * Trace points: somebody buys right after a message was handed over, while the worker's write of it is held up; or when
 * the window of a repeated try is about to end, and that of the first one has ended.
 */
function buyAtTouches(world: SimWorld, tenant: Tenant, people: readonly Person[]): void {
  const { random, ledger, profile, kernel } = world;
  const tries = new Map<string, number>();
  let [atOnce, atEnds] = [random.between(0, 2), 3];
  world.onProviderCall(({ job, subscriber, target, isRefusedForNow }) => {
    const person = people.find(({ id }) => id === subscriber);
    const definition = ledger.definitions.get(tenant.id);
    if (!person || !definition) return;
    const name = `${job} ${subscriber} ${target}`;
    const n = (tries.get(name) ?? 0) + 1;
    tries.set(name, n);
    if (n > 1 && !isRefusedForNow && atEnds > 0) {
      atEnds--;
      const sureUntil = definition.windowMs - ROUND_MS - 2 * profile.skewMs - random.between(2 * SECOND, 10 * SECOND);
      world.act(Math.max(0, sureUntil), () => buy(world, tenant, person, 0));
    } else if (!isRefusedForNow && atOnce > 0 && random.chance(0.3)) {
      atOnce--;
      const until = kernel.now() + SECOND;
      world.act(random.between(3 * SECOND, 6 * SECOND), () => buy(world, tenant, person, 0));
      world.onRequest(({ name: by }, _, operation, input) => {
        const isTouch = operation === "BatchWriteItem" && JSON.stringify(input).includes(`U#${subscriber}`);
        return by === "deliver" && isTouch && kernel.now() < until
          ? random.between(10 * SECOND, 20 * SECOND)
          : undefined;
      });
    }
  });
}
