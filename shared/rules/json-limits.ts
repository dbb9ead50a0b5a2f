// Limits on parsed JSON, checked before any schema: a recursive schema would overflow the stack on a deep value.
import { fieldPath } from "./field-path.ts";

/** Bounds on a JSON value. */
export interface JsonLimits {
  /** Nested containers: `{}` has depth 1, a bare string 0. */
  depth: number;
  /** Object keys in the whole value; array elements do not count. */
  keys: number;
  /** UTF-16 code units of all keys and strings together. */
  characters: number;
}

export const JSON_LIMITS: JsonLimits = { depth: 20, keys: 1_000, characters: 1_048_576 };

const REFUSED_KEYS = new Set(["__proto__", "constructor", "prototype"]);
const MAX_PATH = 120;

/** Whether a key is always refused, because code that copies objects could assign the prototype by it. */
export const isRefusedKey = (key: string): boolean => REFUSED_KEYS.has(key);

/** A container to be visited. Paths are built by `parent`, and only for a refusal. */
interface ContainerPath {
  value: object;
  depth: number;
  key: string | number;
  parent: ContainerPath | undefined;
}

/**
 * The reason why a parsed JSON value is refused, with the path of the problem (`at a.b[3]`), or undefined if it is
 * within the limits. Refused are too much depth, too many keys, too much text, the keys `__proto__`, `constructor` and
 * `prototype`, numbers that are not finite, and lone surrogates: all of them have the same UTF-8, so different ids would
 * be one. The function does not recurse.
 */
export function checkJson(value: unknown, limits: Partial<JsonLimits> = {}): string | undefined {
  const { depth, keys, characters } = { ...JSON_LIMITS, ...limits };
  const places: ContainerPath[] = [];
  let seenKeys = 0;
  let seenCharacters = 0;

  const visit = (item: unknown, key: string | number, parent: ContainerPath | undefined): string | undefined => {
    if (typeof item === "string") {
      seenCharacters += item.length;
      if (seenCharacters > characters) return `must not hold more than ${characters} characters of text`;
      if (!item.isWellFormed()) return `must not hold half a character${at(pathOf(key, parent))}`;
    } else if (typeof item === "number" && !Number.isFinite(item)) {
      return `must not hold a number out of range${at(pathOf(key, parent))}`;
    } else if (typeof item === "object" && item !== null) {
      const level = parent ? parent.depth + 1 : 1;
      if (level > depth) return `must not be nested deeper than ${depth} levels${at(pathOf(key, parent))}`;
      places.push({ value: item, depth: level, key, parent });
    }
    return undefined;
  };

  let reason = visit(value, "", undefined);
  for (let place = places.pop(); place && !reason; place = places.pop()) {
    if (Array.isArray(place.value)) {
      for (let i = 0; i < place.value.length && !reason; i++) reason = visit(place.value[i], i, place);
      continue;
    }
    for (const [key, item] of Object.entries(place.value)) {
      seenKeys++;
      seenCharacters += key.length;
      if (seenKeys > keys) reason = `must not hold more than ${keys} keys`;
      else if (!key.isWellFormed()) reason = `must not hold half a character in a key${at(pathOf("", place))}`;
      else if (isRefusedKey(key)) reason = `must not use the key "${key}"${at(pathOf("", place))}`;
      else reason = visit(item, key, place);
      if (reason) break;
    }
  }
  return reason;
}

const at = (path: string): string => (path === "" ? "" : ` at ${path}`);

function pathOf(key: string | number, parent: ContainerPath | undefined): string {
  const steps = key === "" ? [] : [key];
  for (let place = parent; place; place = place.parent) if (place.key !== "") steps.push(place.key);
  const path = fieldPath(...steps.reverse());
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}
