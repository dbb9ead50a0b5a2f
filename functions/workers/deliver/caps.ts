// Claims of groups in workspaces with frequency caps: everybody of the group is counted with it, or is skipped (D-CAP).
import { capsOn, counterOf, type FrequencyCap } from "../../../shared/rules/caps.ts";
import { progressText } from "../../../shared/rules/progress-text.ts";
import { classOf } from "../../../shared/rules/reach.ts";
import type { Item } from "../../../shared/store/model.ts";
import { countedIn, countWrites } from "../../../shared/store/sends/caps.ts";
import { advance, type Lease } from "../../../shared/store/sends/claims.ts";
import type { Prepared } from "./prepare.ts";
import type { LeasedProgress, Work } from "./rounds.ts";

/** The first messages of one recipient in a group, which are counted once however many addresses they go to. */
interface Together {
  subscriber: string;
  recipient: number;
  messages: Prepared[];
}

/**
 * Claims a group and counts its messages in one transaction: no crash and no other job comes in between. Messages that
 * a cap refuses stay in the group and are skipped.
 */
export async function claimCapped(
  work: Work,
  { lease, progress }: LeasedProgress,
  prepared: Prepared[],
): Promise<Lease | undefined> {
  const { store, chunkRef, clock, found } = work;
  const { category, deliverySettings } = found.job;
  const capping = { tenant: store.tenant, timezone: deliverySettings?.timezone ?? "UTC", now: clock.now() };
  for (;;) {
    const counts = together(prepared).flatMap((one) => {
      const wasCounted = ((progress.counted >> BigInt(one.recipient)) & 1n) === 1n;
      const channels = one.messages.map(({ channel }) => channel);
      const met = capsOn(deliverySettings?.caps ?? [], category, channels).filter(
        (cap) => cap.channel_class || !wasCounted,
      );
      return countWrites(capping, one.subscriber, met).map((step) => ({ ...step, one }));
    });
    const overall = counts.filter(({ caps }) => caps.some(({ channel_class }) => channel_class === undefined));
    const counted = overall.reduce((bits, { one }) => bits | (1n << BigInt(one.recipient)), progress.counted);
    progress.capped = prepared.flatMap(({ isCapped }, i) => (isCapped ? [progress.from + i] : []));
    const writes = counts.map(({ step: write }) => write);
    const claimed = await advance(store, chunkRef, lease, progressText({ ...progress, counted }), writes);
    if (!claimed) return undefined;
    if ("owner" in claimed) {
      progress.counted = counted;
      return claimed;
    }
    for (const [i, old] of claimed.refused.entries()) if (old) skip(prepared, counts[i]!, old);
  }
}

/** Retries were counted before; what is refused anyway is not counted at all. */
function together(prepared: readonly Prepared[]): Together[] {
  const fresh = prepared.filter(({ unit, isRefused, isCapped }) => unit.tries.length === 0 && !isRefused && !isCapped);
  return [...Map.groupBy(fresh, ({ unit }) => unit.recipient)].map(([recipient, messages]) => ({
    ...{ recipient, messages, subscriber: messages[0]!.subscriber },
  }));
}

/** Takes the messages out that a reached cap concerns: all of the person's, or those of its class. */
function skip(prepared: Prepared[], { caps, one }: { caps: FrequencyCap[]; one: Together }, counters: Item): void {
  for (const cap of caps) {
    const seen = countedIn(counters, cap);
    if (Number(counters[counterOf(cap)] ?? 0) < cap.max) continue;
    for (const message of one.messages) {
      if (cap.channel_class !== undefined && classOf(message.channel) !== cap.channel_class) continue;
      if (message.isCapped) continue;
      const outcome = { status: "skipped", reason: "capped", seen } as const;
      prepared[prepared.indexOf(message)] = { ...message, isCapped: true, send: async () => outcome };
    }
  }
}
