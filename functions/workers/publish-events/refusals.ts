// Why the bus refuses an entry, and whether it may take it later (docs/decisions/0118).
import type { BusEntry } from "./entries.ts";

/** Entries that the bus did not take. */
export interface Refusals {
  /** The bus may take them later. */
  later: readonly BusEntry[];
  /** The bus takes others, and these never. */
  never: readonly BusEntry[];
}

export interface RefusedEntry {
  entry: BusEntry;
  /** Of an entry in an answer, or the name of the error of its request. */
  code: string;
  /** For the log. */
  error: string;
}

/** What is wrong with the entry itself, by the codes of PutEvents: it is refused however the bus is. */
const ABOUT_THE_ENTRY: ReadonlySet<string> = new Set([
  "InvalidArgument",
  "MalformedDetail",
  "NotAuthorizedForDetailTypeException",
  "NotAuthorizedForSourceException",
  "RedactionFailure",
  "ValidationException",
]);

/** Of the bus, until its owner changes it; of single entries where its policy is about their types. */
const ABOUT_RIGHTS: ReadonlySet<string> = new Set(["AccessDeniedException", "InvalidAccountIdException"]);

/** Whether the same entry may be taken a moment later. */
export const isTransient = (code: string): boolean => !ABOUT_THE_ENTRY.has(code) && !ABOUT_RIGHTS.has(code);

/** @param takesOthers whether the bus took another entry meanwhile */
export function refusalsOf(refused: readonly RefusedEntry[], { takesOthers }: { takesOthers: boolean }): Refusals {
  const isFinal = ({ code }: RefusedEntry) => ABOUT_THE_ENTRY.has(code) || (takesOthers && ABOUT_RIGHTS.has(code));
  const [never, later] = split(refused, isFinal);
  return { never: never.map(({ entry }) => entry), later: later.map(({ entry }) => entry) };
}

/** Those that pass the test, and the others. */
export const split = <T>(all: readonly T[], test: (item: T) => boolean): [passing: T[], others: T[]] => [
  all.filter(test),
  all.filter((item) => !test(item)),
];
