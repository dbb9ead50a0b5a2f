// Claims of groups in workspaces with frequency caps: each recipient is counted with the claim, or skipped (D-CAP).
import { type CountedCap, capsOn, type FrequencyCap } from "../../../shared/rules/caps.ts";
import { classOf } from "../../../shared/rules/channel-types.ts";
import type { Progress } from "../../../shared/rules/progress.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import type { ItemWrite, RowOf } from "../../../shared/store/item.ts";
import { oldRow } from "../../../shared/store/refusals.ts";
import { type CapContext, countedIn, countWrites } from "../../../shared/store/sends/audience/caps.ts";
import { type AdvanceResult, advance } from "../../../shared/store/sends/chunks/claims.ts";
import type { Job } from "../../../shared/store/sends/jobs/job-record.ts";
import { SendCounter } from "../../../shared/store/sends/ledger/ledger-items.ts";
import type { LeasedChunk, PreparedMessage, Work } from "./work.ts";

type ClaimedChunk = Exclude<AdvanceResult, { kind: "refused" }>;

/** The first messages of one recipient in a group. They are counted once, however many addresses they go to. */
interface FirstMessages {
  subscriber: string;
  recipient: number;
  messages: PreparedMessage[];
}

/**
 * Claims a group and counts its messages in one transaction, so that neither a crash nor another job can come between.
 * Messages that a cap refuses stay in the group and are skipped.
 */
export async function claimCapped(
  work: Work,
  { lease, progress }: LeasedChunk,
  prepared: PreparedMessage[],
): Promise<ClaimedChunk> {
  const { store, chunkRef, clock, job } = work;
  const capping = { timezone: job.deliverySettings?.timezone ?? "UTC", now: clock.now() };
  for (;;) {
    const counts = firstMessages(prepared).flatMap((first) => countsOf(job, progress, first, capping));
    const counted = withCounted(progress, counts);
    progress.capped = prepared.flatMap(({ isCapped }, i) => (isCapped ? [progress.from + i] : []));
    const writes = counts.map(({ write }) => write);
    const claiming = { chunkRef, lease, progress: progressText({ ...progress, ...counted }) };
    const claimed = await advance(store, claiming, writes);
    if (claimed.kind === "lost") return claimed;
    if (claimed.kind === "claimed") {
      Object.assign(progress, counted);
      return claimed;
    }
    for (const [i, count] of counts.entries()) skipReached(prepared, count, oldRow(SendCounter, claimed.failures[i]));
  }
}

/** The messages of a recipient that one kind of window counts. */
interface MessageCount {
  first: FirstMessages;
  caps: readonly FrequencyCap[];
  write: ItemWrite<"workspace">;
}

function countsOf(job: Job, progress: Progress, first: FirstMessages, capping: CapContext): MessageCount[] {
  const channels = first.messages.map(({ channel }) => channel);
  const caps = capsOn(job.deliverySettings?.caps ?? [], job.category, channels);
  const uncounted = caps.filter((cap) => !wasCounted(progress, first, cap));
  return countWrites(capping, first.subscriber, uncounted).map((count) => ({ ...count, first }));
}

type CapCounts = Pick<Progress, "counted" | "countedBy">;

/** A message that was throttled, or whose claim was given back, is claimed again with its tries, and counts once. */
function wasCounted({ counted, countedBy }: CapCounts, { recipient }: FirstMessages, cap: FrequencyCap): boolean {
  const set = cap.channel_class === undefined ? counted : (countedBy[cap.channel_class] ?? 0n);
  return ((set >> BigInt(recipient)) & 1n) === 1n;
}

function withCounted({ counted: before, countedBy: beforeBy }: CapCounts, counts: readonly MessageCount[]): CapCounts {
  let counted = before;
  const countedBy = { ...beforeBy };
  for (const { first, caps } of counts) {
    const bit = 1n << BigInt(first.recipient);
    for (const { channel_class } of caps) {
      if (channel_class === undefined) counted |= bit;
      else countedBy[channel_class] = (countedBy[channel_class] ?? 0n) | bit;
    }
  }
  return { counted, countedBy };
}

/** The messages to count. Retries were counted before, and a message refused for another reason is not counted. */
function firstMessages(prepared: readonly PreparedMessage[]): FirstMessages[] {
  const fresh = prepared.filter(({ unit, isRefused, isCapped }) => unit.tries.length === 0 && !isRefused && !isCapped);
  const byRecipient = Map.groupBy(fresh, ({ unit }) => unit.recipient);
  return [...byRecipient].flatMap(([recipient, messages]) => {
    const [first] = messages;
    return first ? [{ recipient, messages, subscriber: first.subscriber }] : [];
  });
}

/** Skips the messages that the caps of a count refuse. @param counter the row that refused it, if it was this one */
function skipReached(
  prepared: PreparedMessage[],
  { first, caps }: MessageCount,
  counter: RowOf<typeof SendCounter> | undefined,
): void {
  if (!counter) return;
  const reached = caps.map((cap) => countedIn(counter, cap)).filter(({ count, max }) => count >= max);
  for (const cap of reached) skip(prepared, first, cap);
}

/** Replaces the messages of a recipient that a reached cap concerns: all of them, or those of the cap's class. */
function skip(prepared: PreparedMessage[], { messages }: FirstMessages, cap: CountedCap): void {
  for (const message of messages) {
    if (cap.channel_class !== undefined && classOf(message.channel) !== cap.channel_class) continue;
    const i = prepared.indexOf(message);
    if (i < 0) continue;
    const outcome = { kind: "skipped", reason: "capped", seen: cap } as const;
    prepared[i] = { ...message, isCapped: true, send: async () => outcome };
  }
}
