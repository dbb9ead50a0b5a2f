// Packs of runs that move or begin at the price of single writes (docs/decisions/0058, 0123): the pack stores how the
// move of each run changes the counts, each moved run names the pack, and its seal counts the moved runs. A pack
// without a seal is open. A reader that moves a run settles its open pack first, so that a run that moved in a pack
// stays in it until it is counted.
import { ttl } from "../../kernel/clock.ts";
import { packId, unpackId, uuidPrefixOf } from "../../kernel/ids.ts";
import { absent, all, is } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type ChangeOf, type ConditionOf, putItem, type RowOf } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import { busy, contended, done, onConditionFailed, untilUncontended, whereItHolds } from "../refusals.ts";
import { SHARDS } from "../shards.ts";
import { writeEach } from "../single-writes.ts";
import { type Addends, countWrites, sumOf } from "./counts.ts";
import { LATEST_WRITE_SECONDS, withdrawEntry } from "./entry-packs.ts";
import {
  packKey,
  RunEntry,
  RunItem,
  type RunKey,
  RunPack,
  RunPackSeal,
  type RunRow,
  rowKeyOf,
  runEntryKey,
  runKeys,
} from "./run-items.ts";
import { newestRuns, type RunPlace, runRows } from "./run-rows.ts";

/** A run of a pack: its former position, and its change of the counts. */
interface PackMember {
  run: string;
  /** The sequence number before the move. */
  seq: number;
  counts: Addends;
  /** Set for a run that begins in the pack: no row indexes it yet. */
  subscriber?: string;
}

/** A pack in which every member has moved, or can no longer move. */
interface DecidedPack {
  pack: string;
  journey: string;
  moved: readonly PackMember[];
}

/** Opens a pack, before its first run moves. */
export async function openPack(store: Store, pack: string, journey: string, members: readonly PackMember[]) {
  const groups = [...Map.groupBy(members, ({ counts }) => toJson(counts)).values()].map((same) => ({
    add: { ...same[0]?.counts },
    runs: same.map(memberText).join(" "),
  }));
  await store.put(RunPack, packKey(pack), { journey, groups: toJson(groups) });
}

const memberText = ({ run, seq, subscriber }: PackMember): string =>
  [packId(run), seq, ...(subscriber === undefined ? [] : [packId(subscriber)])].join(":");

interface RunChange {
  key: RunKey;
  change: ChangeOf<typeof RunItem>;
  when: ConditionOf<typeof RunItem>;
}

/** Moves the runs of a pack. @returns for each run whether it moved in this pack, in this or an earlier attempt */
export const moveEach = (store: Store, pack: string, moves: readonly RunChange[]): Promise<boolean[]> =>
  writeEach(moves, async ({ key, change, when }) => {
    const row = await store.change(RunItem, key, change, when).catch(onConditionFailed(RunItem, (old) => old));
    return row?.pack === pack;
  });

/** Counts the moved runs of a pack, once. */
export async function sealPack(store: Store, { pack, journey, moved }: DecidedPack): Promise<void> {
  const expires = ttl(store.clock.now()) + LATEST_WRITE_SECONDS;
  const counts = sumOf(...moved.map((member) => member.counts));
  await whereItHolds(
    store.transact([putItem(RunPackSeal, { pack }, { expires }, absent()), ...countWrites(journey, pack, counts)]),
  );
  await store.remove(RunPack, packKey(pack));
}

/** Ends a pack that another worker opened: a run that has not moved stays, and can no longer move in it. */
async function settlePack(store: Store, row: RowOf<typeof RunPack>): Promise<void> {
  const { sk: pack, journey } = row;
  const members = membersOf(row);
  const moving = members.filter(({ subscriber }) => subscriber === undefined);
  const keys = moving.map(({ run }) => runEntryKey(journey, run));
  const entries = await store.getAll(RunEntry, keys);
  const found = entries.filter((entry) => entry !== undefined);
  const rows = await runRows(store, runKeys(journey, found));
  const byId = new Map(rows.flatMap((run) => (run ? [[run.id, run] as const] : [])));
  const moved = await writeEach(members, async (member) => {
    const { subscriber } = member;
    if (subscriber !== undefined)
      return (await withdrawEntry(store, pack, { subscriber, journey }, member.run)) ? [member] : [];
    const run = byId.get(member.run);
    return run && (await withdraw(store, pack, run, member.seq)) ? [member] : [];
  });
  await sealPack(store, { pack, journey, moved: moved.flat() });
}

/** Prevents that a run moves in a pack. @returns whether it has moved */
async function withdraw(store: Store, pack: string, run: RunRow, seq: number): Promise<boolean> {
  const isUnmoved = all(is("id", run.id), is("seq", seq));
  const row = await store
    .change(RunItem, rowKeyOf(run), { set: { seq: seq + 1 }, remove: ["pack"] }, isUnmoved)
    .catch(onConditionFailed(RunItem, (old) => old));
  return row?.pack === pack;
}

const membersOf = ({ groups }: RowOf<typeof RunPack>): PackMember[] =>
  fromJson(groups).flatMap(({ add, runs }) =>
    runs.split(" ").map((text) => {
      const [run = "", seq, subscriber] = text.split(":");
      const begins = subscriber === undefined ? {} : { subscriber: unpackId(subscriber) };
      return { run: unpackId(run), seq: Number(seq), counts: add, ...begins };
    }),
  );

/** Runs in the order of their keys, none of them in an open pack. */
export const settledRuns = (store: Store, keys: readonly RunKey[]): Promise<(RunRow | undefined)[]> =>
  settled(store, () => runRows(store, keys));

/** The newest runs in the order of their places, none of them in an open pack. */
export const settledNewest = (store: Store, places: readonly RunPlace[]): Promise<(RunRow | undefined)[]> =>
  settled(store, () => newestRuns(store, places));

/** Runs as they are read, none of them in an open pack. */
export async function settled(
  store: Store,
  read: () => Promise<(RunRow | undefined)[]>,
): Promise<(RunRow | undefined)[]> {
  return untilUncontended(busy.transient("Runs move too often in packs of other workers."), async () => {
    const rows = await read();
    const settledNow = await settlePacksOf(store, rows);
    return settledNow === 0 ? done(rows) : contended;
  });
}

/** Settles the open packs of these runs. @returns how many there were */
export async function settlePacksOf(store: Store, runs: readonly (RunRow | undefined)[]): Promise<number> {
  const packs = [...new Set(runs.flatMap((run) => run?.pack ?? []))];
  const found = await store.getAll(RunPack, packs.map(packKey));
  const open = found.filter((row) => row !== undefined);
  for (const row of open) await settlePack(store, row);
  return open.length;
}

/** Settles open packs, or those that were opened at least this long ago. */
export async function settleLeftPacks(store: Store, age?: number): Promise<void> {
  const range = age === undefined ? {} : { to: uuidPrefixOf(store.clock.now() - age) };
  const found = await Promise.all(SHARDS.map((shard) => store.queryAll(RunPack, { shard }, range)));
  for (const row of found.flat()) await settlePack(store, row);
}
