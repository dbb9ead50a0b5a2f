// What reading the profiles of an audience takes beyond ordinary ones: a send costs more to people with long profiles (F10).
import type { Judgement } from "../../../rules/audience.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";

/** In hundredths of a read unit that sees the newest writes. */
export interface LongReads {
  /** In whole pages, everyone. */
  pages: number;
  /** One by one, everyone. */
  each: number;
  /** One by one, those who are sent to. */
  sent: number;
}

export const NO_LONG_READS: LongReads = { pages: 0, each: 0, sent: 0 };

const UNIT_BYTES = 4_096;
/** What the rates of a send have in them. */
const ORDINARY_BYTES = 220;
/** Longer than the profile that they were measured with, by more than a tenth. */
const LONG_BYTES = 320;
const HUNDRED = 100;

const bytesOf = (profile: LivingProfile): number =>
  Object.entries(profile).reduce((sum, [name, value]) => {
    if (value === undefined) return sum;
    return sum + name.length + Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  }, 0);

/** @returns undefined for people with ordinary profiles */
export function longReadsOf(
  judged: readonly { profile?: LivingProfile | undefined; judgement: Judgement }[],
): LongReads | undefined {
  const reads = { ...NO_LONG_READS };
  for (const { profile, judgement } of judged) {
    if (!profile) continue;
    const bytes = bytesOf(profile);
    if (bytes <= LONG_BYTES) continue;
    const more = HUNDRED * (Math.ceil(bytes / UNIT_BYTES) - 1);
    reads.pages += Math.round((HUNDRED * (bytes - ORDINARY_BYTES)) / UNIT_BYTES);
    reads.each += more;
    if (judgement.verdict === "send") reads.sent += more;
  }
  return reads.pages > 0 ? reads : undefined;
}
