// Erasure of the ledger: rows are kept without the person (SUB-10). A mark takes the place of the id, in the ledger
// and in the chunk that each row names, so that counts can still be told from rows.
import { createHash } from "node:crypto";
import { timeOfUuid, timestamp } from "../../clock.ts";
import type { Store } from "../../resources.ts";
import { is, present } from "../conditions.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";
import { onConditionFailed } from "../refusals.ts";
import { isPseudonym, MARK, packId } from "../sends/recipients.ts";
import { type ChunkRef, chunkRefOf } from "../sends/touches.ts";
import { KNOWN_ALIVE_MS } from "./erasure.ts";
import { getProfiles } from "./subscribers.ts";

/** How often a chunk that others change at the same time is tried again. */
const MAX_ATTEMPTS = 20;

/** A mark that names nobody. */
const newPseudonym = ({ ids }: Pick<Store, "ids">): string => MARK + ids.uuid();

/**
 * Takes a subscriber out of a chunk who is known to be gone: a mark stands there instead, and always the same one.
 * @returns the mark.
 */
export async function forgetInChunk(
  store: Store,
  chunkRef: ChunkRef,
  subscriber: string,
  pseudonym = newPseudonym(store),
) {
  if (isPseudonym(subscriber)) return subscriber;
  const key = keys.chunk(store.tenant, chunkRef.job, chunkRef.range, chunkRef.n);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const item = await store.get(key);
    if (!item) return pseudonym;
    const names = ["to", "held"].filter((name) => holds(item, name, subscriber));
    if (names.length === 0) return pseudonym;
    const name = names[0]!;
    const before = String(item[name]);
    const after = replaced(before, subscriber, pseudonym);
    const done = await store.update(key, { set: { [name]: after } }, is(name, before)).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (done && names.length === 1) return pseudonym;
  }
  throw new Error("A chunk changed too often to forget somebody in it.");
}

/**
 * Under whose name rows of a chunk may be written now: once the chunk is not fresh, whoever is gone has left a mark,
 * for an erasure may have looked for the last time.
 */
export async function namesNow(
  store: Store,
  chunkRef: ChunkRef,
  plannedAt: number,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const named = new Map(ids.map((id) => [id, id]));
  if (store.clock.now() - plannedAt <= KNOWN_ALIVE_MS) return named;
  const asked = [...named.keys()].filter((id) => !isPseudonym(id));
  const profiles = await getProfiles(store, asked);
  for (const [i, id] of asked.entries()) if (!profiles[i]) named.set(id, await forgetInChunk(store, chunkRef, id));
  return named;
}

const words = (item: Item, name: string): string[] => String(item[name] ?? "").split(" ");
const holds = (item: Item, name: string, subscriber: string): boolean =>
  words(item, name).some((word) => word.split(":")[0] === packId(subscriber));
const replaced = (text: string, subscriber: string, pseudonym: string): string =>
  text
    .split(" ")
    .map((word) => {
      const [id, ...rest] = word.split(":");
      return id === packId(subscriber) ? [packId(pseudonym), ...rest].join(":") : word;
    })
    .join(" ");

/** The mark of an erased subscriber, for as long as its traces go; kept with the tombstone, and gone with the last. */
export async function pseudonymOf(store: Store, subscriber: string): Promise<string> {
  const pseudonym = newPseudonym(store);
  const key = keys.subscriber(store.tenant, subscriber);
  return store.update(key, { initial: { mark: pseudonym } }, present("erased_at")).then(
    (item) => String(item.mark),
    onConditionFailed(() => pseudonym),
  );
}

export async function forgetPseudonym(store: Store, subscriber: string): Promise<void> {
  const key = keys.subscriber(store.tenant, subscriber);
  await store.update(key, { remove: ["mark"] }, present("mark")).catch(onConditionFailed(() => undefined));
}

const TOUCH = "R#";
const MESSAGE = "I#";

/** A ledger row, or a message of the inbox, which is its own ledger entry. */
export const isLedgerRow = ({ sk }: { sk: string }): boolean => sk.startsWith(TOUCH) || sk.startsWith(MESSAGE);

/** Makes rows of the ledger nameless: first in their chunks, then in rows of the mark's own. */
export async function anonymise(
  store: Store,
  subscriber: string,
  pseudonym: string,
  rows: readonly Item[],
): Promise<void> {
  const places = new Map(rows.flatMap((row) => (row.place === undefined ? [] : [[`${row.job}#${row.place}`, row]])));
  for (const row of places.values()) await forgetInChunk(store, chunkRefOf(row), subscriber, pseudonym);
  const kept = rows
    .filter(({ place }) => place !== undefined)
    .map((row) => ({ put: namelessOf(store, pseudonym, row) }));
  await store.writeAll(kept);
}

/** What is kept: when which job reached somebody by which channel, with what outcome. */
function namelessOf({ tenant }: Store, pseudonym: string, row: Item): Item {
  const { job, place, arm, state, reason, channel, device, tries } = row;
  if (row.sk.startsWith(MESSAGE)) {
    const at = timestamp(timeOfUuid(row.sk.slice(MESSAGE.length)));
    return {
      ...keys.touch(tenant, pseudonym, at, String(job), "in_app"),
      job,
      place,
      state: "sent",
      channel: "in_app",
    };
  }
  const at = row.sk.split("#")[1]!;
  const nameless = createHash("sha256").update(`${pseudonym}:${device}`).digest("hex").slice(0, 12);
  const target = `${channel ?? state}${device === undefined ? "" : `.${nameless}`}`;
  return { ...keys.touch(tenant, pseudonym, at, String(job), target), job, place, arm, state, reason, channel, tries };
}
