// Rows of several sorted partitions in one order, and pages of the matching ones.
import { pageRoom } from "../contract/paging.ts";
import type { Key } from "./model.ts";
import { SHARDS } from "./shards.ts";

/** A source of rows that are in order. */
export interface SortedSource<T> {
  /** The first of the rows that were read and not taken. */
  head(): T | undefined;
  shift(): T | undefined;
  /** Reads on where none is left, until there is one or the end. */
  fill(wanted: number): Promise<void>;
}

/** @param read a page of about so many rows, after the key that ended the one before it */
export function sorted<T>(
  read: (after: Key | undefined, wanted: number) => Promise<{ items: readonly T[]; next?: Key | undefined }>,
  start?: Key,
): SortedSource<T> {
  let rows: readonly T[] = [];
  let position = 0;
  let after = start;
  let hasEnded = false;
  return {
    head: () => rows[position],
    shift: () => rows[position++],
    fill: async (wanted) => {
      while (position >= rows.length && !hasEnded) {
        const page = await read(after, wanted);
        rows = page.items;
        position = 0;
        after = page.next;
        hasEnded = page.next === undefined;
      }
    },
  };
}

/** The source whose head is before those of the others; undefined where none has a row left. */
export const firstOf = <T, S extends Pick<SortedSource<T>, "head">>(
  sources: readonly S[],
  isBefore: (one: T, other: T) => boolean,
): S | undefined =>
  sources.reduce<S | undefined>((best, source) => {
    const [mine, theirs] = [source.head(), best?.head()];
    return mine !== undefined && (theirs === undefined || isBefore(mine, theirs)) ? source : best;
  }, undefined);

/** Rows read from each shard beyond its even share of a page. */
const SPARE = 8;

interface ShardRange {
  newestFirst: true;
  limit: number;
  /** The highest position. */
  to?: string;
  after: Key | undefined;
}

interface Shards<T> {
  query(shard: string, range: ShardRange): Promise<{ items: T[]; next?: Key | undefined }>;
  /** The sort key of a row. */
  positionOf(row: T): string;
}

/**
 * Hands out rows whose positions are before `before`, newest first over all shards.
 * @param expected how many rows are wanted in all, about
 */
export function newestOfShards<T>(
  { query, positionOf }: Shards<T>,
  before: string | undefined,
  expected: number,
): (count: number) => Promise<T[]> {
  const limit = Math.ceil(expected / SHARDS.length) + SPARE;
  const range = { newestFirst: true, limit, ...(before !== undefined && { to: before }) } as const;
  const shards = SHARDS.map((shard) =>
    sorted(async (after) => {
      const { items, next } = await query(shard, { ...range, after });
      return { items: items.filter((row) => positionOf(row) !== before), next };
    }),
  );
  return async (count) => {
    const taken: T[] = [];
    await Promise.all(shards.map((shard) => shard.fill(limit)));
    while (taken.length < count) {
      const newest = firstOf<T, SortedSource<T>>(shards, (one, other) => positionOf(one) > positionOf(other));
      const row = newest?.shift();
      if (!newest || row === undefined) break;
      taken.push(row);
      await newest.fill(limit);
    }
    return taken;
  };
}

/** Entries that are looked at together: when large ones fill the page early, few were read in vain. */
const MAX_AT_ONCE = 100;

interface MergeOptions {
  cursors: { seal(place: string | undefined): string };
  limit: number;
  /** The most that are looked at for one page. */
  max: number;
}

/**
 * A page of the entries that match, among all that are read in turn. A selective filter gives a short page and a
 * cursor. @param look reads at most this many, each with its place; none at the end
 */
export async function wantedPage<T>(
  { cursors, limit, max }: MergeOptions,
  look: (count: number) => Promise<readonly { place: string; found: T | undefined }[]>,
): Promise<{ items: T[]; next_cursor: string }> {
  const items: T[] = [];
  const takes = pageRoom();
  let last: string | undefined;
  let count = limit;
  for (let examined = 0; items.length < limit && examined < max; ) {
    const batch = await look(Math.min(count, MAX_AT_ONCE, max - examined));
    if (batch.length === 0) return { items, next_cursor: "" };
    examined += batch.length;
    const before = items.length;
    for (const { place, found } of batch) {
      const isFull = found !== undefined && (items.length === limit || !takes(found));
      if (isFull) return { items, next_cursor: cursors.seal(last) };
      if (found !== undefined) items.push(found);
      last = place;
    }
    count = countAfter(count, { open: limit - items.length, found: items.length - before });
  }
  return { items, next_cursor: cursors.seal(last) };
}

/**
 * How many entries to look at next, after so many: those that a page has open, and more and more where the filter passed all
 * by. One after the other they would take as many calls as a page passes by, and longer than a request may.
 */
export const countAfter = (count: number, { open, found }: { open: number; found: number }): number =>
  found > 0 ? open : 2 * count;
