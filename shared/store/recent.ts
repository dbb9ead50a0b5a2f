// What an environment remembers between requests, with an end: the longest known goes first.

/** A map that holds at most `most` entries. */
export function recent<V>(most: number): {
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
} {
  const known = new Map<string, V>();
  return {
    get: (key) => known.get(key),
    set: (key, value) => {
      known.delete(key);
      if (known.size >= most) known.delete(known.keys().next().value!);
      known.set(key, value);
    },
    delete: (key) => {
      known.delete(key);
    },
  };
}
