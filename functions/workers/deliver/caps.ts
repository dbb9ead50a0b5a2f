// Claims of groups in workspaces with frequency caps: each recipient is counted with the claim, or skipped (D-CAP).
import { type CountedCap, capsOn, type FrequencyCap } from "../../../shared/rules/caps.ts";
import { classOf } from "../../../shared/rules/channel-types.ts";
import type { Progress } from "../../../shared/rules/progress.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import { oldRow } from "../../../shared/store/refusals.ts";
import { countedIn, countWrites } from "../../../shared/store/sends/audience/caps.ts";
import { type Advanced, advance } from "../../../shared/store/sends/chunks/claims.ts";
import { SendCounter } from "../../../shared/store/sends/ledger/ledger-items.ts";
import type { Held, Prepared, Work } from "./work.ts";

type Claimed = Exclude<Advanced, { kind: "refused" }>;

/** The first messages of one recipient in a group. They are counted once, however many addresses they go to. */
interface FirstMessages {
  subscriber: string;
  recipient: number;
  messages: Prepared[];
}

/**
 * Claims a group and counts its messages in one transaction, so that neither a crash nor another job can come between.
 * Messages that a cap refuses stay in the group and are skipped.
 */
export async function claimCapped(work: Work, { lease, progress }: Held, prepared: Prepared[]): Promise<Claimed> {
  const { store, chunkRef, clock, job } = work;
  const { category, deliverySettings } = job;
  const capping = { timezone: deliverySettings?.timezone ?? "UTC", now: clock.now() };
  for (;;) {
    const counts = firstMessages(prepared).flatMap((one) => {
      const channels = one.messages.map(({ channel }) => channel);
      const met = capsOn(deliverySettings?.caps ?? [], category, channels).filter(
        (cap) => !wasCounted(progress, one, cap),
      );
      return countWrites(capping, one.subscriber, met).map((count) => ({ ...count, one }));
    });
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
    for (const [i, { caps, one }] of counts.entries()) {
      const counter = oldRow(SendCounter, claimed.failures[i]);
      if (!counter) continue;
      const reached = caps.map((cap) => countedIn(counter, cap)).filter(({ count, max }) => count >= max);
      for (const cap of reached) skip(prepared, one, cap);
    }
  }
}

type Counted = Pick<Progress, "counted" | "countedBy">;

/** A message that was throttled, or whose claim was given back, is claimed again with the tries it had, and counts once. */
function wasCounted({ counted, countedBy }: Counted, { recipient }: FirstMessages, cap: FrequencyCap): boolean {
  const set = cap.channel_class === undefined ? counted : (countedBy[cap.channel_class] ?? 0n);
  return ((set >> BigInt(recipient)) & 1n) === 1n;
}

function withCounted(
  before: Counted,
  counts: readonly { one: FirstMessages; caps: readonly FrequencyCap[] }[],
): Counted {
  const now = { counted: before.counted, countedBy: { ...before.countedBy } };
  for (const { one, caps } of counts) {
    const bit = 1n << BigInt(one.recipient);
    for (const { channel_class } of caps) {
      if (channel_class === undefined) now.counted |= bit;
      else now.countedBy[channel_class] = (now.countedBy[channel_class] ?? 0n) | bit;
    }
  }
  return now;
}

/** Retries were counted before. What is refused for another reason is not counted at all. */
function firstMessages(prepared: readonly Prepared[]): FirstMessages[] {
  const fresh = prepared.filter(({ unit, isRefused, isCapped }) => unit.tries.length === 0 && !isRefused && !isCapped);
  const byRecipient = Map.groupBy(fresh, ({ unit }) => unit.recipient);
  return [...byRecipient].flatMap(([recipient, messages]) => {
    const [first] = messages;
    return first ? [{ recipient, messages, subscriber: first.subscriber }] : [];
  });
}

/** Replaces the messages of a recipient that a reached cap concerns: all of them, or those of the cap's class. */
function skip(prepared: Prepared[], { messages }: FirstMessages, cap: CountedCap): void {
  for (const message of messages) {
    if (cap.channel_class !== undefined && classOf(message.channel) !== cap.channel_class) continue;
    const place = prepared.indexOf(message);
    if (place < 0) continue;
    const outcome = { status: "skipped", reason: "capped", seen: cap } as const;
    prepared[place] = { ...message, isCapped: true, send: async () => outcome };
  }
}
