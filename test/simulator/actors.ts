// What clients do: make and erase people, send, cancel. They repeat what is safe to repeat until it is answered.
import { SECOND } from "../../shared/kernel/clock.ts";
import type { Answer, Request } from "./front-door.ts";
import type { InboxListing, Mark, Person, Send } from "./ledger.ts";
import type { Tenant } from "./tenants.ts";
import type { SimWorld } from "./world.ts";

const UPSERT = "POST /api/v1/subscribers/upsert";
const ERASE = "DELETE /api/v1/subscribers/{id}";
const SEND = "POST /api/v1/notifications";
const CANCEL = "POST /api/v1/notifications/{id}/cancel";

/** A new subscriber has the same external id, so its text may be in the table again. */
export const REUSED = "reused";

/** A token of a clock that is ahead is refused by one that is behind, until the client asks again. */
const isAnswered = ({ status }: Answer) => status > 0 && status < 500 && status !== 401;

/** Asks again until there is an answer; a client gives up only when its patience of hours ends. */
export async function untilAnswered(world: SimWorld, ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (isAnswered(answer)) return answer;
    await world.kernel.sleep(world.random.between(SECOND, 20 * SECOND));
  }
}

/** As a client does with what is safe to repeat. */
export const insist = (world: SimWorld, tenant: Tenant, ...[credential, route, request]: AskedCall): Promise<Answer> =>
  untilAnswered(world, () => world.call(tenant, credential, route, request));

/** The same; what a suspension refuses is asked for until it is over. */
export async function insistOpen(world: SimWorld, tenant: Tenant, ...asked: AskedCall): Promise<Answer> {
  for (;;) {
    const answer = await insist(world, tenant, ...asked);
    if (answer.status !== 403) return answer;
    await world.kernel.sleep(20 * SECOND);
  }
}

type AskedCall = [credential: "sdk" | "dashboard", route: string, request: Request];

const fresh = ({ random, ledger }: SimWorld) => `canary-${ledger.people.size}x${random.bytes(4).toString("hex")}`;

export const TIERS = ["gold", "silver"];
export const PLATFORMS = ["ios", "android"] as const;

const profileOf = (canary: string, tier: string) => ({
  external_id: canary,
  email: `${canary}@example.com`,
  attributes: { name: canary, tier },
});

/** Notes a person for the invariants. */
export function remember(world: SimWorld, person: Person): Person {
  world.name(person.id, `person-${world.ledger.people.size + 1}`);
  world.ledger.people.set(person.id, person);
  return person;
}

/** Lets an action happen so many times, each at a moment of its own within `busyMs`, or until a moment before or after. */
export const actsWithin =
  (world: SimWorld, busyMs: number) =>
  (count: number, action: () => Promise<unknown>, until = busyMs): void => {
    for (let n = count; n > 0; n--) world.act(world.random.between(0, until), async () => void (await action()));
  };

/** People who were there before the story. */
export async function populate(world: SimWorld, tenant: Tenant, count: number): Promise<Person[]> {
  const people: Person[] = [];
  for (let n = 0; n < count; n++) {
    const canary = fresh(world);
    const tier = world.random.pick(TIERS);
    const platform = world.random.chance(0.5) ? world.random.pick(PLATFORMS) : undefined;
    const input = profileOf(canary, tier);
    const id = await tenant.addSubscriber(input, platform);
    const { external_id } = input;
    const since = world.kernel.now();
    people.push(remember(world, { tenant: tenant.id, id, external_id, canary, tier, platform, since }));
  }
  return people;
}

/** Creates a subscriber by the SDK's upsert. */
export async function join(world: SimWorld, tenant: Tenant): Promise<Person> {
  const canary = fresh(world);
  const tier = world.random.pick(TIERS);
  const body = profileOf(canary, tier);
  const answer = await untilAnswered(world, () => world.call(tenant, "sdk", UPSERT, { body }));
  const { external_id } = body;
  const since = world.kernel.now();
  return remember(world, { tenant: tenant.id, id: answer.body.id, external_id, canary, tier, since });
}

/** Changes a subscriber's profile; one that is erased in the meantime becomes a new subscriber. */
export async function change(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const consent = { channel: "email", status: world.random.pick(["opted_in", "opted_out"]), text: person.external_id };
  const attributes = { visits: world.random.between(1, 99) };
  const body = { external_id: person.external_id, attributes, ...(world.random.chance(0.4) && { consent }) };
  const answer = await untilAnswered(world, () => world.call(tenant, "sdk", UPSERT, { body }));
  if (answer.status !== 200 || world.ledger.people.has(answer.body.id)) return;
  const { tenant: of, external_id } = person;
  person.canary = REUSED;
  remember(world, { tenant: of, id: answer.body.id, external_id, canary: REUSED, since: world.kernel.now() });
}

export async function erase(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  if (person.erasingSince !== undefined) return;
  person.erasingSince = world.kernel.now();
  await untilAnswered(world, () => world.call(tenant, "dashboard", ERASE, { params: { id: person.id } }));
  person.erasedAt = world.kernel.now();
}

export interface SendInput {
  ids?: string[];
  scheduledAt?: number;
  holdout?: number;
  splitShare?: number;
  tier?: string;
  platform?: string;
  target?: { type: "list"; list_id: string } | { type: "segment"; segment_id: string };
  personal?: boolean;
  channels?: readonly string[];
  smart?: boolean;
  category?: "transactional";
  topic?: string;
  templateId?: string;
  small?: boolean;
  keyed?: boolean;
  /** How often the request is made again although it was answered. */
  repeats?: number;
  mustComplete?: boolean;
  safety?: object;
}

