// Stores translated messages: first the subscribers, then their devices and anonymous ids, then the events.
import { type Caller, workspaceOf } from "../../../../shared/http/authenticate.ts";
import { requireScope } from "../../../../shared/http/gates.ts";
import type { Context } from "../../../../shared/kernel/deps.ts";
import { ApiError } from "../../../../shared/kernel/errors.ts";
import { chunksOf } from "../../../../shared/rules/chunks.ts";
import { type Tier, tiers } from "../../../../shared/rules/event-limits.ts";
import { plans } from "../../../../shared/rules/plans.ts";
import { audienceSize, secrets } from "../../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../../shared/store/context.ts";
import { eventIntake, ingest, type NewEvent } from "../../../../shared/store/events/intake.ts";
import type { Value } from "../../../../shared/store/model.ts";
import { linkAlias, ownersOf } from "../../../../shared/store/subscribers/aliases.ts";
import { registerDevice } from "../../../../shared/store/subscribers/device-registration.ts";
import type { SubscriberInput } from "../../../../shared/store/subscribers/profile-changes.ts";
import { findByExternalId, upsertSubscriber } from "../../../../shared/store/subscribers/subscribers.ts";
import type { Receipt, Translation } from "./translation.ts";

export const takingUses = [storeWrite, secrets, audienceSize, eventIntake] as const;
type TrackingContext = Context<typeof takingUses> & { caller: Caller };

const AT_ONCE = 20;
/** Attributes of one write. By the publishable key a profile has no more; otherwise it is the limit of any request. */
const MAX_AT_ONCE: Record<Tier, number> = { client: 64, server: 200 };
/** Users of one request; this bounds their anonymous ids too. */
export const MAX_USERS: Record<Tier, number> = { client: 3, server: Number.POSITIVE_INFINITY };

/**
 * Stores all messages. A repeat changes nothing, because events have the ids of their messages.
 * @returns how many profiles were full and got no attributes (AMB-146)
 * @throws 402 or 429 beyond the quotas of the plan, 403 for a key whose scopes do not allow writing subscribers
 */
export async function takeMessages(
  taking: TrackingContext,
  messages: readonly Translation[],
  { tier, receivedAt }: Receipt,
): Promise<{ full: number }> {
  const { store, secrets, intake, caller } = taking;
  const people = Map.groupBy(messages, ({ externalId }) => externalId);
  people.delete(undefined);
  // The publishable key may do this as well, so only a key with fewer scopes is refused.
  const isScoped = caller.kind === "server" && caller.explicit;
  if (people.size > 0 && isScoped) requireScope(caller, "subscribers:write");

  const subscribers = new Map<string, string>();
  let full = 0;
  for (const batch of chunksOf([...people], AT_ONCE))
    await Promise.all(
      batch.map(async ([externalId = "", messagesOfUser]) => {
        const found = await subscriberOf(taking, externalId, messagesOfUser);
        if (found.isFull) full++;
        subscribers.set(externalId, found.id);
      }),
    );
  await registerDevices(taking, messages, subscribers, tier);
  await linkAnonymous(taking, messages, subscribers, MAX_USERS[tier]);

  const events = messages.flatMap((message): NewEvent[] => {
    if (!message.event) return [];
    const subscriber_id = subscribers.get(message.externalId ?? "");
    return [
      {
        ...message.event,
        ...(subscriber_id === undefined ? { anonymous_id: message.anonymousId } : { subscriber_id }),
      },
    ];
  });
  const common = { source: tier, isHistorical: false, receivedAt, allowance: workspaceOf(caller) };
  const root = await secrets.root();
  for (const batch of chunksOf(events, tiers.server.eventsPerRequest))
    await ingest(store, root, intake, { ...common, events: batch, name: (n, field) => `batch[${n}].${field}` });
  return { full };
}

/** The subscriber of an external id with all that its messages say; created if there is none. */
async function subscriberOf(
  { store, secrets, audienceSize, caller }: TrackingContext,
  external_id: string,
  messages: readonly Translation[],
): Promise<{ id: string; isFull: boolean }> {
  const root = await secrets.root();
  const profiles = messages.flatMap(({ profile }) => profile ?? []);
  const known = profiles.length === 0 ? await findByExternalId(store, root, external_id) : undefined;
  if (known) return { id: known.id, isFull: false };

  const counted = await audienceSize.capOf(plans[workspaceOf(caller).plan].subscribers);
  const cap = profiles.length === 0 ? { ...counted, isLikelyNew: true } : counted;
  const email = profiles.findLast((profile) => profile.email !== undefined)?.email;
  const attributes = Object.entries<Value>(Object.assign({}, ...profiles.map((profile) => profile.attributes)));
  const isPublishable = caller.kind === "sdk";
  const most = MAX_AT_ONCE[isPublishable ? "client" : "server"];
  const [first = {}, ...more] = chunksOf(attributes, most).map((chunk) => Object.fromEntries(chunk));
  let isFull = false;
  const write = async (fields: Pick<SubscriberInput, "email" | "attributes">): Promise<string> =>
    (await upsertSubscriber(store, root, { external_id, isPublishable, ...fields }, cap)).id;
  const writeWhatFits = (fields: Pick<SubscriberInput, "email" | "attributes">): Promise<string | undefined> =>
    write(fields).catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.code !== "VALIDATION_ERROR") throw error;
      isFull = true;
      return undefined;
    });
  const id =
    (await writeWhatFits({ email, attributes: first })) ?? (await writeWhatFits({ email })) ?? (await write({}));
  for (const chunk of more) await writeWhatFits({ attributes: chunk });
  return { id, isFull };
}

/**
 * A library with the publishable key sends for the device that it runs on: the one of the last message, for its user.
 */
async function registerDevices(
  { store }: TrackingContext,
  messages: readonly Translation[],
  subscribers: ReadonlyMap<string, string>,
  tier: Tier,
): Promise<void> {
  const sent = messages.filter(({ device }) => device);
  const known = tier === "client" ? sent.slice(-1) : sent;
  // If several users of a batch used one phone, it belongs to the last one.
  const byToken = new Map(known.map((message) => [`${message.device?.platform} ${message.device?.token}`, message]));
  const byUser = Map.groupBy(byToken.values(), ({ externalId }) => externalId);
  for (const batch of chunksOf([...byUser], AT_ONCE))
    await Promise.all(
      batch.map(async ([externalId = "", messagesOfUser]) => {
        const subscriber_id = subscribers.get(externalId);
        if (subscriber_id === undefined) return;
        for (const { device } of messagesOfUser) if (device) await registerDevice(store, { ...device, subscriber_id });
      }),
    );
}

/** Links anonymous ids. The first link wins (AMB-26): an id that is linked already stays with its subscriber. */
async function linkAnonymous(
  { store }: TrackingContext,
  messages: readonly Translation[],
  subscribers: ReadonlyMap<string, string>,
  max: number,
): Promise<void> {
  const wanted = new Map<string, string>();
  for (const { externalId = "", anonymousIds } of messages)
    for (const anonymous of anonymousIds) {
      const subscriber = subscribers.get(externalId);
      if (subscriber !== undefined && !wanted.has(anonymous) && wanted.size < max) wanted.set(anonymous, subscriber);
    }
  const owners = await ownersOf(store, [...wanted.keys()]);
  for (const [anonymous, subscriber] of wanted)
    if (!owners.has(anonymous)) await linkAlias(store, anonymous, subscriber);
}
