// Limits on parsed JSON, checked before any schema: a recursive schema would overflow the stack on a deep value.
import { fieldPath } from "./field-path.ts";

/** Bounds on a JSON value. */
export interface JsonLimits {
  /** Nested containers: `{}` has depth 1, a bare string 0. */
  depth: number;
  /** Object keys in the whole value; array elements do not count. */
  keys: number;
  /** Elements of all arrays together. */
  elements: number;
  /** UTF-16 code units of all keys and strings together. */
  characters: number;
}

export const JSON_LIMITS: JsonLimits = { depth: 20, keys: 1_000, elements: 20_000, characters: 1_048_576 };

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

/** The refused part of a value (`a.b[3]`, or empty for the whole), and the reason. */
interface JsonProblem {
  path: string;
  reason: string;
}

/**
 * The problem of a parsed JSON value, or undefined if it is within the limits. Too much depth, too many keys or list
 * entries, too much text, the keys `__proto__`, `constructor` and `prototype`, numbers that are not finite, and lone
 * surrogates are refused. All lone surrogates have the same UTF-8, so different ids would become one. The function does
 * not recurse.
 */
export function checkJson(value: unknown, limits: Partial<JsonLimits> = {}): JsonProblem | undefined {
  const { depth, keys, elements, characters } = { ...JSON_LIMITS, ...limits };
  const places: ContainerPath[] = [];
  let seenKeys = 0;
  let seenElements = 0;
  let seenCharacters = 0;

  const visit = (item: unknown, key: string | number, parent: ContainerPath | undefined): JsonProblem | undefined => {
    const here = (reason: string): JsonProblem => ({ path: pathOf(key, parent), reason });
    if (typeof item === "string") {
      seenCharacters += item.length;
      if (seenCharacters > characters)
        return { path: "", reason: `must not hold more than ${characters} characters of text` };
      if (!item.isWellFormed()) return here("must not hold half a character");
    } else if (typeof item === "number" && !Number.isFinite(item)) {
      return here("must not hold a number out of range");
    } else if (typeof item === "object" && item !== null) {
      const level = parent ? parent.depth + 1 : 1;
      if (level > depth) return here(`must not be nested deeper than ${depth} levels`);
      places.push({ value: item, depth: level, key, parent });
    }
    return undefined;
  };

  let problem = visit(value, "", undefined);
  for (let place = places.pop(); place && !problem; place = places.pop()) {
    if (Array.isArray(place.value)) {
      seenElements += place.value.length;
      if (seenElements > elements) return { path: "", reason: `must not hold more than ${elements} list entries` };
      for (let i = 0; i < place.value.length && !problem; i++) problem = visit(place.value[i], i, place);
      continue;
    }
    const within = (reason: string): JsonProblem => ({ path: pathOf("", place), reason });
    for (const [key, item] of Object.entries(place.value)) {
      seenKeys++;
      seenCharacters += key.length;
      if (seenKeys > keys) problem = { path: "", reason: `must not hold more than ${keys} keys` };
      else if (!key.isWellFormed()) problem = within("must not hold half a character in a key");
      else if (isRefusedKey(key)) problem = within(`must not use the key "${key}"`);
      else problem = visit(item, key, place);
      if (problem) break;
    }
  }
  return problem;
}

function pathOf(key: string | number, parent: ContainerPath | undefined): string {
  const steps = key === "" ? [] : [key];
  for (let place = parent; place; place = place.parent) if (place.key !== "") steps.push(place.key);
  const path = fieldPath(...steps.reverse());
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}…` : path;
}
