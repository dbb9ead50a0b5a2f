// What an environment remembers between requests, with an end: the longest known goes first.

/** A map that holds at most `most` entries. */
export function recent<V>(max: number): {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
} {
  const cache = new Map<string, V>();
  return {
    get: (key) => cache.get(key),
    set: (key, value) => {
      cache.delete(key);
      if (cache.size >= max) cache.delete(cache.keys().next().value!);
      cache.set(key, value);
    },
    delete: (key) => {
      cache.delete(key);
    },
  };
}
