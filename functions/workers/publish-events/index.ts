// What happened leaves for the account's own event bus and archive: apart from reactions, so that a bus that refuses delays nobody's
// messages (docs/decisions/0113).
import type { DynamoDBRecord } from "aws-lambda";
import type { Capability, Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { outboundStreamWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { changesOf } from "../../../shared/store/changes.ts";
import { type StoreReader, storeRead } from "../../../shared/store/context.ts";
import { archive } from "./archive.ts";
import { eventBus } from "./bus.ts";
import { eventsOnBus } from "./choice.ts";
import { outboundEntry, receivedEntries } from "./entries.ts";
import { type Outcome, outcomesOf } from "./outcomes.ts";
import { partsOf } from "./parts.ts";
import { type OutboundEvent, outboundEvents, type ReceivedEvents, receivedEvents } from "./published.ts";
import { recordOfOutbound, recordOfOutcome, recordsOfReceived } from "./records.ts";

/** Reads what an occurrence says beside its own row. */
const anyReader: Capability<"storeOf", (tenant: TenantId) => StoreReader> = {
  as: "storeOf",
  env: storeRead.env,
  grants: [{ actions: ["dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = storeRead.open(deps);
    return () => bind;
  },
};

const uses = [anyReader, eventBus, eventsOnBus, archive] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const publishEvents = outboundStreamWorker(
  "publish-events",
  "Publishes what happened on the account's own event bus, and stores it in the account's archive.",
  uses,
  async (records, context) => {
    for (const part of partsOf(records)) {
      const again = await publish(part, context);
      if (again !== undefined) return again;
    }
    return undefined;
  },
);

/** @returns the sequence number of the first record whose entry the bus refused */
async function publish(records: readonly DynamoDBRecord[], context: WorkerContext): Promise<string | undefined> {
  const changes = changesOf(records);
  const outbound = await outboundEvents(changes, context.storeOf);
  const happened = { outbound, received: receivedEvents(changes), outcomes: outcomesOf(changes) };
  // First, so that it does not wait for a bus that refuses: what comes again has the same name.
  await archiveAll(happened, context);
  const refused = await putOnBus(happened, context);
  const again = records.find(({ dynamodb }) => refused.has(dynamodb?.SequenceNumber ?? ""));
  return again?.dynamodb?.SequenceNumber;
}

interface Happened {
  outbound: readonly OutboundEvent[];
  received: readonly ReceivedEvents[];
  outcomes: readonly Outcome[];
}

async function archiveAll({ outbound, received, outcomes }: Happened, { archive, log }: WorkerContext): Promise<void> {
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

/** @returns the sequence numbers of records whose entries the bus refused */
async function putOnBus(
  { outbound, received }: Happened,
  { eventBus: bus, eventsOnBus, log }: WorkerContext,
): Promise<ReadonlySet<string>> {
  if (!bus) return new Set();
  const entries = [...outbound.map(outboundEntry), ...receivedEntries(await chosen(received, eventsOnBus))];
  if (entries.length === 0) return new Set();

  const refused = await bus.put(entries);
  log({ level: "info", message: "published", to: "bus", events: entries.length - refused.length });
  return new Set(refused.flatMap(({ positions }) => positions));
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
