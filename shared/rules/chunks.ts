// Lists in parts.

export function chunksOf<T>(list: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < list.length; start += size) chunks.push(list.slice(start, start + size));
  return chunks;
}

interface PartLimits {
  /** Together, as `sizeOf` measures them; an entry that is larger is a part of its own. */
  size: number;
  count?: number;
}

/** A list in parts, in its order, each filled as far as the limits let it. */
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
