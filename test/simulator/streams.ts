// Delivers the table's stream to the react worker: in order per shard, in batches, retried from the failed record on.
import type { StreamRecord } from "../../local/aws/dynamodb/index.ts";
import { backoff } from "../../local/stream-mapping.ts";
import { SECOND } from "../../shared/clock.ts";
import { WORKER_TIMEOUT_SECONDS } from "../../shared/messages.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Outcome } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";

export interface StreamDeps {
  kernel: Kernel;
  fleet: Fleet;
  faults: Faults;
}

interface Shard {
  records: StreamRecord[];
  busy: boolean;
  tries: number;
}

const SHARDS = 3;
const MAX_RECORDS = 20;
const SOON_MS = 250;
const LATE_MS = 20 * SECOND;

export function driveStream({ kernel, fleet, faults }: StreamDeps) {
  const { profile } = faults;
  const random = kernel.random.fork();
  const shards = Array.from({ length: SHARDS }, (): Shard => ({ records: [], busy: false, tries: 0 }));
  let stoppedUntil = 0;

  const deliverSoon = (shard: Shard) => {
    shard.busy = true;
    const isLate = faults.strikes(random, profile.late);
    const wait = shard.tries > 0 ? backoff(shard.tries) : random.between(20, isLate ? LATE_MS : SOON_MS);
    kernel.after(Math.max(wait, stoppedUntil - kernel.now()), () => void deliver(shard));
  };

  const deliver = async (shard: Shard) => {
    const batch = shard.records.slice(0, random.between(1, MAX_RECORDS));
    const tenants = batch.map(({ dynamodb }) => String(dynamodb.NewImage?.pk?.S).split("#")[1]!);
    const event = { Records: batch };
    const outcome = await fleet.invoke("react", event, { tenants, timeoutSeconds: WORKER_TIMEOUT_SECONDS });
    const done = doneOf(batch, outcome);
    const isForgotten = faults.strikes(random, profile.duplicate / 4);
    if (done > 0 && !isForgotten) shard.records.splice(0, done);
    shard.tries = done > 0 ? 0 : shard.tries + 1;
    shard.busy = false;
    if (shard.records.length > 0) deliverSoon(shard);
  };

  return {
    /** A record that needs a reaction comes to its shard; the others are filtered out. */
    take: (record: StreamRecord) => {
      const { NewImage, Keys } = record.dynamodb;
      if (!(tableDefinition.reactAttribute in (NewImage ?? {}))) return;
      const shard = shards[shardOf(String(Keys.pk?.S))]!;
      shard.records.push(record);
      if (!shard.busy) deliverSoon(shard);
    },
    /** The stream stands still for a while. */
    stop: (ms: number) => {
      stoppedUntil = kernel.now() + ms;
    },
    waiting: () => shards.reduce((sum, { records }) => sum + records.length, 0),
  };
}

/** A batch succeeds or fails as a whole; the next try takes another length, as bisection does. */
const doneOf = (batch: StreamRecord[], outcome: Outcome): number => ("failed" in outcome ? 0 : batch.length);

function shardOf(pk: string): number {
  let hash = 0;
  for (let at = 0; at < pk.length; at++) hash = (Math.imul(hash, 31) + pk.charCodeAt(at)) >>> 0;
  return hash % SHARDS;
}
