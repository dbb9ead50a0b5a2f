// A seeded source of randomness: everything that happens by chance in a simulated world is drawn from it.

export interface Random {
  /** At least 0, below 1. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number, both ends included. */
  between(from: number, to: number): number;
  pick<T>(list: readonly T[]): T;
  /** Some of a list, each once, in any order. */
  some<T>(list: readonly T[], count: number): T[];
  bytes(length: number): Buffer;
  /** A source of its own, so that one actor's draws do not shift another's. */
  fork(): Random;
}

export function randomFrom(seed: number): Random {
  // sfc32 (PractRand), filled by splitmix32.
  let state = seed | 0;
  const mixed = () => {
    state = (state + 0x9e3779b9) | 0;
    let t = state ^ (state >>> 16);
    t = Math.imul(t, 0x21f0aaad);
    t ^= t >>> 15;
    t = Math.imul(t, 0x735a2d97);
    return (t ^ (t >>> 15)) | 0;
  };
  let [a, b, c, d] = [mixed(), mixed(), mixed(), 1];
  const word = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    c |= 0;
    return t >>> 0;
  };
  for (let warmup = 0; warmup < 12; warmup++) word();

  const next = () => word() / 4_294_967_296;
  const between = (from: number, to: number) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (list) => list[between(0, list.length - 1)]!,
    some: (list, count) => {
      const left = [...list];
      return Array.from(
        { length: Math.min(count, left.length) },
        () => left.splice(between(0, left.length - 1), 1)[0]!,
      );
    },
    bytes: (length) => {
      const bytes = Buffer.alloc(length);
      for (let at = 0; at < length; at++) bytes[at] = word() & 255;
      return bytes;
    },
    fork: () => randomFrom(word()),
  };
}
