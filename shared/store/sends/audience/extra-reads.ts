// The cost of reading the profiles of an audience beyond the rates of its recipients (F10): long profiles, and those of
// people that the filters exclude.
import type { Judgement } from "../../../rules/audience.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";

/** In hundredths of a read unit that sees the newest writes. */
export interface ExtraReads {
  /** For reading all profiles in whole pages. */
  pages: number;
  /** For reading all profiles one by one. */
  each: number;
  /** For reading the recipients' profiles one by one. */
  sent: number;
}

export const NO_EXTRA_READS: ExtraReads = { pages: 0, each: 0, sent: 0 };

const UNIT_BYTES = 4_096;
/** The profile size in the rates of a send. */
const ORDINARY_BYTES = 220;
/** Longer by more than a tenth than the profile of the measurements. */
const LONG_BYTES = 320;
const HUNDRED = 100;
/** The cost of a membership row, beside the rows around it. */
const MEMBER_READ = 10;
const DEVICES_READ = 95;

const bytesOf = (profile: LivingProfile): number =>
  Object.entries(profile).reduce((sum, [name, value]) => {
    if (value === undefined) return sum;
    return sum + name.length + Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  }, 0);

/**
 * The reads of candidates that the filters exclude: they are not recipients, so no rate includes them. @param kept the
 * others
 */
export function readsOfExcluded(
  candidates: readonly { id: string; profile?: LivingProfile | undefined }[],
  kept: readonly { id: string }[],
  { readsDevices }: { readsDevices: boolean },
): ExtraReads {
  const reads = { ...NO_EXTRA_READS };
  const keptIds = new Set(kept.map(({ id }) => id));
  for (const { id, profile } of candidates) {
    if (keptIds.has(id)) continue;
    const bytes = profile ? bytesOf(profile) : 0;
    reads.pages += Math.round((HUNDRED * bytes) / UNIT_BYTES);
    reads.each +=
      HUNDRED * Math.max(1, Math.ceil(bytes / UNIT_BYTES)) + MEMBER_READ + (readsDevices ? DEVICES_READ : 0);
  }
  return reads;
}

/** The reads of kept people with long profiles. */
export function readsOfLong(
  judged: readonly { profile?: LivingProfile | undefined; judgement: Judgement }[],
): ExtraReads {
  const reads = { ...NO_EXTRA_READS };
  for (const { profile, judgement } of judged) {
    const bytes = profile ? bytesOf(profile) : 0;
    if (bytes <= LONG_BYTES) continue;
    const more = HUNDRED * (Math.ceil(bytes / UNIT_BYTES) - 1);
    reads.pages += Math.round((HUNDRED * (bytes - ORDINARY_BYTES)) / UNIT_BYTES);
    reads.each += more;
    if (judgement.kind === "send") reads.sent += more;
  }
  return reads;
}

export const sumOfReads = (one: ExtraReads, other: ExtraReads): ExtraReads => ({
  pages: one.pages + other.pages,
  each: one.each + other.each,
  sent: one.sent + other.sent,
});

export const grownReads = ({ pages, each, sent }: ExtraReads, grow: (n: number) => number): ExtraReads => ({
  pages: grow(pages),
  each: grow(each),
  sent: grow(sent),
});
