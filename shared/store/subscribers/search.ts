// Subscribers by the beginning of their external id, email address, last name or full name (docs/decisions/0034, 0131).
// Entries follow from the table's stream, so that an upsert costs nothing more.
import * as v from "valibot";
import { cursorsOf } from "../../contract/paging.ts";
import { folded, isSpelledLike, otherSpellings } from "../../rules/folded.ts";
import type { Store, StoreReader } from "../context.ts";
import { idKeys, type KeyOf, keyOf, putItem, removeItem } from "../item.ts";
import type { RootSecrets } from "../secrets.ts";
import { SHARDS } from "../shards.ts";
import { firstOf, sorted, wantedPage } from "../sorted.ts";
import { Profile, type ProfileRow } from "./items.ts";
import { SearchEntry } from "./search-items.ts";
import { attributesOf, getProfiles, type LivingProfile, nameOf, type Subscriber, subscriberOf } from "./subscribers.ts";

type EntryKey = KeyOf<typeof SearchEntry>;

/** Longer names are found by their beginning. */
const MAX_CHARACTERS = 128;
/** Entries read for one page. Filters that leave most out give a short page and a cursor. */
const MAX_EXAMINED = 1_000;
/** Entries read from each shard beyond its even share of a page. */
const SPARE = 4;

/** The form in which names are stored and searched. */
const searchText = (text: string): string =>
  [...text.normalize("NFKC").toLowerCase().trim()].slice(0, MAX_CHARACTERS).join("");

function lastNameOf(profile: ProfileRow): string {
  const name = profile["a:last_name"] === undefined ? "" : attributesOf(profile).last_name;
  return typeof name === "string" ? name : "";
}

/** The entries of a profile, or of a tombstone that still has the identifiers. A name with marks has one without them. */
export function entriesOf(profile: ProfileRow): EntryKey[] {
  const { id: subscriber, external_id = "", email = "" } = profile;
  const texts = { x: external_id, e: email, n: lastNameOf(profile) };
  return Object.entries(texts).flatMap(([field, whole]) =>
    [...new Set([searchText(whole), searchText(folded(whole))])]
      .filter((text) => text !== "")
      .map((text) => ({ subscriber, text, field: field as keyof typeof texts })),
  );
}

/** Entries that begin with a text, of the profiles that fit. */
interface SearchPrefix {
  prefix: string;
  fits: (profile: LivingProfile) => boolean;
}

/**
 * A text of several words may be a full name: it is looked for by its last word. A name with marks is found by its other
 * spelling, too.
 */
function looksFor(q: string): SearchPrefix[] {
  const prefix = searchText(q);
  const lastWord = prefix.split(" ").at(-1) ?? "";
  const isFullName = lastWord !== prefix;
  const nameIn = isFullName ? nameOf : lastNameOf;
  const fits = (profile: LivingProfile) => isSpelledLike(nameIn(profile) ?? "", prefix);
  const named = lastWord === "" ? [] : [...(isFullName ? [lastWord] : []), ...otherSpellings(lastWord)];
  return [{ prefix, fits: () => true }, ...named.map((name) => ({ prefix: name, fits }))];
}

/** The operations of the search index: reads of profiles, and puts and removals of entries. */
type SearchWriter = Pick<Store, "getAll" | "writeAll">;

/**
 * Makes the entries of subscribers what their profiles say at this moment, wherever they were in another state.
 * @param before profiles as they were, and as they became
 */
export async function updateEntries(store: SearchWriter, before: readonly ProfileRow[]): Promise<void> {
  const ids = [...new Set(before.map(({ id }) => id))];
  const profiles = await store.getAll(Profile, idKeys(ids));
  const current = profiles.flatMap((profile) => (profile && profile.erased_at === undefined ? entriesOf(profile) : []));
  const kept = new Set(current.map(positionOf));
  const former = new Map(before.flatMap(entriesOf).map((key) => [positionOf(key), key]));
  await store.writeAll([
    ...[...former].flatMap(([name, key]) => (kept.has(name) ? [] : [removeItem(SearchEntry, key)])),
    ...current.map((key) => putItem(SearchEntry, key, {})),
  ]);
}

const positionOf = (key: EntryKey) => SearchEntry.sk?.(key) ?? "";

interface SearchQuery {
  q: string;
  limit: number;
  cursor?: string | undefined;
}

/**
 * Searches subscribers, in the order of the matches. Each subscriber appears once, by the first of its matching names.
 */
