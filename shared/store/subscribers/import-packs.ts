// A batch of an import writes its rows one by one, at half the price of a transaction (docs/decisions/0115). Its pack, which
// is stored first, says whose rows these may be. Each row names the pack, and the seal counts them once.
import { addedUp } from "../../rules/counting.ts";
import { absent, all, asRead, type Condition, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { countChange } from "../counters.ts";
import { familyOf } from "../families.ts";
import { changeItem, idKeys, type RowOf, removeItem } from "../item.ts";
import { settleMembers } from "../lists/imported-members.ts";
import { countWrite } from "../lists/member-counts.ts";
import { contended, done, madeOnce, tooLarge, transacted, untilUncontended } from "../refusals.ts";
import { shardOf } from "../shards.ts";
import { writeEach } from "../single-writes.ts";
import { ImportPack } from "./import-items.ts";
import { type ImportJob, READING_LEASE_MS } from "./imports.ts";
import { Profile, SubscriberCount } from "./items.ts";
import { newProfile, type SubscriberInput } from "./profile-changes.ts";

/** A pack that is open: what names it counts with its seal. */
export interface ImportPackRef {
  id: string;
  list: string;
}

const ID_BYTES = 16;

const packedIds = (ids: readonly string[]): Uint8Array => Buffer.from(ids.join("").replaceAll("-", ""), "hex");

function unpackedIds(packed: Uint8Array): string[] {
  const digits = Buffer.from(packed).toString("hex");
  return (digits.match(new RegExp(`.{${2 * ID_BYTES}}`, "g")) ?? []).map((id) =>
    id.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
  );
}

/** Opens a pack, before the first row of the batch is written. @param subscribers all whose rows may name it */
export async function openPack(
  store: Store,
  { id: job, list }: Pick<ImportJob, "id" | "list">,
  subscribers: readonly string[],
): Promise<ImportPackRef> {
  const id = store.ids.uuidAt(store.clock.now());
  const until = store.clock.now() + READING_LEASE_MS;
  await store.put(ImportPack, { pack: id }, { job, list, subscribers: packedIds(subscribers), until });
  return { id, list };
}

/** A subscriber that is not there, with the id that it gets. */
interface Creation {
  id: string;
  input: SubscriberInput;
}

/**
 * Creates subscribers that were not there a moment ago.
 * @returns those that were created; the others, also those that are too large, are left to an upsert
 */
export async function createWithPack(
  store: Store,
  { id: pack }: ImportPackRef,
  creations: readonly Creation[],
): Promise<Creation[]> {
  const create = async ({ id, input }: Creation): Promise<boolean> => {
    const { pk: _, sk: __, ...row } = newProfile(store, id, input);
    const creating = store.put(Profile, { id }, { ...row, pack }, absent());
    return madeOnce(Profile, creating, (old) => old?.pack === pack);
  };
  const created = await writeEach(creations, async (creation) => {
    const isCreated = await create(creation).catch(tooLarge(() => false));
    return isCreated ? [creation] : [];
  });
  return created.flat();
}

/** How many of the rows are in each shard. */
type PerShard = Readonly<Record<string, number>>;

const perShard = (ids: readonly string[]): PerShard => addedUp(ids.map((id) => ({ [shardOf(id)]: 1 })));

/** Counts what names the pack, and removes the pack. @returns false if that was done before, or `when` does not hold */
function seal(
  store: Store,
  { id, list }: ImportPackRef,
  { created, entered }: { created: PerShard; entered: PerShard },
  when: Condition<"pk" | "removals"> = present(),
): Promise<boolean> {
  return transacted(store, [
    removeItem(ImportPack, { pack: id }, when),
    ...Object.entries(created).map(([shard, n]) => changeItem(SubscriberCount, { shard }, countChange({ n }))),
    ...Object.entries(entered).map(([shard, n]) => countWrite({ kind: "list", id: list }, shard, n)),
  ]);
}

/** The seal of the worker that wrote the rows. @param created ids of new subscribers @param entered of new members */
export async function sealPack(
  store: Store,
  pack: ImportPackRef,
  { created, entered }: { created: readonly string[]; entered: readonly string[] },
): Promise<void> {
  // It is not open any more where the reply to this very seal was lost.
  await seal(store, pack, { created: perShard(created), entered: perShard(entered) });
}

/** Seals a pack whose worker does not write any more, by the rows that name it. */
async function settlePack(store: Store, { sk: id, list }: RowOf<typeof ImportPack>): Promise<void> {
  await untilUncontended(
    () => new Error(`Members were removed too often while the rows of pack ${id} were counted.`),
    async () => {
      const row = await store.get(ImportPack, { pack: id });
      if (!row) return done(undefined);
      const { removals } = row;
      const ids = unpackedIds(row.subscribers);
      const entered = await settleMembers(store, { id, list }, ids);
      const profiles = await store.getAll(Profile, idKeys(ids));
      // A subscriber who was erased in the meantime was uncounted then.
      const created = ids.filter((_, i) => profiles[i]?.pack === id);
      const gone = Object.fromEntries(familyOf(row, "gone:"));
      const counts = { created: perShard(created), entered: addedUp([perShard(entered), gone]) };
      const isAsRead = all(present(), asRead("removals", removals));
      return (await seal(store, { id, list }, counts, isAsRead)) ? done(undefined) : contended;
    },
  );
}

/** The packs that are open, of one import or of all. */
async function openPacks(store: StoreReader, job?: string) {
  const packs = await store.queryAll(ImportPack, {});
  return packs.filter((pack) => job === undefined || pack.job === job);
}

/** Whether rows may be there that are not counted yet. */
export const hasOpenPack = async (store: StoreReader): Promise<boolean> => (await openPacks(store)).length > 0;

/** Counts the uncounted rows of an earlier worker of an import. The caller has the import to itself. */
export async function settlePacksOf(store: Store, job: string): Promise<void> {
  for (const pack of await openPacks(store, job)) await settlePack(store, pack);
}

/** The same of every import, as far as their workers do not write any more. @returns until when others may write */
export async function settleLeftImportPacks(store: Store, job?: string): Promise<number | undefined> {
  const now = store.clock.now();
  const packs = await openPacks(store, job);
  const [left, others] = [packs.filter(({ until }) => until <= now), packs.filter(({ until }) => until > now)];
  for (const pack of left) await settlePack(store, pack);
  return others.length > 0 ? Math.max(...others.map(({ until }) => until)) : undefined;
}
