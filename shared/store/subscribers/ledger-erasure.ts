// Erasure of the ledger: its rows are kept without the subscriber (SUB-10). A pseudonym replaces the id, both in the
// ledger and in the chunk that each row names, so that counts still follow from rows.
import { createHash } from "node:crypto";
import { SECOND, timestamp } from "../../kernel/clock.ts";
import { isPseudonym, PSEUDONYM_PREFIX, packId, timeOfUuid } from "../../kernel/ids.ts";
import { is, present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { type ItemWrite, putItem, type RowOf, rowOf } from "../item.ts";
import type { Item } from "../model.ts";
import { contended, done, happened, untilUncontended, whereItHolds } from "../refusals.ts";
import { ChunkItem } from "../sends/audience/audience-items.ts";
import { SINGLE_RANGE } from "../sends/chunks/range-names.ts";
import { Message } from "../sends/inbox/inbox-items.ts";
import { JobItem } from "../sends/jobs/job-items.ts";
import { TouchItem } from "../sends/ledger/ledger-items.ts";
import { type ChunkRef, chunkRefOf } from "../sends/ledger/touches.ts";
import { Profile } from "./items.ts";
import { getProfiles } from "./subscribers.ts";

/**
 * How long a writer may rely on a profile that it has read: a row that it then writes, within the minute of a worker,
 * is found by the second pass of an erasure (`SECOND_PASS_MS`).
 */
export const KNOWN_ALIVE_MS = 30 * SECOND;

/** Attempts to change a chunk that others change at the same time. */
const MAX_ATTEMPTS = 20;

const newPseudonym = ({ ids }: Pick<Store, "ids">): string => PSEUDONYM_PREFIX + ids.uuid();

/**
 * Replaces an erased subscriber in a chunk by a pseudonym: by `chosen`, else by that of its erasure, as long as it is stored.
 * @returns the pseudonym.
 */
export async function forgetInChunk(store: Store, chunkRef: ChunkRef, subscriber: string, chosen?: string) {
  if (isPseudonym(subscriber)) return subscriber;
  const pseudonym = chosen ?? (await store.get(Profile, { id: subscriber }))?.mark ?? newPseudonym(store);
  if (chunkRef.range === SINGLE_RANGE) return forgetOnJob(store, chunkRef.job, subscriber, pseudonym);
  return untilUncontended(
    () => new Error("A chunk changed too often for a recipient to be replaced in it."),
    async () => {
      const row = await store.get(ChunkItem, chunkRef);
      const [name, ...others] = (["recipients", "held_out"] as const).filter((list) =>
        includes(row?.[list], subscriber),
      );
      if (!row || !name) return done(pseudonym);
      const before = row[name] ?? "";
      const after = replaced(before, subscriber, pseudonym);
      const set = name === "recipients" ? { recipients: after } : { held_out: after };
      const isDone = await happened(store.change(ChunkItem, chunkRef, { set }, is(name, before)));
      if (isDone && others.length === 0) return done(pseudonym);
      return contended;
    },
    MAX_ATTEMPTS,
  );
}

/** Replaces a recipient on the row of a job. */
async function forgetOnJob(store: Store, job: string, subscriber: string, pseudonym: string): Promise<string> {
  return untilUncontended(
    () => new Error("A job changed too often for a recipient to be replaced on it."),
    async () => {
      const { recipients } = (await store.get(JobItem, { job })) ?? {};
      if (recipients === undefined || !includes(recipients, subscriber)) return done(pseudonym);
      const set = { recipients: replaced(recipients, subscriber, pseudonym) };
      const isDone = await happened(store.change(JobItem, { job }, { set }, is("recipients", recipients)));
      return isDone ? done(pseudonym) : contended;
    },
    MAX_ATTEMPTS,
  );
}

/**
 * The names under which rows of a chunk may be written now. While the chunk is fresh, they are the ids. Later, erased
 * subscribers get a pseudonym, because the last pass of their erasure may be over.
 */
export async function namesNow(
  store: Store,
  chunkRef: ChunkRef,
  plannedAt: number,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const names = new Map(ids.map((id) => [id, id]));
  if (store.clock.now() - plannedAt <= KNOWN_ALIVE_MS) return names;
  const subscribers = [...names.keys()].filter((id) => !isPseudonym(id));
  const profiles = await getProfiles(store, subscribers);
  for (const [i, id] of subscribers.entries())
    if (!profiles[i]) names.set(id, await forgetInChunk(store, chunkRef, id));
  return names;
}

const idIn = (word: string): string | undefined => word.split(":")[0];

const includes = (list: string | undefined, subscriber: string): boolean =>
  list?.split(" ").some((word) => idIn(word) === packId(subscriber)) ?? false;

const replaced = (list: string, subscriber: string, pseudonym: string): string =>
  list
    .split(" ")
    .map((word) => {
      const [id, ...rest] = word.split(":");
      return id === packId(subscriber) ? [packId(pseudonym), ...rest].join(":") : word;
    })
    .join(" ");

/** The pseudonym of an erased subscriber: kept with the tombstone while traces are removed, and removed with the last. */
export async function pseudonymOf(store: Store, subscriber: string): Promise<string> {
  const pseudonym = newPseudonym(store);
  const marked = store.change(Profile, { id: subscriber }, { initial: { mark: pseudonym } }, present("erased_at"));
  return (await whereItHolds(marked))?.mark ?? pseudonym;
}

export async function forgetPseudonym(store: Store, subscriber: string): Promise<void> {
  await whereItHolds(store.change(Profile, { id: subscriber }, { remove: ["mark"] }, present("mark")));
}

type LedgerRow = { kind: "touch"; row: RowOf<typeof TouchItem> } | { kind: "message"; row: RowOf<typeof Message> };

const TOUCH = "R#";
const MESSAGE = "I#";

/** Whether a row is a row of the ledger, or a message of the inbox, which is its own ledger entry. */
export const isLedgerRow = ({ sk }: { sk: string }): boolean => sk.startsWith(TOUCH) || sk.startsWith(MESSAGE);

const ledgerRowOf = (row: Item): LedgerRow =>
  row.sk.startsWith(TOUCH)
    ? { kind: "touch", row: rowOf(TouchItem, row) }
    : { kind: "message", row: rowOf(Message, row) };

/** Anonymizes rows of the ledger: first in their chunks, then as rows of the pseudonym. */
export async function anonymizeLedger(
  store: Store,
  subscriber: string,
  pseudonym: string,
  rows: readonly Item[],
): Promise<void> {
  const chunkRefs = new Map<string, ChunkRef>();
  const writes: ItemWrite<"workspace">[] = [];
  for (const ledgerRow of rows.map(ledgerRowOf)) {
    const { job, place } = ledgerRow.row;
    if (place === undefined) continue;
    chunkRefs.set(`${job}#${place}`, chunkRefOf({ job, place }));
    writes.push(anonymousWrite(pseudonym, ledgerRow, place));
  }
  for (const chunkRef of chunkRefs.values()) await forgetInChunk(store, chunkRef, subscriber, pseudonym);
  await store.writeAll(writes);
}

/** The anonymous row keeps the time, the job, the channel and the outcome. */
function anonymousWrite(pseudonym: string, ledgerRow: LedgerRow, place: string): ItemWrite<"workspace"> {
  if (ledgerRow.kind === "message") {
    const { sk, job } = ledgerRow.row;
    const at = timestamp(timeOfUuid(sk.slice(MESSAGE.length)));
    const key = { subscriber: pseudonym, at, job, target: "in_app" };
    return putItem(TouchItem, key, { job, place, state: "sent", channel: "in_app" });
  }
  const { sk, job, arm, state, reason, channel, device, tries } = ledgerRow.row;
  const [, at = ""] = sk.split("#");
  const anonymous = createHash("sha256").update(`${pseudonym}:${device}`).digest("hex").slice(0, 12);
  const target = `${channel ?? state}${device === undefined ? "" : `.${anonymous}`}`;
  const key = { subscriber: pseudonym, at, job, target };
  return putItem(TouchItem, key, { job, place, arm, state, reason, channel, tries });
}
