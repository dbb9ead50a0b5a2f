// What the name of a column says beside its meaning: what the letters or digits below it stand for, as in
// `Status (S = subscribed, U = unsubscribed)`, and which other column says when that became so (AMB-132).
import { columnKey, perHeader } from "./import-names.ts";

interface Legend {
  /** The name without it. */
  name: string;
  /** By the letter or digit, in lower case. */
  words: ReadonlyMap<string, string>;
}

/** A longer name is a text. */
const MAX_NAME = 200;
const EQUALS =
  /(?<![\p{L}\d])([\p{L}\d]{1,2}) ?= ?([^\s=,;|/()[\]]+(?: [^\s=,;|/()[\]]+){0,4}?)(?= ?[,;|/)\]]| [\p{L}\d]{1,2} ?=|$)/gu;
const PAIR = /^ ?([\p{L}\d]{1,2}) ?[:–-] ?(\S.*)$/u;
const IN_BRACKETS = /^([^()[\]]*)[([]([^()[\]]+)[)\]]$/;
const BEHIND_COLON = /^([^:]*):(.+)$/;
const OF_STATUSES: Readonly<Record<string, string>> = {
  u: "unsubscribed",
  s: "subscribed",
  c: "cleaned",
  b: "bounced",
};

export function legendOf(written: string): Legend | undefined {
  const name = written.trim().replaceAll(/\s+/g, " ");
  if (name.length > MAX_NAME) return undefined;
  const equal = [...name.matchAll(EQUALS)];
  const [first] = equal;
  if (first) return legend(name.slice(0, first.index), equal);
  const letters = name.toLowerCase().split("/");
  if (letters.length > 1 && letters.includes("u") && letters.every((letter) => Object.hasOwn(OF_STATUSES, letter)))
    return { name: "status", words: new Map(Object.entries(OF_STATUSES)) };
  const [, before = "", inner = ""] = IN_BRACKETS.exec(name) ?? BEHIND_COLON.exec(name) ?? [];
  const pairs = inner.split(/[,;|/]/).map((part) => PAIR.exec(part) ?? undefined);
  if (pairs.length > 1 && pairs.every((pair) => pair !== undefined)) return legend(before, pairs);
  return initialsOf(before, inner);
}

const legend = (before: string, pairs: readonly RegExpExecArray[]): Legend => ({
  name: before.replace(/[\s:([-]+$/, "") || "status",
  words: new Map(pairs.map(([, letter = "", word = ""]) => [letter.toLowerCase(), word.trim()])),
});

/** `Subscribed/Unsubscribed (S/U)` */
function initialsOf(before: string, inner: string): Legend | undefined {
  const letters = inner.toLowerCase().split("/");
  const words = before.trim().split("/");
  const isOfInitials = letters.every((letter, i) => letter.length === 1 && words[i]?.toLowerCase().startsWith(letter));
  if (letters.length < 2 || letters.length !== words.length || !isOfInitials) return undefined;
  return { name: "status", words: new Map(letters.map((letter, i) => [letter, words[i] ?? ""])) };
}

/** What stands at the end of a name that says when something was so, and the words for what. */
const WHEN = /((?:last)?(?:chang|updat|modifi)ed?)?(?:at|on|date|time|timestamp)$/;
const STATED = /(?:consent|status|state|permission)+$/;

/** Why, or what, somebody left. */
const OF_LEAVING =
  /^(?:(?:suppress(?:ion|ed)?|unsub\w*|opt(?:ed)?out|bounce)?reason|suppressions?|suppress(?:ion|ed)?(?:type|status))$/;
const OF_ROW = /^(?:timestamp|date|time|datetime)$/;
/** So few columns has a file of those who left, as Klaviyo writes it: its one time is when they did. */
const MAX_OF_THOSE_WHO_LEFT = 4;

const timesOfRow = perHeader((header) => header.flatMap((name, i) => (OF_ROW.test(columnKey(name)) ? [i] : [])));

/** Of a file of those who left, or of events, the column that says when. @returns its index */
function timeOfRow(key: string, header: readonly string[]): number | undefined {
  const isOfEvents = /^event(?:type|name)?$/.test(key);
  const isOfLeaving = OF_LEAVING.test(key) && header.length <= MAX_OF_THOSE_WHO_LEFT;
  // A date beside a time of day is earlier than both together, and would lose against what was said in between.
  const [at, ...others] = timesOfRow(header);
  return (isOfEvents || isOfLeaving) && others.length === 0 ? at : undefined;
}

/**
 * The column that says when what this one states became so: `SMS Marketing Consent Timestamp` beside
 * `SMS Marketing Consent`, `Email status changed at` beside `Email status`. @returns its index
 */
export function timeColumnOf(name: string, header: readonly string[]): number | undefined {
  const key = columnKey(name);
  const stated = timesOf(header)
    .get(key.replace(STATED, ""))
    ?.find((time) => time.key !== key)?.at;
  return stated ?? timeOfRow(key, header);
}

/** The columns that say when something was so, by what that is. */
const timesOf = perHeader((header) => {
  const times = new Map<string, { key: string; at: number }[]>();
  for (const [at, name] of header.entries()) {
    const key = columnKey(name);
    const [whole, changed] = WHEN.exec(key) ?? [];
    if (whole === undefined) continue;
    const stated = key.slice(0, -whole.length);
    const what = stated.replace(STATED, "");
    // `updated_at` alone is of the whole row.
    const isOfSomething = what !== stated || (changed !== undefined && what !== "");
    const others = times.get(what) ?? [];
    // Of several with one name the first counts.
    if (isOfSomething && !others.some((other) => other.key === key)) times.set(what, [...others, { key, at }]);
  }
  return times;
});
