// Why the bus refuses an entry, and whether it may accept it later (docs/decisions/0118).
import type { BusEntry } from "./entries.ts";

/** Entries that the bus did not accept. */
export interface Refusals {
  /** The bus may accept them later. */
  later: readonly BusEntry[];
  /** The bus accepts other entries, but never these. */
  never: readonly BusEntry[];
}

export interface RefusedEntry {
  entry: BusEntry;
  /** The code of an entry in an answer, or the name of its request's error. */
  code: string;
  /** For the log. */
  error: string;
}

/** Codes of PutEvents for a faulty entry: it is refused whatever the state of the bus. */
const ABOUT_THE_ENTRY: ReadonlySet<string> = new Set([
  "InvalidArgument",
  "MalformedDetail",
  "NotAuthorizedForDetailTypeException",
  "NotAuthorizedForSourceException",
  "RedactionFailure",
  "ValidationException",
]);

/**
 * Codes about the rights of the bus, until its owner changes them; about single entries if its policy depends on their
 * types.
 */
const ABOUT_RIGHTS: ReadonlySet<string> = new Set(["AccessDeniedException", "InvalidAccountIdException"]);

/** Whether the same entry may be accepted a moment later. */
export const isTransient = (code: string): boolean => !ABOUT_THE_ENTRY.has(code) && !ABOUT_RIGHTS.has(code);

/** Sorts refused entries. @param takesOthers whether the bus accepted another entry in the meantime */
export function refusalsOf(refused: readonly RefusedEntry[], { takesOthers }: { takesOthers: boolean }): Refusals {
  const isFinal = ({ code }: RefusedEntry) => ABOUT_THE_ENTRY.has(code) || (takesOthers && ABOUT_RIGHTS.has(code));
  const [never, later] = split(refused, isFinal);
  return { never: never.map(({ entry }) => entry), later: later.map(({ entry }) => entry) };
}

export const split = <T>(all: readonly T[], test: (item: T) => boolean): [passing: T[], others: T[]] => [
  all.filter(test),
  all.filter((item) => !test(item)),
];