/** Sends; with an idempotency key it is repeated until it is answered, without one it is tried once. */
export async function send(world: SimWorld, tenant: Tenant, wanted: SendInput): Promise<Send> {
  const { ids, scheduledAt, holdout = 0, splitShare, tier, platform, target, keyed = false, repeats = 0 } = wanted;
  const { templateId } = wanted;
  const { ledger, kernel } = world;
  const label = `send-${ledger.sends.size + 1}`;
  const record: Send = {
    tenant: tenant.id,
    label,
    startedAt: kernel.now(),
    ids,
    scheduledAt,
    holdout,
    splitShare,
    tier,
    platform,
    group: target && (target.type === "list" ? target.list_id : target.segment_id),
    topic: wanted.topic,
    smart: wanted.smart ?? false,
    channels: wanted.channels,
    small: wanted.small ?? true,
    mustComplete: wanted.mustComplete ?? true,
    jobs: new Set(),
    sent: undefined,
  };
  ledger.sends.set(label, record);
  const text = wanted.personal ? "Hello {{ subscriber.name }} {{ subscriber.visits }}" : "Hello";
  const body = {
    name: label,
    ...(ids ? { subscriberIds: ids } : { target: target ?? { type: "all" } }),
    ...(templateId === undefined ? { title: text, body: text } : { template_id: templateId }),
    ...(scheduledAt !== undefined && { scheduled_at: new Date(scheduledAt).toISOString() }),
    ...(tier !== undefined && { subscriber_filters: { tier: { $eq: tier } } }),
    ...(platform !== undefined && { device_filters: { platform: { $eq: platform } } }),
    ...(wanted.channels && { channel_ids: wanted.channels }),
    ...(wanted.smart && { channel_arbitration_mode: "smart" }),
    ...(wanted.category && { category: wanted.category }),
    ...(wanted.topic && { topic: wanted.topic }),
    ...(wanted.safety && { safety: wanted.safety }),
    ...(holdout > 0 && { holdout_percentage: holdout }),
    ...(splitShare !== undefined && { split_percentage: splitShare, variant_b: { title: "B", body: text } }),
  };
  const headers: Record<string, string> = keyed ? { "idempotency-key": label } : {};
  const ask = async () => {
    const answer = await world.call(tenant, "dashboard", SEND, { body, headers });
    if (answer.status === 200 || answer.status === 201) note(world, record, answer);
    else if (isAnswered(answer)) record.refused = answer.status;
    return answer;
  };
  const askAgain = () => untilAnswered(world, ask);
  // A client that repeats need not have waited for the first answer.
  if (keyed && repeats > 0 && world.random.chance(0.5)) await Promise.all([askAgain(), askAgain()]);
  else if (keyed) for (let time = 0; time <= repeats; time++) await askAgain();
  else await ask();
  return record;
}

function note({ ledger, name, kernel }: SimWorld, record: Send, { body, status }: Answer): void {
  record.jobs.add(body.id);
  ledger.byJob.set(body.id, record);
  name(body.id, record.label);
  if (record.scheduledAt === undefined) record.sent ??= body.sent;
  kernel.note(`ledger ${record.label} is job ${body.id} (${status}, sent ${body.sent})`);
}

/** Cancels; an answer of 200 is a promise. */
export async function cancel(world: SimWorld, tenant: Tenant, job: string): Promise<void> {
  world.ledger.cancelsAsked.add(job);
  const answer = await world.call(tenant, "dashboard", CANCEL, { params: { id: job } });
  if (answer.status === 200) world.ledger.canceled.set(job, world.kernel.now());
}

const LIST = "GET /v1/in-app/messages";
const READ_ALL = "POST /v1/in-app/messages/read";
const READ = "POST /v1/in-app/messages/{id}/read";
const DISMISS = "POST /v1/in-app/messages/{id}/dismiss";

const UNANSWERED_MS = 90 * SECOND;

/** Looks into the inbox and does something with what is there. */
export async function visitInbox(world: SimWorld, tenant: Tenant, person: Person): Promise<void> {
  const { kernel, ledger, random } = world;
  const startedAt = kernel.now();
  const query = { subscriber_id: person.id, limit: "200" };
  const { status, body } = await world.call(tenant, "sdk", LIST, { query });
  if (status !== 200) return;
  const listing = {
    person: person.id,
    startedAt,
    at: kernel.now(),
    messages: body.messages as InboxListing["messages"],
  };
  ledger.listings.push(listing);
  if (listing.messages.length === 0) return;
  const mark = (message: string, kind: Mark["kind"], read_at?: string) =>
    ledger.marks.push({ person: person.id, message, kind, read_at, at: kernel.now() });
  const reader = { subscriber_id: person.id };
  const ask = async (message: string | undefined, way: string, request: Request) => {
    const asked = { person: person.id, message, until: Number.POSITIVE_INFINITY };
    ledger.touches.push(asked);
    const answer = await world.call(tenant, "sdk", way, request);
    // What was not answered may go on for a while.
    asked.until = kernel.now() + (answer.status === 200 ? 0 : UNANSWERED_MS);
    return answer;
  };
  if (random.chance(0.15)) {
    const answer = await ask(undefined, READ_ALL, { body: reader });
    if (answer.status === 200) for (const { id } of listing.messages) mark(id, "read-all");
    return;
  }
  const { id } = random.pick(listing.messages);
  const kind = random.chance(0.7) ? "read" : "dismissed";
  const route = kind === "read" ? READ : DISMISS;
  const touch = async () => {
    const answer = await ask(id, route, { params: { id }, body: reader });
    if (answer.status === 200) mark(id, kind, answer.body.read_at);
  };
  // Two devices, or a second tap.
  await Promise.all(random.chance(0.3) ? [touch(), touch()] : [touch()]);
}
