// The static segments that a subscriber is in: found from the segments, as their members are in leaves alone
// (docs/decisions/0057).
import { chunksOf } from "../../rules/chunks.ts";
import { is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { DeletedMemberships } from "../lists/items.ts";
import { enteredLeaf, forgetInLeaf } from "../lists/leaves.ts";
import { SegmentItem, type SegmentRow } from "./items.ts";

/** The most segments, newest first, that are searched for a reader of a subscriber. */
const MAX_SEGMENTS = 100;
const CONCURRENT_LEAVES = 50;

/**
 * The static segments that a subscriber is in, newest first.
 * @param isWhole all of them, and not those among the newest 100 segments alone
 */
export async function staticMembershipsOf(
  store: StoreReader,
  subscriber: string,
  { isWhole = false }: { isWhole?: boolean } = {},
): Promise<{ segment: SegmentRow; entered_at: string }[]> {
  const range = { newestFirst: true, eventual: true, filter: is("is_dynamic", false) };
  const segments = isWhole
    ? await store.queryAll(SegmentItem, {}, range)
    : (await store.query(SegmentItem, {}, { ...range, limit: MAX_SEGMENTS })).items;
  const entered: (string | undefined)[] = [];
  for (const batch of chunksOf(segments, CONCURRENT_LEAVES))
    entered.push(...(await Promise.all(batch.map(({ id }) => enteredLeaf(store, id, subscriber, { eventual: true })))));
  return segments.flatMap((segment, i) => {
    const entered_at = entered[i];
    return entered_at === undefined ? [] : [{ segment, entered_at }];
  });
}

/** Removes an erased subscriber from all static segments, also from deleted ones. @returns how many it was in */
export async function forgetStaticMemberships(store: Store, subscriber: string): Promise<number> {
  const [segments, deleted] = await Promise.all([
    store.queryAll(SegmentItem, {}, { filter: is("is_dynamic", false) }),
    store.queryAll(DeletedMemberships, {}, { prefix: "segment#" }),
  ]);
  let forgotten = 0;
  for (const batch of chunksOf([...segments, ...deleted], CONCURRENT_LEAVES)) {
    const were = await Promise.all(batch.map(({ id }) => forgetInLeaf(store, id, subscriber)));
    forgotten += were.filter((wasMember) => wasMember).length;
  }
  return forgotten;
}
