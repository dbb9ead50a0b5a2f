// Rows of sixteen sorted shards, merged: newest first over all of them.
import type { Key } from "./model.ts";
import { SHARDS } from "./shards.ts";

/** Rows read from each shard beyond its even share of a page. */
const SPARE = 8;

interface ShardRange {
  newestFirst: true;
  limit: number;
  /** The highest position. */
  to?: string;
  after: Key | undefined;
}

interface Source<T> {
  query(shard: string, range: ShardRange): Promise<{ items: T[]; next?: Key | undefined }>;
  /** The sort key of a row. */
  positionOf(row: T): string;
}

interface Shard<T> {
  shard: string;
  /** Rows that were read and not handed out yet. */
  rows: T[];
  after: Key | undefined;
  ended: boolean;
}

/**
 * Hands out rows whose positions are before `before`, newest first over all shards.
 * @param expected how many rows are wanted in all, about
 */
export function newestOfShards<T>(
  { query, positionOf }: Source<T>,
  before: string | undefined,
  expected: number,
): (count: number) => Promise<T[]> {
  const limit = Math.ceil(expected / SHARDS.length) + SPARE;
  const shards = SHARDS.map((shard): Shard<T> => ({ shard, rows: [], after: undefined, ended: false }));

  const refill = async (state: Shard<T>) => {
    while (state.rows.length === 0 && !state.ended) {
      const range = {
        newestFirst: true,
        limit,
        ...(before !== undefined && { to: before }),
        after: state.after,
      } as const;
      const page = await query(state.shard, range);
      state.rows.push(...page.items.filter((row) => positionOf(row) !== before));
      state.after = page.next;
      state.ended = page.next === undefined;
    }
  };

  /** The shard whose first row is the newest; undefined if none has a row left. */
  const newest = (): Shard<T> | undefined =>
    shards.reduce<Shard<T> | undefined>((best, one) => {
      const [row] = one.rows;
      const [bestRow] = best?.rows ?? [];
      return row !== undefined && (bestRow === undefined || positionOf(row) > positionOf(bestRow)) ? one : best;
    }, undefined);

  return async (count) => {
    const taken: T[] = [];
    await Promise.all(shards.map(refill));
    while (taken.length < count) {
      const next = newest();
      const row = next?.rows.shift();
      if (!next || row === undefined) break;
      taken.push(row);
      await refill(next);
    }
    return taken;
  };
}
