// How large a profile grows: by any key so that what must never be refused still fits beside its attributes, such as an opt-out or
// the erasure; by the publishable key, which anybody can read, much less (AMB-146). What is larger stays, and grows no further.
import { invalid } from "../../kernel/errors.ts";
import { familyOf } from "../families.ts";
import { toJson } from "../json-text.ts";
import type { Value } from "../model.ts";
import { itemTooLarge } from "../refusals.ts";
import type { ProfileRow } from "./items.ts";

const MAX_ATTRIBUTES = 64;
const MAX_BYTES = 16_384;

interface Size {
  attributes: number;
  bytes: number;
}

const sizeOf = (entries: readonly (readonly [name: string, text: string])[]): Size => ({
  attributes: entries.length,
  bytes: entries.reduce((sum, [name, text]) => sum + Buffer.byteLength(name) + Buffer.byteLength(text), 0),
});

/** The size of a profile's attribute names and values. */
const attributeBytes = (row: ProfileRow): number => sizeOf(familyOf(row, "a:")).bytes;

const isTooLarge = ({ attributes, bytes }: Size): boolean => attributes > MAX_ATTRIBUTES || bytes > MAX_BYTES;

const textsOf = (attributes: Readonly<Record<string, Value>>) =>
  Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [[name, toJson(value)] as const]));

/** @throws 422 for more than a profile may hold that is written with the publishable key */
export function refuseLargeProfile(attributes: Readonly<Record<string, Value>>): void {
  const { attributes: n, bytes } = sizeOf(textsOf(attributes));
  if (n > MAX_ATTRIBUTES) throw invalid({ attributes: `must have at most ${MAX_ATTRIBUTES} keys with this key` });
  if (bytes > MAX_BYTES) throw invalid({ attributes: `must have at most ${MAX_BYTES} bytes with this key` });
}

/** The most that one change may add before the profile is measured. */
const SMALL: Size = { attributes: 8, bytes: 2_048 };

/** Whether a change fits into every profile that is not nearly full. */
export function isSmall(changed: Readonly<Record<string, Value>>): boolean {
  const { attributes, bytes } = sizeOf(textsOf(changed));
  return attributes <= SMALL.attributes && bytes <= SMALL.bytes;
}

/** Whether a profile is so large that a small change may be too much for it. */
const isNearlyFull = (row: ProfileRow): boolean => leavesLittle(sizeOf(familyOf(row, "a:")));

const leavesLittle = ({ attributes, bytes }: Size): boolean =>
  attributes > MAX_ATTRIBUTES - SMALL.attributes || bytes > MAX_BYTES - SMALL.bytes;

/** Whether a change makes a profile larger than it may become: one that was large before may stay as it is. */
export function growsTooLarge(row: ProfileRow, changed: Readonly<Record<string, Value>>): boolean {
  const [old, now] = [sizeOf(familyOf(row, "a:")), sizeAfter(row, changed)];
  return isTooLarge(now) && (now.attributes > old.attributes || now.bytes > old.bytes);
}

/** Names and values of attributes. The rest of 400 KB is for consents, and for the webhook of a new profile with its attempts. */
const MAX_STORED_BYTES = 360 * 1_024;
/** The most that one change may add before a profile that is not heavy is measured. */
const MAX_UNMEASURED_BYTES = 40 * 1_024;

/** Whether it is so large that a change may be too much for it. */
const isHeavy = (row: ProfileRow): boolean => attributeBytes(row) > MAX_STORED_BYTES - MAX_UNMEASURED_BYTES;

/** Whether a change fits into every profile that is not heavy. */
export const isLight = (changed: Readonly<Record<string, Value>> = {}): boolean =>
  sizeOf(textsOf(changed)).bytes <= MAX_UNMEASURED_BYTES;

/** The marks of a profile that it does not have yet. */
export const marksOf = (row: ProfileRow): Pick<ProfileRow, "full" | "heavy"> => ({
  ...(!row.full && isNearlyFull(row) && { full: true as const }),
  ...(!row.heavy && isHeavy(row) && { heavy: true as const }),
});

/** @throws as the table does for an item that is too large, unless the change makes it smaller */
export function refuseOverweight(row: ProfileRow, changed: Readonly<Record<string, Value>> = {}): void {
  const { bytes } = sizeAfter(row, changed);
  if (bytes > MAX_STORED_BYTES && bytes > attributeBytes(row)) throw itemTooLarge();
}

/** Whether it is nearly full with a change. */
export const becomesNearlyFull = (row: ProfileRow, changed: Readonly<Record<string, Value>>): boolean =>
  leavesLittle(sizeAfter(row, changed));

function sizeAfter(row: ProfileRow, changed: Readonly<Record<string, Value>>): Size {
  const after = new Map<string, string>(familyOf(row, "a:"));
  for (const [name, value] of Object.entries(changed))
    if (value === null) after.delete(name);
    else after.set(name, toJson(value));
  return sizeOf([...after]);
}
