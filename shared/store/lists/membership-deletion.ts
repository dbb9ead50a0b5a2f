// The members of a deleted list or segment: its deletion puts a row, and a worker then removes them page by page.
import type { JobPart } from "../../contract/messages.ts";
import { MINUTE } from "../../kernel/clock.ts";
import type { Store } from "../context.ts";
import { type ItemWrite, putItem, removeItem } from "../item.ts";
import { Fill } from "../segments/items.ts";
import { SHARDS } from "../shards.ts";
import type { Timers } from "../timers.ts";
import {
  DeletedMemberships,
  type Group,
  ListMembership,
  Member,
  MemberCount,
  MemberLeaf,
  memberKey,
  SegmentMembership,
} from "./items.ts";

/** Requests that read the list before it was deleted have ended by then. */
const SECOND_PASS_MS = 10 * MINUTE;
/** A pass after this time is the second one, even if the clocks of two processes differ. */
const LATE_PASS_MS = 5 * MINUTE;
const ROWS_PER_PAGE = 200;

/** Plans the removal of members that are still being added; called before the deletion. */
export const planSecondPass = (store: Pick<Store, "clock">, timers: Timers, { kind, id }: Group) =>
  timers.set([{ kind: "disband", id: `${kind}#${id}`, at: store.clock.now() + SECOND_PASS_MS }]);

/** The write of the deletion that starts the removal of the members. */
export const membershipDeletionWrite = ({ clock }: Pick<Store, "clock">, { kind, id }: Group): ItemWrite<"workspace"> =>
  putItem(DeletedMemberships, { kind, id }, { react: "disband", kind, id, at: clock.now() });

/** Removes members until there are none left or `isTimeUp`. */
export async function deleteSomeMemberships(store: Store, group: Group, isTimeUp: () => boolean): Promise<JobPart> {
  const { kind, id } = group;
  const deleted = await store.get(DeletedMemberships, { kind, id });
  if (!deleted) return "ended";
  for (const shard of SHARDS) {
    const readPage = async () => (await store.query(Member, { kind, id, shard }, { limit: ROWS_PER_PAGE })).items;
    for (let members = await readPage(); members.length > 0; members = await readPage()) {
      if (isTimeUp()) return "unfinished";
      // The row of a subscriber is found by the row in the shard, which therefore is removed last.
      await store.writeAll(members.map(({ sk }) => removeMembership(group, sk)));
      await store.writeAll(members.map(({ sk }) => removeItem(Member, memberKey(group, sk))));
    }
    const leaves = kind === "segment" ? await deleteLeaves(store, id, shard, isTimeUp) : "ended";
    if (leaves === "unfinished") return "unfinished";
  }
  if (store.clock.now() >= deleted.at + LATE_PASS_MS) {
    const counters = SHARDS.map((shard) => removeItem(MemberCount, { kind, id, shard }));
    const fills = kind === "segment" ? await store.queryAll(Fill, { segment: id }) : [];
    await store.writeAll([
      ...counters,
      ...fills.map(({ sk: part }) => removeItem(Fill, { segment: id, part })),
      removeItem(DeletedMemberships, { kind, id }),
    ]);
  }
  return "ended";
}

async function deleteLeaves(store: Store, segment: string, shard: string, isTimeUp: () => boolean): Promise<JobPart> {
  const readPage = async () => (await store.query(MemberLeaf, { segment, shard }, { limit: ROWS_PER_PAGE })).items;
  for (let leaves = await readPage(); leaves.length > 0; leaves = await readPage()) {
    if (isTimeUp()) return "unfinished";
    await store.writeAll(leaves.map(({ sk: low }) => removeItem(MemberLeaf, { segment, shard, low })));
  }
  return "ended";
}

const removeMembership = ({ kind, id }: Group, subscriber: string): ItemWrite<"workspace"> =>
  kind === "list"
    ? removeItem(ListMembership, { subscriber, list: id })
    : removeItem(SegmentMembership, { subscriber, segment: id });
