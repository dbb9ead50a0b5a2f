// The results of a mail after its provider accepted it: they are recorded in its ledger row, and bounced or complaining
// addresses are suppressed (D-EMAIL).
import type { MailEvent } from "../../../contract/mail-events.ts";
import { normalizedAddress } from "../../../rules/addresses.ts";
import { fateOf } from "../../../rules/recipient-fates.ts";
import { absent, all, is, oneOf } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { type ChangeOf, type ConditionOf, changeItem, type RowOf } from "../../item.ts";
import { followOne, stepSendOf } from "../../journeys/late-outcomes.ts";
import { busy, contended, done, onConditionFailed, transacted, untilUncontended } from "../../refusals.ts";
import { suppressAddress } from "../../subscribers/addresses.ts";
import { Profile } from "../../subscribers/items.ts";
import { getSubscriber, isLiving } from "../../subscribers/subscribers.ts";
import { isOfJourney, isTestId } from "../jobs/job-ids.ts";
import { findJob } from "../jobs/jobs.ts";
import { lateWrites } from "../jobs/late.ts";
import { TouchItem } from "./ledger-items.ts";
import { isReached, takeBack } from "./reached-later.ts";
import { touchKey } from "./touches.ts";

interface FateChange {
  when: ConditionOf<typeof TouchItem>;
  /** The same of a row that was read. */
  takes(row: RowOf<typeof TouchItem>): boolean;
  change(reason: string): ChangeOf<typeof TouchItem>;
  /** It is counted with the send and by the day, for the health of the channel (RDA-15), and for the brake of the send (F21). */
  counted?: "arrived" | "bounced" | "complained";
}

const sent = oneOf("state", ["sent", "unknown"]);
const isSent = ({ state }: Pick<RowOf<typeof TouchItem>, "state">) => state === "sent" || state === "unknown";
/** A complaint may overtake a bounce, or come after one: some servers deliver a mail and say that they did not. */
const left = oneOf("state", ["sent", "unknown", "bounced"]);

/** The rows that an event may change, and how. A complaint changes no state: it is about the subscriber. */
const changes: Partial<Record<MailEvent["fate"], FateChange>> = {
  delivered: {
    when: is("state", "unknown"),
    takes: ({ state }) => state === "unknown",
    change: () => ({ set: { state: "sent" }, remove: ["reason"] }),
    counted: "arrived",
  },
  bounced: {
    when: sent,
    takes: isSent,
    change: (reason) => ({ set: { state: "bounced", reason, react: "fate" } }),
    counted: "bounced",
  },
  deferred: { when: sent, takes: isSent, change: (reason) => ({ set: { bounce: reason } }) },
  complained: {
    when: all(left, absent("complained")),
    takes: (row) => (isSent(row) || row.state === "bounced") && row.complained === undefined,
    change: () => ({ set: { complained: true, react: "fate" } }),
    counted: "complained",
  },
};

type OfMail = Pick<MailEvent, "job" | "subscriber" | "at">;

const rowKey = ({ job, subscriber, at }: OfMail) => touchKey(subscriber, at, job, { channel: "email" });

/**
 * The delivered mails whose rows do not say so: nearly all do. One request reads a hundred rows, and nothing is
 * written.
 */
export async function unconfirmed<E extends OfMail>(store: StoreReader, events: readonly E[]): Promise<E[]> {
  const sendEvents = events.filter(({ job }) => !isTestId(job));
  const rows = await store.getAll(TouchItem, sendEvents.map(rowKey));
  return sendEvents.filter((_, i) => {
    const state = rows[i]?.state;
    return state === undefined || state === "retryable" || state === "unknown";
  });
}

/** The outcome of a journey's step by the fate of its mail. */
const stepOutcomes: Partial<Record<MailEvent["fate"], "bounced" | "sent">> = { bounced: "bounced", delivered: "sent" };

type FateOfMail = Pick<MailEvent, "job" | "subscriber" | "at" | "fate" | "reason" | "mailbox">;

