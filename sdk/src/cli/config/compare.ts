// Compares a file with the resource of a workspace, and completes it with the fields that it leaves as they are.
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
 * The paths at which a document differs from the workspace's. @param of.whole fields in which a missing member counts
 * as a difference
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

/** Fields that hold the texts of a message: it has one of them. */
const TEXTS = ["content", "template", "template_id"];

/** Elements of lists correspond by their place, as in a comparison. Within a field `null` removes. */
function withRest(wanted: unknown, found: unknown): unknown {
  if (Array.isArray(wanted)) {
    const others = Array.isArray(found) && found.length === wanted.length ? found : [];
    return wanted.map((value, i) => withRest(value, others[i]));
  }
  if (!isObject(wanted)) return wanted;
  const isReplaced = TEXTS.some((name) => (wanted[name] ?? null) !== null);
  // A file that has a large mail restores it if the service has lost it. Without the mail the service refuses the note
  // in its place.
  const hasMail = objectIn(objectIn(wanted.by_channel).email).html !== undefined;
  const others = Object.entries(objectIn(found)).filter(
    ([name]) => !(isReplaced && TEXTS.includes(name)) && !(hasMail && name === "left_out"),
  );
  const said = Object.entries(wanted).map(([name, value]) => [name, withRest(value, objectIn(found)[name])]);
  const all: Resource = Object.fromEntries([...others, ...said]);
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** The body of a change: the fields of the document, and those of the workspace that it does not name. */
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
