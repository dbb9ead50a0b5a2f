// Delivers the table's stream to the react worker: in order per shard, in batches that are bisected when they fail.
// Shards split, some records fail until their attempts are used up, and an operator delivers those again.
import type { StreamRecord } from "../../local/aws/index.ts";
import { backoff } from "../../local/mapping.ts";
import { WORKER_TIMEOUT_SECONDS } from "../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import type { Faults } from "./faults.ts";
import type { Fleet, Outcome } from "./fleet.ts";
import type { Kernel } from "./kernel.ts";
import { FAULTS_END_MS } from "./profiles.ts";

interface StreamDeps {
  kernel: Kernel;
  fleet: Fleet;
  faults: Faults;
}

interface Shard {
  /** It takes the keys whose hash is `rest` modulo `of`. */
  of: number;
  rest: number;
  records: StreamRecord[];
  busy: boolean;
  tries: number;
  /** The length of a batch at most: halved when one fails. */
  max: number;
  /** Delivered before this one. */
  parent: Shard | undefined;
  isClosed: boolean;
}

const SHARDS = 3;
const MAX_RECORDS = 20;
const SOON_MS = 250;
const LATE_MS = 20 * SECOND;
/** Fewer than the service's, so that they are used up while faults last. */
const MAX_ATTEMPTS = 6;
const REPAIRED_MS = 8 * MINUTE;

export function driveStream({ kernel, fleet, faults }: StreamDeps) {
  const { profile } = faults;
  const random = kernel.random.fork();
  const open = (of: number, rest: number, parent?: Shard): Shard => ({
    ...{ of, rest, parent, records: [], busy: false, tries: 0, max: MAX_RECORDS, isClosed: false },
  });
  const shards = Array.from({ length: SHARDS }, (_, rest) => open(SHARDS, rest));
  const poisoned = new Set<StreamRecord>();
  let stoppedUntil = 0;
  let failed = 0;

  const isBlocked = ({ parent }: Shard) => parent !== undefined && parent.records.length > 0;

  const deliverSoon = (shard: Shard) => {
    shard.busy = true;
    const isLate = faults.strikes(random, profile.late);
    const wait = shard.tries > 0 ? backoff(shard.tries) : random.between(20, isLate ? LATE_MS : SOON_MS);
    kernel.after(Math.max(wait, stoppedUntil - kernel.now()), () => void deliver(shard));
  };
  const goOn = (shard: Shard) => {
    if (!shard.busy && shard.records.length > 0 && !isBlocked(shard)) deliverSoon(shard);
  };

  const react = (batch: readonly StreamRecord[]): Promise<Outcome> => {
    const tenants = batch.map(({ dynamodb }) => String(dynamodb.NewImage?.pk?.S).split("#")[1]!);
    return fleet.invoke("react", { Records: batch }, { tenants, timeoutSeconds: WORKER_TIMEOUT_SECONDS });
  };

  const deliver = async (shard: Shard) => {
    const batch = shard.records.slice(0, random.between(1, shard.max));
    const isPoisoned = batch.some((record) => poisoned.has(record));
    const outcome: Outcome = isPoisoned ? { failed: "a poisoned record" } : await react(batch);
    if ("answer" in outcome) {
      const isForgotten = faults.strikes(random, profile.duplicate / 4);
      if (!isForgotten) shard.records.splice(0, batch.length);
      shard.max = MAX_RECORDS;
      shard.tries = 0;
    } else if (batch.length > 1) shard.max = Math.ceil(batch.length / 2);
    else {
      shard.tries++;
      if (shard.tries >= MAX_ATTEMPTS && isPoisoned) giveUp(shard);
    }
    shard.busy = false;
    goOn(shard);
    for (const other of shards) if (other.parent === shard) goOn(other);
  };

  /** The attempts of a record are used up: it goes to the bucket, and an operator delivers it again. */
  const giveUp = (shard: Shard) => {
    const [record] = shard.records.splice(0, 1);
    shard.tries = 0;
    failed++;
    kernel.note(`stream gave up a record of ${record?.dynamodb.Keys.pk?.S}`);
    const again = async () => {
      const outcome = await react([record!]);
      if ("answer" in outcome) failed--;
      else kernel.after(MINUTE, () => void again());
    };
    kernel.after(random.between(MINUTE, REPAIRED_MS), () => void again());
  };

  const split = () => {
    const shard = random.pick(shards.filter(({ isClosed }) => !isClosed));
    shard.isClosed = true;
    shards.push(...[0, 1].map((half) => open(2 * shard.of, shard.rest + half * shard.of, shard)));
    kernel.note(`stream splits shard ${shard.rest} of ${shard.of}`);
  };
  for (let n = random.between(0, profile.splits); n > 0; n--)
    kernel.after(random.between(SECOND, FAULTS_END_MS), split, { background: true });

  return {
    /** A record that needs a reaction comes to its shard; the others are filtered out. */
    take: (record: StreamRecord) => {
      const { NewImage, Keys } = record.dynamodb;
      if (!(tableDefinition.reactAttribute in (NewImage ?? {}))) return;
      const hash = hashOf(String(Keys.pk?.S));
      const shard = shards.find(({ of, rest, isClosed }) => !isClosed && hash % of === rest)!;
      shard.records.push(record);
      if (faults.strikes(random, profile.poison)) poisoned.add(record);
      goOn(shard);
    },
    /** The stream stands still for a while. */
    stop: (ms: number) => {
      stoppedUntil = kernel.now() + ms;
    },
    waiting: () => failed + shards.reduce((sum, { records }) => sum + records.length, 0),
  };
}

function hashOf(pk: string): number {
  let hash = 0;
  for (let at = 0; at < pk.length; at++) hash = (Math.imul(hash, 31) + pk.charCodeAt(at)) >>> 0;
  return hash;
}
