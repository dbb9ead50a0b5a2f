// How large a profile grows by the publishable key, which anybody can read (AMB-146). What a server key wrote stays, and may
// be changed; it grows no further.
import { invalid } from "../../kernel/errors.ts";
import { familyOf } from "../families.ts";
import { toJson } from "../json-text.ts";
import type { Value } from "../model.ts";
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

/** Of the names and values of a profile's attributes. */
export const attributeBytes = (row: ProfileRow): number => sizeOf(familyOf(row, "a:")).bytes;

const isTooLarge = ({ attributes, bytes }: Size): boolean => attributes > MAX_ATTRIBUTES || bytes > MAX_BYTES;

const textsOf = (attributes: Readonly<Record<string, Value>>) =>
  Object.entries(attributes).flatMap(([name, value]) => (value === null ? [] : [[name, toJson(value)] as const]));

/** @throws 422 for more than a profile may hold that is written with the publishable key */
export function refuseLargeProfile(attributes: Readonly<Record<string, Value>>): void {
  const { attributes: n, bytes } = sizeOf(textsOf(attributes));
  if (n > MAX_ATTRIBUTES) throw invalid({ attributes: `must have at most ${MAX_ATTRIBUTES} keys with this key` });
  if (bytes > MAX_BYTES) throw invalid({ attributes: `must have at most ${MAX_BYTES} bytes with this key` });
}

/** What one change adds at most for which the profile is not measured first. */
const SMALL: Size = { attributes: 8, bytes: 2_048 };

/** Whether a change fits into every profile that is not nearly full. */
export function isSmall(changed: Readonly<Record<string, Value>>): boolean {
  const { attributes, bytes } = sizeOf(textsOf(changed));
  return attributes <= SMALL.attributes && bytes <= SMALL.bytes;
}

/** Whether a profile is so large that a small change may be too much for it. */
export const isNearlyFull = (row: ProfileRow): boolean => leavesLittle(sizeOf(familyOf(row, "a:")));

const leavesLittle = ({ attributes, bytes }: Size): boolean =>
  attributes > MAX_ATTRIBUTES - SMALL.attributes || bytes > MAX_BYTES - SMALL.bytes;

/** Whether a change makes a profile larger than it may become: one that was large before may stay as it is. */
export function growsTooLarge(row: ProfileRow, changed: Readonly<Record<string, Value>>): boolean {
  const [old, now] = [sizeOf(familyOf(row, "a:")), sizeAfter(row, changed)];
  return isTooLarge(now) && (now.attributes > old.attributes || now.bytes > old.bytes);
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
