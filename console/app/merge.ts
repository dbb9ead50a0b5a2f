// Two people changed one thing: what only one of them changed is taken from each, the rest is named.
type Json = unknown;
type Fields = Readonly<Record<string, Json>>;

const isFields = (value: Json): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

/** Of JSON values, whatever the order of their keys; a key that is undefined is none. */
export function isSame(a: Json, b: Json): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, n) => isSame(one, b[n]));
  if (!isFields(a) || !isFields(b)) return a === b;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((key) => isSame(a[key], b[key]));
}

/**
 * What of a draft is not saved yet.
 * @param words by field, where its name is not what it is called; empty for what nobody wrote
 */
export const unsavedOf = (
  { value, begun }: { value: object; begun: object },
  words: Readonly<Record<string, string>> = {},
): string[] => {
  const before = new Map(Object.entries(begun));
  const changed = Object.entries(value).filter(([name, one]) => !isSame(one, before.get(name)));
  return [...new Set(changed.map(([name]) => words[name] ?? name))].filter((word) => word !== "");
};

/** Of the fields that were shown, those that are changed: others keep what somebody else saved meanwhile. An emptied one is null. */
export const changesOf = <T>(begun: Readonly<Record<string, T>>, mine: Readonly<Record<string, T>>) =>
  Object.fromEntries(
    [...new Set([...Object.keys(begun), ...Object.keys(mine)])].flatMap((key): [string, T | null][] => {
      const [from, to] = [begun[key], mine[key]];
      const isUntouched = isSame(from, to) || (from === "" && to === undefined);
      return isUntouched ? [] : [[key, to ?? null]];
    }),
  );

/** What both changed, each in its own way. */
interface Overlap {
  /** `content.title`. */
  path: string;
  mine: Json;
  theirs: Json;
}

export interface MergeResult {
  /** With mine where both changed it. */
  mine: Json;
  /** With theirs there. */
  theirs: Json;
  overlaps: readonly Overlap[];
}

const taken = (value: Json): MergeResult => ({ mine: value, theirs: value, overlaps: [] });

/** Lists are one value: their places mean nothing once another has changed them. @param base what both began with */
export function merge(base: Json, mine: Json, theirs: Json, path = ""): MergeResult {
  if (isSame(mine, theirs) || isSame(theirs, base)) return taken(mine);
  if (isSame(mine, base)) return taken(theirs);
  if (!isFields(mine) || !isFields(theirs)) return { mine, theirs, overlaps: [{ path, mine, theirs }] };
  const from = isFields(base) ? base : {};
  const parts = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].map((key) => ({
    key,
    part: merge(from[key], mine[key], theirs[key], path ? `${path}.${key}` : key),
  }));
  const whole = (side: "mine" | "theirs") =>
    Object.fromEntries(parts.flatMap(({ key, part }) => (part[side] === undefined ? [] : [[key, part[side]]])));
  return { mine: whole("mine"), theirs: whole("theirs"), overlaps: parts.flatMap(({ part }) => part.overlaps) };
}
