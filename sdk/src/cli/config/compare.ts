// Compares what a file says with what a workspace has, and adds to it what it leaves as it is.
import { isDeepStrictEqual } from "node:util";
import { isObject, objectIn, type Resource } from "../resource.ts";
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
    return wanted.flatMap((value, i) => differences(value, found[i], `${path}[${i}]`));
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

/** What a message says is one of these. */
const TEXTS = ["content", "template", "template_id"];

/** In lists the one at the same place is meant, as in a comparison. Within a field `null` removes. */
function withRest(wanted: unknown, found: unknown): unknown {
  if (Array.isArray(wanted)) {
    const others = Array.isArray(found) && found.length === wanted.length ? found : [];
    return wanted.map((value, i) => withRest(value, others[i]));
  }
  if (!isObject(wanted)) return wanted;
  const isReplaced = TEXTS.some((name) => (wanted[name] ?? null) !== null);
  // A large mail that is stored no more comes back from a file that has it; without it the service refuses the note.
  const hasMail = objectIn(objectIn(wanted.by_channel).email).html !== undefined;
  const others = Object.entries(objectIn(found)).filter(
    ([name]) => !(isReplaced && TEXTS.includes(name)) && !(hasMail && name === "left_out"),
  );
  const said = Object.entries(wanted).map(([name, value]) => [name, withRest(value, objectIn(found)[name])]);
  const all: Resource = Object.fromEntries([...others, ...said]);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** All that is written where a document is: its fields, and what it does not say of what the workspace has. */
export const completed = (
  wanted: Resource,
  found: Resource,
  { whole, nullable = [] }: Pick<Kind, "whole" | "nullable">,
): Resource => {
  const isTaken = (name: string) => wanted[name] === null || whole.includes(name) || nullable.includes(name);
  const said = Object.entries(wanted).map(([name, value]) => [
    name,
    isTaken(name) ? value : withRest(value, found[name]),
  ]);
  return { ...found, ...Object.fromEntries(said) };
};
