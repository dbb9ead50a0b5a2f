// The recount of sends to one subscriber: the quarter-hours of the last two days are settled again, as far as they say
// something else than is counted (docs/decisions/0056).
import { DAY } from "../../../kernel/clock.ts";
import { sealSends } from "../../audit/sealed-sends.ts";
import type { Sealing } from "../../audit/trail.ts";
import type { Store } from "../../context.ts";
import { QUARTER_MS, quarterAt } from "../../workspaces/sends-ahead.ts";
import { directLanes, firstQuarter, returnUnused, settleQuarter, unsettledQuarters } from "./quarters.ts";

const RECOUNTED_MS = 2 * DAY;
/** Quarter-hours that ended later are left to their watch. */
const SETTLED_AFTER = 3;

/** Recounts one quarter-hour. @param after the one that was recounted last */
export async function recountQuarters(
  store: Store,
  sealing: Sealing,
  after: string | undefined,
): Promise<{ repaired: number; after?: string | undefined }> {
  const now = store.clock.now();
  const end = quarterAt(now) - SETTLED_AFTER;
  const begin = after === undefined ? quarterAt(now - RECOUNTED_MS) : Number(after) + 1;
  const lanes = await directLanes(store);
  const quarter = await nextQuarter(store, lanes, begin, end);
  if (quarter === undefined) return { repaired: 0 };
  let repaired = 0;
  for (const lane of lanes) {
    const { counted } = await settleQuarter(store, sealing.secrets, quarter, lane);
    if (Object.keys(counted).length === 0) continue;
    repaired++;
    const { tenant } = store;
    store.log({
      level: "warn",
      message: "the sends of a quarter-hour were counted late",
      tenant,
      quarter,
      lane,
      counted,
    });
  }
  await returnUnused(store, quarter, lanes);
  await sealSends(store, sealing, quarter, lanes);
  return { repaired, after: String(quarter) };
}

/** The first quarter-hour with sends, or with sends that were taken ahead; undefined after the last one. */
async function nextQuarter(
  store: Store,
  lanes: Awaited<ReturnType<typeof directLanes>>,
  begin: number,
  end: number,
): Promise<number | undefined> {
  if (begin >= end) return undefined;
  const bounds = { from: begin * QUARTER_MS, to: end * QUARTER_MS };
  const found = await Promise.all([
    firstQuarter(store, lanes, bounds),
    ...[bounds.from, bounds.to].map((at) => unsettledQuarters(store, at)),
  ]);
  const quarters = found.flat().filter((quarter) => quarter !== undefined && quarter >= begin && quarter < end);
  return quarters.length > 0 ? Math.min(...quarters.filter((quarter) => quarter !== undefined)) : undefined;
}
