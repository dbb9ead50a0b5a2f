// The meaning of a file's column, and the likely meaning of one that became an attribute.
import type { Cell, Columns } from "./import-columns.ts";
import { ATTRIBUTE, columnName, IGNORED, importFields, snakeCase } from "./import-mapping.ts";
import type { Standard } from "./import-names.ts";
import { presets } from "./import-sources.ts";
import { consentChannelOf, topicKeyOf } from "./topics.ts";

const LOOKS_LIKE_CONSENT = /consent|opt.?in|opt.?out|subscri|newsletter|mailing_list/;
/** Words for a time in the known languages: `newsletter_seit`, `opt_in_date`. */
const SAYS_WHEN = /(^|_)(at|on|since|date|time|when|seit|am|datum|zeit|depuis|fecha|desde|data|dal|sinds|od)(_|$)/;
const MAX_TYPOS = 2;
/** A name of four letters with two others is another name. */
const LETTERS_PER_TYPO = 2.5;
const isClose = (one: string, other: string): boolean =>
  typos(one, other) <= Math.min(MAX_TYPOS, Math.floor(other.length / LETTERS_PER_TYPO));

/** The field or topic that a column which became an attribute may be meant for. */
export function suggestionFor(name: string, columns: Columns, topics: readonly string[] = []): string | null {
  const unknownTopic = topicKeyOf(columnName(name));
  if (unknownTopic) {
    const free = topics.filter((topic) => !columns.cells.some((cell) => cell.topic === topic));
    const meant = free.find((topic) => isClose(unknownTopic, topic));
    return meant ? consentChannelOf(meant) : null;
  }
  const taken = new Set(columns.cells.map(({ standard }) => standard));
  const key = snakeCase(name);
  const isFree = (field: Standard) => !taken.has(field);
  const alias = aliases.find(([alias, field]) => alias === key && isFree(field))?.[1];
  if (alias) return alias;
  const close = importFields.filter(isFree).find((field) => isClose(key, field));
  if (close) return close;
  const topic = topics.find(
    (candidate) => candidate === key && !columns.cells.some((cell) => cell.topic === candidate),
  );
  if (topic) return consentChannelOf(topic);
  const field = SAYS_WHEN.test(key) ? "consent_at" : "consent_status";
  return LOOKS_LIKE_CONSENT.test(key) && isFree(field) ? field : null;
}

const aliases = Object.values(presets).flatMap((meanings) =>
  Object.entries(meanings).map(([column, field]) => [snakeCase(column), field] as const),
);

/** How many letters must be changed, added or removed to turn one word into another. */
function typos(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The meaning of a column in words: a field, `attribute:<key>`, `topic:<key>`, `consent evidence` or `ignore`. */
export function meaningOf({ standard, evidence, attribute, topic, topicTime, ofChannel, signed }: Cell): string {
  if (standard) return standard;
  if (ofChannel) return "consent evidence";
  if (topic) return consentChannelOf(topic);
  const isStated = signed && (signed.sign !== "word" || (signed.isBare && !attribute));
  if (evidence || topicTime || isStated) return "consent evidence";
  return attribute ? ATTRIBUTE + attribute : IGNORED;
}
