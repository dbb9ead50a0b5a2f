// A cache of an environment between requests: when it is full, the oldest entry is removed.

/** A map of at most `max` entries. */
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
      const [oldest] = cache.size >= max ? cache.keys() : [];
      if (oldest !== undefined) cache.delete(oldest);
      cache.set(key, value);
    },
    delete: (key) => {
      cache.delete(key);
    },
  };
}
