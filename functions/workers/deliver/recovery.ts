// Going on after a crash: what the ledger says counts, and where it says nothing, nobody knows (docs/decisions/0013).
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import {
  type Addressee,
  type LateSkip,
  note,
  RETRY_AFTER_MS,
  type SendOutcome,
  type Unit,
  unitsOf,
  type Verdict,
} from "../../../shared/rules/progress.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item } from "../../../shared/store/model.ts";
import { messageId } from "../../../shared/store/sends/inbox.ts";
import { type ChunkRef, recorded, touchItem, touchKey } from "../../../shared/store/sends/touches.ts";
import { namesNow } from "../../../shared/store/subscribers/ledger-erasure.ts";
import type { ChunkState, LeasedProgress, WorkerContext } from "./rounds.ts";

/** What the ledger says of units whose outcome the claim does not know; where it says nothing, nobody knows. */
export async function recover(
  { store, clock }: WorkerContext,
  chunkRef: ChunkRef,
  { job, chunk: { recipients, plannedAt } }: Pick<ChunkState, "job" | "chunk">,
  { lease, progress }: LeasedProgress,
  addressees: readonly Addressee[],
): Promise<void> {
  const units = unitsOf(progress, addressees).slice(progress.noted, progress.to);
  const { tenant } = store;
  const isCapped = (i: number) => progress.capped.includes(progress.noted + i);
  const rows = await store.getAll(
    units.map(({ recipient, target }) => {
      const { subscriber, targets } = recipients[recipient]!;
      const { channel } = targets[target]!;
      if (channel === "in_app") return keys.message(tenant, subscriber, messageId(lease.at, chunkRef.job, subscriber));
      return touchKey(tenant, subscriber, lease.at, chunkRef.job, targets[target]!);
    }),
  );
  const inbox = job.deliverySettings?.caps ? await lateInbox() : new Set<string>();
  const ids = units.map(({ recipient }) => recipients[recipient]!.subscriber);
  const names = await namesNow(store, chunkRef, plannedAt, [...new Set(ids)]);
  const missing: Item[] = [];
  for (const [i, unit] of units.entries()) {
    const { subscriber, targets, arm } = recipients[unit.recipient]!;
    const target = targets[unit.target]!;
    const isInbox = target.channel === "in_app";
    const found: Verdict | undefined = isInbox
      ? { state: rows[i] || inbox.has(subscriber) ? "sent" : "failed", reason: "template_error" }
      : recorded(rows[i], unit.tries.length);
    const touch = { subscriber: names.get(subscriber)!, target, arm };
    if (progress.noted + i < progress.from) {
      const verdict = progress.pending[i]!;
      const tries = verdict.state === "skipped" ? unit.tries : [...unit.tries, lease.at];
      // The inbox is its own ledger.
      const isNoted = isInbox ? verdict.state === "sent" : found !== undefined;
      if (!isNoted) missing.push(touchItem(tenant, lease.at, chunkRef, { ...touch, verdict, tries }));
      continue;
    }
    const outcome = isCapped(i) ? CAPPED : found ? outcomeOf(found, unit) : NEVER_KNOWN;
    const isFallback = addressees[unit.recipient]!.isSmart && unit.due > 0 && unit.tries.length === 0;
    if (outcome.status === "unknown" && isFallback) progress.fallbackConflicts++;
    const { tries, ...verdict } = note(progress, unit, addressees[unit.recipient]!, outcome, clock.now());
    if (!found || isCapped(i)) missing.push(touchItem(tenant, lease.at, chunkRef, { ...touch, verdict, tries }));
  }
  await store.writeAll(missing.map((put) => ({ put })));
  Object.assign(progress, { from: progress.to, noted: progress.to, pending: [], capped: [] });

  /** Where caps count, inbox rows follow the claim: whoever was counted gets theirs now. */
  async function lateInbox(): Promise<Set<string>> {
    const late = units.flatMap(({ recipient, target }, i) => {
      const to = recipients[recipient]!;
      const isUnderWay = progress.noted + i >= progress.from;
      return isUnderWay && to.targets[target]!.channel === "in_app" && !rows[i] && !isCapped(i) ? [to] : [];
    });
    const claim = { at: lease.at, repeats: true };
    return (await deliverInApp(store, job, chunkRef, claim, { recipients: late, plannedAt })).delivered;
  }
}

const CAPPED: SendOutcome = { status: "skipped", reason: "capped" };

/** Written by nobody, so perhaps sent: it is never sent again. */
const NEVER_KNOWN: SendOutcome = { status: "unknown", reason: "the worker stopped" };

function outcomeOf({ state, reason = "" }: { state: string; reason?: string | undefined }, unit: Unit): SendOutcome {
  if (state === "sent") return { status: "accepted" };
  if (state === "unknown") return { status: "unknown", reason };
  if (state === "skipped") return { status: "skipped", reason: reason as LateSkip };
  const isLastTry = unit.tries.length >= RETRY_AFTER_MS.length;
  return state === "retryable" || isLastTry ? { status: "retryable", reason } : { status: "rejected", reason };
}