export async function searchSubscribers(
  store: StoreReader,
  secrets: RootSecrets,
  { q, limit, cursor }: SearchQuery,
  isWanted: (subscriber: Subscriber) => boolean,
): Promise<{ items: Subscriber[]; next_cursor: string }> {
  const text = searchText(q);
  const cursors = cursorsOf(secrets, `subscribers:${store.tenant}:${text}`, v.string());
  const start = cursors.open(cursor);
  const looks = looksFor(q);
  const next = entriesFrom(store, looks, start, Math.ceil(limit / SHARDS.length) + SPARE);
  let seen = start;
  return wantedPage({ cursors, limit, max: MAX_EXAMINED }, async (count) => {
    const batch: string[] = [];
    while (batch.length < count) {
      const place = await next();
      if (place === undefined) break;
      // Two looks may find the same entry, one after the other.
      if (place !== seen) batch.push(place);
      seen = place;
    }
    const profiles = await getProfiles(store, batch.map(subscriberIn), { eventual: true });
    return batch.map((place, i) => {
      const profile = profiles[i];
      const subscriber = profile && isFirstMatch(profile, looks, place) ? subscriberOf(profile) : undefined;
      return { place, found: subscriber && isWanted(subscriber) ? subscriber : undefined };
    });
  });
}

/**
 * The most entries of an address per shard that are read with whole profiles: an address with more is not searched for.
 */
const MAX_OF_ADDRESS = 16;

/** The subscribers with an address. @returns undefined if there are too many to read */
export async function ownersOfEmail(store: StoreReader, email: string): Promise<LivingProfile[] | undefined> {
  const text = searchText(email);
  const shards = await Promise.all(
    SHARDS.map((subscriber) => {
      const range = { prefix: `${text}#e#`, limit: MAX_OF_ADDRESS, eventual: true };
      return store.query(SearchEntry, { subscriber }, range);
    }),
  );
  if (shards.some(({ next }) => next)) return undefined;
  const ids = shards.flatMap(({ items }) => items.map(({ sk }) => subscriberIn(sk)));
  const profiles = await getProfiles(store, ids, { eventual: true });
  return profiles.flatMap((profile) => profile ?? []);
}

const subscriberIn = (position: string) => position.slice(position.lastIndexOf("#") + 1);

const matchesIn = (profile: LivingProfile, looks: readonly SearchPrefix[]): EntryKey[] => {
  const fitting = looks.filter(({ fits }) => fits(profile));
  return entriesOf(profile).filter(({ text }) => fitting.some(({ prefix }) => text.startsWith(prefix)));
};

/** An entry may be older than the profile, and a profile may have several that match. */
const isFirstMatch = (profile: LivingProfile, looks: readonly SearchPrefix[], position: string): boolean =>
  matchesIn(profile, looks).map(positionOf).sort(inBytes)[0] === position;

export const isFoundBy = (profile: LivingProfile, q: string): boolean => matchesIn(profile, looksFor(q)).length > 0;

/** The order of sort keys. */
const inBytes = (one: string, other: string) => Buffer.compare(Buffer.from(one), Buffer.from(other));

function entriesFrom(store: StoreReader, looks: readonly SearchPrefix[], start: string | undefined, limit: number) {
  const sources = looks.flatMap(({ prefix }) => {
    // A page that begins before these entries has all of them, and one that begins after them none.
    const isWithin = start?.startsWith(prefix) ?? false;
    if (start !== undefined && !isWithin && inBytes(start, prefix) > 0) return [];
    return SHARDS.map((shard) => {
      const { pk } = keyOf(SearchEntry, store.tenant, { subscriber: shard, text: prefix, field: "x" });
      const first = start !== undefined && isWithin ? { pk, sk: start } : undefined;
      return sorted(async (after) => {
        const page = await store.query(SearchEntry, { subscriber: shard }, { prefix, limit, after, eventual: true });
        return { items: page.items.map(({ sk }) => sk), next: page.next };
      }, first);
    });
  });
  return async () => {
    await Promise.all(sources.map((source) => source.fill(limit)));
    return firstOf(sources, (one: string, other: string) => inBytes(one, other) < 0)?.shift();
  };
}

/** Removes the entries of a subscriber that is being erased. @returns how many there were. */
export async function forgetEntries(store: Store, tombstone: ProfileRow): Promise<number> {
  const entries = await store.getAll(SearchEntry, entriesOf(tombstone));
  const found = entries.filter((entry) => entry !== undefined);
  await store.removeRows(found);
  return found.length;
}
