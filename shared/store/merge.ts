// Several sorted queries read as one.
import type { Key } from "./model.ts";

interface SourcePage<T> {
  items: readonly T[];
  next?: Key | undefined;
}

/** Reads a page of a source; `after` is where the former page ended. */
export type ReadPage<T> = (after: Key | undefined) => Promise<SourcePage<T>>;

/**
 * Merges sources whose items are in the same order. Each call of the result returns the next item of all of them,
 * undefined at the end. A source is read only when its items are used up.
 */
export function merged<T>(
  sources: readonly ReadPage<T>[],
  isBefore: (one: T, other: T) => boolean,
): () => Promise<T | undefined> {
  const lanes = sources.map((read) => {
    let items: readonly T[] = [];
    let position = 0;
    let after: Key | undefined;
    let ended = false;
    return {
      head: () => items[position],
      shift: () => items[position++],
      fill: async () => {
        while (position >= items.length && !ended) {
          const page = await read(after);
          [items, position, after, ended] = [page.items, 0, page.next, page.next === undefined];
        }
      },
    };
  });
  return async () => {
    await Promise.all(lanes.map(({ fill }) => fill()));
    const first = lanes.reduce<(typeof lanes)[number] | undefined>((best, lane) => {
      const [mine, theirs] = [lane.head(), best?.head()];
      return mine !== undefined && (theirs === undefined || isBefore(mine, theirs)) ? lane : best;
    }, undefined);
    return first?.shift();
  };
}
