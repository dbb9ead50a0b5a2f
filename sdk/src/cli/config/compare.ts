// Compares what a file says with what a workspace has. What a file does not say is left as it is.
import { isDeepStrictEqual } from "node:util";
import { isObject, type Resource } from "../resource.ts";
import type { Kind } from "./kinds.ts";

const TIME = /^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/;

function isSameValue(wanted: unknown, found: unknown): boolean {
  if ((wanted ?? null) === (found ?? null)) return true;
  if (typeof wanted !== "string" || typeof found !== "string") return false;
  return TIME.test(wanted) && TIME.test(found) && Date.parse(wanted) === Date.parse(found);
}

function differences(wanted: unknown, found: unknown, path: string): string[] {
  if (isObject(wanted) && isObject(found))
    return Object.keys(wanted).flatMap((name) => differences(wanted[name], found[name], `${path}.${name}`));
  if (Array.isArray(wanted) && Array.isArray(found) && wanted.length === found.length)
    return wanted.flatMap((one, i) => differences(one, found[i], `${path}[${i}]`));
  return isSameValue(wanted, found) ? [] : [path];
}

/**
 * The paths at which a document differs from the workspace's.
 * @param of.whole fields of which also what is missing counts
 */
export const changesOf = (
  wanted: Resource,
  found: Resource,
  { whole, nullable = [] }: Pick<Kind, "whole" | "nullable">,
): string[] =>
  Object.keys(wanted).flatMap((name) => {
    if (nullable.includes(name) && (wanted[name] === null) !== (found[name] === null)) return [name];
    if (!whole.includes(name)) return differences(wanted[name], found[name], name);
    const [before, after] = [found[name] ?? null, wanted[name] ?? null];
    return isDeepStrictEqual(after, before) ? [] : [name];
  });
