// Publishes events to the account's own event bus and archive. This worker is separate from reactions, so that a bus
// that refuses does not delay messages (docs/decisions/0113).
import type { DynamoDBRecord } from "aws-lambda";
import { type Context, perEnvironment } from "../../../shared/kernel/deps.ts";
import { filledParts } from "../../../shared/rules/chunks.ts";
import { outboundStreamWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { changesOf } from "../../../shared/store/changes.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { unpackedBytes } from "../../../shared/store/events/packing.ts";
import { archive, setAside } from "./buckets.ts";
import { eventBus } from "./bus.ts";
import { eventsOnBus } from "./choice.ts";
import { type BusEntry, busEntries, eventsOf } from "./entries.ts";
import { type Outcome, outcomesOf } from "./outcomes.ts";
import { type OutboundEvent, outboundEvents, type ReceivedEvents, receivedEvents } from "./published.ts";
import { recordOfOutbound, recordOfOutcome, recordsOfReceived } from "./records.ts";
import type { Refusals } from "./refusals.ts";

/**
 * Of the records that are worked on at once, unpacked: events of 6 MB of records may be some hundred MB. Their objects
 * and texts take some twenty times as much memory.
 */
const PART_BYTES = 8 * 1_024 * 1_024;

/** Reads the details of an event that its own row does not have. */
const anyReader = /* @__PURE__ */ perEnvironment(
  "storeOf",
  { env: storeRead.env, grants: [{ actions: ["dynamodb:Query"], on: "table" }] },
  storeRead.open,
);

const uses = [anyReader, eventBus, eventsOnBus, archive, setAside] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const publishEvents = outboundStreamWorker(
  "publish-events",
  "Publishes what happened on the account's own event bus, and stores it in the account's archive.",
  uses,
  async (records, context) => {
    for (const part of filledParts(records, sizeOf, { size: PART_BYTES })) {
      const again = await publish(part, context);
      if (again !== undefined) return again;
    }
    return undefined;
  },
);

/** The size of a record. Rows that are not packed are as large as in the batch. */
function sizeOf({ dynamodb }: DynamoDBRecord): number {
  const { react, events } = dynamodb?.NewImage ?? {};
  return react?.S === "block" && events?.B !== undefined ? unpackedBytes(Buffer.from(events.B, "base64")) : 0;
}

/**
 * Publishes the events of records.
 * @returns the sequence number of the first record whose entry the bus may accept later
 */
async function publish(records: readonly DynamoDBRecord[], context: WorkerContext): Promise<string | undefined> {
  const changes = changesOf(records);
  const outbound = await outboundEvents(changes, context.storeOf);
  const happened = { outbound, received: receivedEvents(changes), outcomes: outcomesOf(changes) };
  // Stored first, so that the archive does not wait for a bus that refuses. Repeated records have the same names.
  await archiveAll(happened, context);
  const { later, never } = await putOnBus(happened, context);
  const again = records.findIndex(isIn(later));
  const done = again < 0 ? records : records.slice(0, again);
  await context.setAside.store(done.filter(isIn(never)));
  return records[again]?.dynamodb?.SequenceNumber;
}

function isIn(entries: readonly BusEntry[]): (record: DynamoDBRecord) => boolean {
  const positions = new Set(entries.flatMap(({ positions }) => positions));
  return ({ dynamodb }) => positions.has(dynamodb?.SequenceNumber ?? "");
}

interface PublishedKinds {
  outbound: readonly OutboundEvent[];
  received: readonly ReceivedEvents[];
  outcomes: readonly Outcome[];
}

async function archiveAll(
  { outbound, received, outcomes }: PublishedKinds,
  { archive, log }: WorkerContext,
): Promise<void> {
  if (!archive) return;
  const records = [
    ...outbound.map(recordOfOutbound),
    ...received.flatMap(recordsOfReceived),
    ...outcomes.map(recordOfOutcome),
  ];
  if (records.length === 0) return;

  await archive.store(records);
  log({ level: "info", message: "published", to: "archive", events: records.length });
}

async function putOnBus(
  { outbound, received }: PublishedKinds,
  { eventBus: bus, eventsOnBus, log }: WorkerContext,
): Promise<Refusals> {
  if (!bus) return { later: [], never: [] };
  const entries = busEntries(outbound, await chosen(received, eventsOnBus));
  const refusals = await bus.put(entries);
  const events = eventsOf(entries) - eventsOf(refusals.later) - eventsOf(refusals.never);
  if (events > 0) log({ level: "info", message: "published", to: "bus", events });
  return refusals;
}

async function chosen(
  received: readonly ReceivedEvents[],
  { isChosen }: WorkerContext["eventsOnBus"],
): Promise<ReceivedEvents[]> {
  const tenants = new Set(received.map(({ origin }) => origin.tenant));
  const choices = new Map(
    await Promise.all([...tenants].map(async (tenant) => [tenant, await isChosen(tenant)] as const)),
  );
  return received.filter(({ origin }) => choices.get(origin.tenant));
}
