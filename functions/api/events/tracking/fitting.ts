// Fits values of other software to our limits: long values are cut, unsupported ones left out, and both are counted.
import { hasAtMost } from "../../../../shared/rules/characters.ts";
import { isRefusedKey } from "../../../../shared/rules/json-limits.ts";
import type { Value } from "../../../../shared/store/model.ts";

export interface Bounds {
  /** The most entries of the outermost object. */
  entries: number;
  keyCharacters: number;
  textCharacters: number;
  /** The most bytes of the outermost object, as JSON. */
  bytes: number;
}

export interface Fitter {
  /** Values that were cut, and values that were left out, until now. */
  counts: { shortened: number; omitted: number };
  fields(values: Readonly<Record<string, unknown>>, bounds: Bounds): Record<string, Value>;
  text(value: string, max: number): string;
}

const MAX_DEPTH = 10;

/** Fits the values of one message, and counts what it cuts and leaves out. */
export function openFitter(): Fitter {
  const counts = { shortened: 0, omitted: 0 };

  const text = (value: string, max: number): string => {
    const whole = value.toWellFormed();
    if (hasAtMost(whole, max)) return whole;
    counts.shortened++;
    return [...whole.slice(0, 2 * max)].slice(0, max).join("");
  };

  const inner = (value: unknown, bounds: Bounds, depth: number): Value[] => {
    const fitted = depth <= MAX_DEPTH ? adapted(value, bounds, depth) : undefined;
    if (fitted !== undefined) return [fitted];
    counts.omitted++;
    return [];
  };

  const adapted = (value: unknown, bounds: Bounds, depth: number): Value | undefined => {
    if (typeof value === "string") return text(value, bounds.textCharacters);
    if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
    if (typeof value === "boolean" || value === null) return value;
    if (Array.isArray(value)) return value.flatMap((member) => inner(member, bounds, depth + 1));
    if (typeof value !== "object") return undefined;
    const entries = Object.entries(value).flatMap(([key, member]) => {
      const [fitted] = inner(isFitting(key, bounds) ? member : undefined, bounds, depth + 1);
      return fitted === undefined ? [] : [[key, fitted] as const];
    });
    return Object.fromEntries(entries);
  };

  const fields: Fitter["fields"] = (values, bounds) => {
    const kept: Record<string, Value> = {};
    let { entries, bytes } = bounds;
    for (const [key, value] of Object.entries(values)) {
      const [fitted] = inner(isFitting(key, bounds) ? value : undefined, bounds, 1);
      if (fitted === undefined) continue;
      const size = Buffer.byteLength(key) + Buffer.byteLength(JSON.stringify(fitted));
      if (entries === 0 || size > bytes) {
        counts.omitted++;
        continue;
      }
      kept[key] = fitted;
      entries--;
      bytes -= size;
    }
    return kept;
  };

  return { counts, fields, text };
}

const isFitting = (key: string, { keyCharacters }: Bounds): boolean =>
  key !== "" && hasAtMost(key, keyCharacters) && key.isWellFormed() && !isRefusedKey(key);
