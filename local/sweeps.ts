// Where the sweeps of a new table begin.
import { type Deps, NO_TENANT } from "../shared/kernel/deps.ts";
import { platformWrite } from "../shared/store/context.ts";
import { minuteOf, SweepItem } from "../shared/store/platform-items.ts";

/** A sweep leaves the last three minutes alone: what is due in them is still being forwarded. */
const SWEPT_MINUTES_AGO = 4;

/** A new table has no timers of the past: its first sweep would look back an hour, in hundreds of queries. */
export async function beginSweeps(deps: Deps): Promise<void> {
  const minute = minuteOf(deps.clock.now()) - SWEPT_MINUTES_AGO;
  await platformWrite.open(deps)(NO_TENANT).put(SweepItem, {}, { minute });
}
