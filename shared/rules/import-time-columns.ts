// Which column of a file says when what another one says became so (AMB-132).
import { columnKey, perHeader } from "./import-names.ts";

/** What stands at the end of a name that says when something was so, and the words for what. */
const WHEN = /((?:last)?(?:chang|updat|modifi)ed?)?(?:at|on|date|time|timestamp)$/;
const STATED = /(?:consent|status|state|permission)+$/;

/**
 * The column that says when what this one states became so: `SMS Marketing Consent Timestamp` beside
 * `SMS Marketing Consent`, `Email status changed at` beside `Email status`. @returns its index
 */
export function timeColumnOf(name: string, header: readonly string[]): number | undefined {
  const key = columnKey(name);
  return timesOf(header)
    .get(key.replace(STATED, ""))
    ?.find((time) => time.key !== key)?.at;
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
