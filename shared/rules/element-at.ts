// Elements of a list by their place.

/** The element at a place. @throws RangeError if the list has no such element */
export function elementAt<T>(list: readonly T[], place: number): T {
  const found = list[place];
  if (found === undefined) throw new RangeError(`The list of ${list.length} has no element at ${place}.`);
  return found;
}
