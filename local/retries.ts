// Retries of SDK clients as in the SDK's standard mode, whose waits follow service time.
import type { Clock } from "../shared/kernel/clock.ts";
import type { Ids } from "../shared/kernel/ids.ts";
import { retryStrategy } from "../shared/kernel/retries.ts";

const FIRST_MS = { THROTTLING: 1_000, TRANSIENT: 50 };

/** A `retryStrategy` of an SDK client. */
export const retriesOn = ({ sleep }: Pick<Clock, "sleep">, ids: Pick<Ids, "bytes">) =>
  retryStrategy(sleep, ids, FIRST_MS);
