// What happened leaves for the account's own event bus: apart from reactions, so that a bus that refuses delays nobody's
// messages (docs/decisions/0113).
import type { Capability, Context } from "../../../shared/kernel/deps.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import { outboundStreamWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { type Changes, changesOf } from "../../../shared/store/changes.ts";
import { type StoreReader, storeRead } from "../../../shared/store/context.ts";
import { eventBus } from "./bus.ts";
import { eventsOnBus } from "./choice.ts";
import { outboundEntry, receivedEntries } from "./entries.ts";
import { outboundEvents, type ReceivedEvents, receivedEvents } from "./published.ts";

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

const uses = [anyReader, eventBus, eventsOnBus] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const publishEvents = outboundStreamWorker(
  "publish-events",
  "Publishes what happened on the account's own event bus.",
  uses,
  async (records, context) => {
    const changes = changesOf(records);
    const refused = await putOnBus(changes, context);
    const again = records.find(({ dynamodb }) => refused.has(dynamodb?.SequenceNumber ?? ""));
    return again?.dynamodb?.SequenceNumber;
  },
);

/** @returns the sequence numbers of records whose entries the bus refused */
async function putOnBus(
  changes: Changes,
  { eventBus: bus, storeOf, eventsOnBus, log }: WorkerContext,
): Promise<ReadonlySet<string>> {
  if (!bus) return new Set();
  const outbound = await outboundEvents(changes, storeOf);
  const received = await chosen(receivedEvents(changes), eventsOnBus);
  const entries = [...outbound.map(outboundEntry), ...receivedEntries(received)];
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
