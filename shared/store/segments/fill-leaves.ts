// One page of the computation of a static segment: its members are written by leaf, in the order of their ids
// (docs/decisions/0057).
import { chunksOf } from "../../rules/chunks.ts";
import { absent, all, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { changeItem, type ItemWrite } from "../item.ts";
import { fromJson } from "../json-text.ts";
import { leafChanges, leafWrites, leavesBetween, timeAfter } from "../lists/leaves.ts";
import { contended, done, failuresOf, untilUncontended } from "../refusals.ts";
import { audiencePage, isProfileRow, subscriberIn } from "../subscribers/audience-pages.ts";
import { isLiving } from "../subscribers/subscribers.ts";
import { judgeProfiles } from "./facts.ts";
import { Fill, type SegmentRow } from "./items.ts";
import { compiledRule } from "./rules.ts";

/** Two full leaves of a page are shared with its neighbours, so a page is many leaves. */
const PAGE_ROWS = 500;
/** Leaves that change in one transaction: each may be split in several, of at most 100 items with their counter. */
const LEAVES_PER_TRANSACTION = 40;
/** How often a page is read again after another worker changed its leaves. */
const MAX_ATTEMPTS = 10;

/**
 * A part of every write of a computation: it is refused after the part is done, or a newer computation has begun it.
 */
export const holdWrite = ({ id, run }: Pick<SegmentRow, "id" | "run">, part: string): ItemWrite<"workspace"> =>
  changeItem(Fill, { segment: id, part }, { set: { run } }, all(is("run", run), absent("done")));

interface PartPage {
  /** The part of the computation. It belongs to this run as long as the row of the part says so. */
  part: string;
  shard: string;
  /** The sort key after which the page begins; empty for the beginning. */
  after: string;
}

export type FilledPage =
  /** `last`: the sort key after which the next page begins; undefined on the last page. */
  | { kind: "filled"; last: string | undefined }
  /** Another worker has ended the part, or a newer computation has begun it. */
  | { kind: "ended" };

/**
 * Evaluates one page of subscribers and corrects the leaves. A repeated page finds nothing to change. A static segment
 * is as of the time of its computation, so subscribers may be read eventually, at half the price.
 */
export async function fillLeaves(
  store: Store,
  segment: SegmentRow,
  { part, shard, after }: PartPage,
): Promise<FilledPage> {
  const options = { limit: PAGE_ROWS, after: after === "" ? undefined : after, eventual: true };
  const page = await audiencePage(store, shard, options);
  const last = page.next;
  const profiles = page.rows.filter(isProfileRow).filter(isLiving);
  const verdicts = await judgeProfiles(store, await compiledRule(store, fromJson(segment.rule)), profiles, {
    eventual: true,
    changedAt: segment.since,
  });
  const idsOf = (judged: typeof verdicts) => new Set(judged.map(({ profile }) => profile.id));
  const ids = idsOf(verdicts.filter(({ matches }) => matches));
  const historical = idsOf(verdicts.filter(({ isHistorical }) => isHistorical));
  const until = last === undefined ? undefined : subscriberIn({ sk: last });
  const range = { shard, after: subscriberIn({ sk: after }), until };
  const hold = holdWrite(segment, part);
  return untilUncontended<FilledPage>(
    () => new Error(`The members of segment ${segment.id} changed ${MAX_ATTEMPTS} times while a page was computed.`),
    async () => {
      const leaves = await leavesBetween(store, segment.id, range);
      const at = timeAfter(leaves, store.clock.now());
      const changes = leafChanges(leaves, range, { ids, historical, at });
      for (const batch of chunksOf(changes, LEAVES_PER_TRANSACTION)) {
        const failures = await failuresOf(store, [hold, ...leafWrites(segment.id, batch, at)]);
        if (failures[0]) return done({ kind: "ended" });
        if (failures.length > 0) return contended;
      }
      return changes.some(({ isPartial }) => isPartial) ? contended : done({ kind: "filled", last });
    },
  );
}
