// Blocks of events that were just stored and need their seal later, and events that are conversions.
import { type Context, perEnvironment } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import { attributeQueue, completeEventsQueue } from "../../../shared/runtime/resources.ts";
import { type Changes, isNew, newEvents, ofTenants } from "../../../shared/store/changes.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { blockText } from "../../../shared/store/events/block-keys.ts";
import { blockKeyOf } from "../../../shared/store/events/blocks.ts";
import { EventBlock } from "../../../shared/store/events/items.ts";
import { type WatcherVersion, watchedIndex, watchVersions } from "../../../shared/store/events/watchers.ts";
import { conversionDefinitions } from "../../../shared/store/insights/conversions.ts";
import { SubscriberAlias } from "../../../shared/store/subscribers/items.ts";

interface ConvertingEvents {
  /** The names in this version of the watchers, or in a newer one. */
  of(tenant: string, known: Promise<WatcherVersion | undefined>): Promise<ReadonlySet<string>>;
}

interface Index {
  version: number;
  names: ReadonlySet<string>;
}

const EMPTY: Index = { version: 0, names: new Set() };

const convertingEvents = /* @__PURE__ */ perEnvironment(
  "convertingEvents",
  { env: storeRead.env, grants: [{ actions: ["dynamodb:GetItem", "dynamodb:Query"], on: "table" }] },
  (deps): ConvertingEvents => {
    const bind = storeRead.open(deps);
    const indexOf = watchedIndex(EMPTY, async (store, version): Promise<Index> => {
      const definitions = await conversionDefinitions(store);
      return { version, names: new Set(definitions.map(({ event_name }) => event_name)) };
    });
    const of: ConvertingEvents["of"] = async (tenant, known) => (await indexOf(bind(tenant as TenantId), known)).names;
    return { of };
  },
);

export const eventUses = [completeEventsQueue] as const;

/** By this time the request has ended, and the second pass of a concurrent erasure is still to come. */
const ENDED_SECONDS = 45;
const PER_MESSAGE = 50;

/** Queues new blocks of events, to complete those that their request left incomplete. */
export async function queueCompletions(
  changes: Changes,
  { completeEventsQueue: queue }: Context<typeof eventUses>,
): Promise<void> {
  const messages = [...ofTenants(changes.of(EventBlock, "block").filter(isNew))].flatMap(([tenant, blocks]) => {
    const names = blocks.map(({ after }) => blockText(blockKeyOf(after)));
    return chunksOf(names, PER_MESSAGE).map((chunk) => ({ tenant, blocks: chunk }));
  });
  await queue.send(messages, { delaySeconds: ENDED_SECONDS });
}

/** By this time anonymous events of a moment ago are in their history. */
export const ALIAS_AGAIN_SECONDS = 5;

export const conversionUses = [attributeQueue, convertingEvents, watchVersions] as const;

/** Queues events that may be conversions, and anonymous ids that were linked (IDN-2). */
export async function queueConversions(
  changes: Changes,
  { attributeQueue: queue, convertingEvents, watchVersions }: Context<typeof conversionUses>,
): Promise<void> {
  for (const [tenant, events] of Map.groupBy(newEvents(changes), (event) => event.tenant)) {
    const names = await convertingEvents.of(tenant, watchVersions.of(tenant));
    const converting = events.filter(({ event_name }) => names.has(event_name));
    await queue.send(converting.map(({ id }) => ({ kind: "event", tenant, event: id })));
  }
  const aliases = changes
    .of(SubscriberAlias, "alias")
    .map(({ tenant, after }) => ({ kind: "visitor" as const, tenant, anonymous: after.anonymous }));
  await queue.send(aliases);
  await queue.send(aliases, { delaySeconds: ALIAS_AGAIN_SECONDS });
}
