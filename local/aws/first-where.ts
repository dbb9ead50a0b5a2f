// Binary search in a list that is in order.

/** The first position from which on a test holds, in a list where it holds for all elements behind one; else the length. */
export function firstWhere<T>(list: readonly T[], holds: (element: T) => boolean): number {
  // Most elements are added at the end.
  const last = list.at(-1);
  if (last === undefined || !holds(last)) return list.length;

  let low = 0;
  let high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}
