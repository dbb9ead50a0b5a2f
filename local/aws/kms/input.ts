// What the operations of the embedded KMS read from their input.
import { readers } from "../members.ts";
import { awsFailure, type Wire } from "../stand-in.ts";

export const read = readers("ValidationException", "ValidationException");
/** @throws what KMS answers where nothing but the option was in the way */
export function refuseDryRun(input: Wire): void {
  if (read.flag(input, "DryRun"))
    throw awsFailure("DryRunOperationException", "The request would have succeeded, but the DryRun option is set.");
}
export const keyIn = (input: Wire): string => read.needed(input, "KeyId");

/** One page in order of the keys of its items; the marker is the last key of the page before. */
export function pageOf<T>(input: Wire, all: T[], keyOf: (item: T) => string) {
  const size = read.integer(input, "Limit", 1, 1_000) ?? 100;
  const after = read.text(input, "Marker") ?? "";
  const rest = all.filter((item) => keyOf(item) > after).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  const shown = rest.slice(0, size);
  const Truncated = rest.length > size;
  return { shown, Truncated, ...(Truncated && { NextMarker: keyOf(shown.at(-1)!) }) };
}
