// Splits lists into parts.

export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
  return chunks;
}

interface PartLimits {
  /** The size of all together, as `sizeOf` measures it; a larger entry is a part of its own. */
  size: number;
  count?: number;
}

/** Splits a list into parts, in order, each as full as the limits allow. */
export function filledParts<T>(
  list: readonly T[],
  sizeOf: (entry: T) => number,
  { size: most, count = Number.POSITIVE_INFINITY }: PartLimits,
): [T, ...T[]][] {
  const parts: [T, ...T[]][] = [];
  let room = 0;
  for (const entry of list) {
    const size = sizeOf(entry);
    const open = parts.at(-1);
    if (open && open.length < count && size <= room) open.push(entry);
    else {
      parts.push([entry]);
      room = most;
    }
    room -= size;
  }
  return parts;
}
