// Faults of the simulated table: short pages, late indexes, throughput, and rows that expire.
import type { DynamoDb } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { Faults } from "./faults.ts";
import type { Kernel } from "./kernel.ts";
import { FAULTS_END_MS } from "./profiles.ts";

const READS_PER_WRITE = 3;
const EXPIRY_MS = 10 * MINUTE;

/** The kernel waits for an SDK client that is in the middle of a call, so a transaction of one takes no time. */
export function faultsOfTables(kernel: Kernel, faults: Faults, viaSdk: boolean) {
  const random = kernel.random.fork();
  const { unprocessed, indexLagMs, inFlightMs } = faults.profile;
  return {
    unprocessed: (_: string, count: number) => (faults.strikes(random, unprocessed) ? random.between(1, count) : 0),
    indexLag: () => (faults.on() ? random.between(0, indexLagMs) : 0),
    inFlightMs: () => (faults.on() && !viaSdk ? random.between(1, inFlightMs) : 0),
  };
}

/** While faults last the table has few partitions, which refuse what is too much; and it deletes what has expired. */
export function limitTable(kernel: Kernel, dynamodb: DynamoDb, { profile: { writeUnits } }: Faults): void {
  if (writeUnits > 0) {
    const limits = { write: writeUnits, read: READS_PER_WRITE * writeUnits };
    const whole = { tableWrite: 4 * writeUnits, tableRead: 4 * READS_PER_WRITE * writeUnits };
    kernel.after(1, () => dynamodb.limit({ ...limits, ...whole, transactionMs: 0 }));
    kernel.after(FAULTS_END_MS, () => dynamodb.limit(undefined));
  }
  const expire = () => {
    dynamodb.expire();
    kernel.after(EXPIRY_MS, expire, { background: true });
  };
  kernel.after(EXPIRY_MS, expire, { background: true });
}
