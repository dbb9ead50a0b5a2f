// Names of columns that say what the letters or digits below them stand for: `Status (S = subscribed, U = unsubscribed)`
// (AMB-132).

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