/** `missing`: the event came before the sender had written its row. A test send has none. */
export async function recordFate(store: Store, event: FateOfMail): Promise<"recorded" | "missing"> {
  const { job, subscriber, at, fate } = event;
  const recorded = await recordInLedger(store, event);
  const outcome = stepOutcomes[fate];
  // Without its row it is not known yet what other channels reached: the event comes again.
  if (outcome === undefined || recorded === "missing") return recorded;

  if (isOfJourney(job)) {
    const send = await findJob(store, job);
    const step = send && stepSendOf(send);
    const isAlone = step && !(await isReached(store, { job, subscriber }));
    if (step && isAlone) await followOne(store, step, subscriber, { outcome, after: "failed" });
  }
  // Another channel may have reached its recipient in the meantime.
  const row = await store.get(TouchItem, rowKey({ job, subscriber, at }));
  if (row && (await isReached(store, { job, subscriber }))) await takeBack(store, subscriber, row);
  return recorded;
}

async function recordInLedger(store: Store, event: FateOfMail): Promise<"recorded" | "missing"> {
  const { job, subscriber, fate, reason } = event;
  const transition = changes[fate];
  if (!transition || isTestId(job)) return "recorded";
  const change = transition.change(reason);
  const { counted } = transition;
  const result = counted
    ? await recordCounted(store, event, { ...transition, counted }, change)
    : await store
        .change(TouchItem, rowKey(event), change, transition.when)
        .then((): RowChange => ({ kind: "written" }), onConditionFailed(TouchItem, unchanged));
  if (result.kind === "written" || (result.kind === "kept" && result.state !== "retryable")) return "recorded";
  const profile = await store.get(Profile, { id: subscriber });
  return profile && isLiving(profile) ? "missing" : "recorded";
}

type RowChange =
  | { kind: "written" }
  /** The row says something that the event does not change. */
  | { kind: "kept"; state: string }
  | { kind: "missing" };

const unchanged = (row: RowOf<typeof TouchItem> | undefined): RowChange =>
  row ? { kind: "kept", state: row.state } : { kind: "missing" };

/** Changes the row of a mail, and the numbers of its send by what the row said before. */
const recordCounted = (
  store: Store,
  { job, subscriber, at, ...event }: FateOfMail,
  { when, takes, counted }: FateChange & { counted: NonNullable<FateChange["counted"]> },
  change: ChangeOf<typeof TouchItem>,
): Promise<RowChange> =>
  untilUncontended<RowChange>(busy.transient("A mail has several events at once."), async () => {
    const key = rowKey({ job, subscriber, at });
    const before = await store.get(TouchItem, key);
    if (!before || !takes(before)) return done(unchanged(before));
    const isAlone = counted !== "complained" && !(await isReached(store, { job, subscriber }));
    // Where its sender stopped before it wrote the row, only the event says whose mailbox it was.
    const { mailbox = event.mailbox } = before;
    const late = { kind: counted, at, mailbox, isAlone, isUnsure: before.state === "unknown" };
    const alone = fateOf(late);
    const counting = { ...change, set: { ...change.set, mailbox, ...(alone && { alone }) } };
    const isWritten = await transacted(store, [
      changeItem(TouchItem, key, counting, all(when, is("state", before.state))),
      ...(await lateWrites(store, job, subscriber, late)),
    ]);
    return isWritten ? done({ kind: "written" }) : contended;
  });

/**
 * Suppresses the addresses that bounced permanently or complained, for every subscriber that has them now. Nothing is
 * stored of a subscriber that was erased. A repeat changes nothing, and neither does what happened before the address
 * was lifted.
 */
export async function applyFate(
  store: Store,
  { subscriber, fate, emails, happened_at }: Pick<MailEvent, "subscriber" | "fate" | "emails" | "happened_at">,
): Promise<void> {
  if (fate !== "bounced" && fate !== "complained") return;
  if (!(await getSubscriber(store, subscriber))) return;
  const reason = fate === "bounced" ? "bounce" : "complaint";
  const now = store.clock.now();
  const said = {
    kind: "email",
    reason,
    source: "provider",
    at: Math.min(now, happened_at ?? now),
    isReport: true,
  } as const;
  for (const address of new Set(emails.map((email) => normalizedAddress("email", email))))
    if (address !== undefined) await suppressAddress(store, { ...said, address });
}
