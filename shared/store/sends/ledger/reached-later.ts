// A mail came back, or arrived after all, and its recipient was counted by that alone: then another channel of the send
// reached them, by a later attempt. The tally counts that, so what the mail meant for its recipient is taken back (AMB-139).
import { is } from "../../conditions.ts";
import type { Store, StoreReader } from "../../context.ts";
import { changeItem, type RowOf } from "../../item.ts";
import { followOne, stepSendOf } from "../../journeys/late-outcomes.ts";
import { transacted } from "../../refusals.ts";
import { messagesSince } from "../inbox/inbox.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { findJob } from "../jobs/jobs.ts";
import { takenBackWrites } from "../jobs/late.ts";
import { TouchItem } from "./ledger-items.ts";
import { CLOCK_TOLERANCE_MS, timeOfTouch, touchesSince, touchKey } from "./touches.ts";

const beginOf = ({ dispatched_at, created_at }: JobRecord): number =>
  Date.parse(dispatched_at ?? created_at) - CLOCK_TOLERANCE_MS;

/** Whether another channel reached the recipient of a mail, which may have been sent after an hour of attempts. */
export async function isReached(
  store: StoreReader,
  { job, subscriber }: { job: string; subscriber: string },
): Promise<boolean> {
  const send = await findJob(store, job);
  if (!send) return false;
  const since = beginOf(send);
  const [touches, messages] = await Promise.all([
    touchesSince(store, subscriber, since),
    messagesSince(store, subscriber, since),
  ]);
  const isOther = (row: RowOf<typeof TouchItem>) => row.job === job && row.channel !== "email" && row.state === "sent";
  return touches.some(isOther) || messages.some((row) => row.job === job);
}

/** For a recipient that another channel has reached by now: the results of their mails that were counted. */
export async function takeBackMails(store: Store, job: JobRecord, subscriber: string): Promise<void> {
  for (const row of await touchesSince(store, subscriber, beginOf(job)))
    if (row.job === job.id && row.alone !== undefined) await takeBack(store, subscriber, row);
}

/** Takes back what one mail meant for its recipient, once. The outcome of a journey's step is that of the other channel. */
export async function takeBack(store: Store, subscriber: string, row: RowOf<typeof TouchItem>): Promise<void> {
  const job = await findJob(store, row.job);
  if (!job) return;
  const step = stepSendOf(job);
  if (step) await followOne(store, step, subscriber, { outcome: "sent", after: "bounced" });
  const { alone: fate } = row;
  if (fate === undefined) return;

  const at = timeOfTouch(row);
  const key = touchKey(subscriber, at, job.id, { channel: "email" });
  await transacted(store, [
    changeItem(TouchItem, key, { remove: ["alone"] }, is("alone", fate)),
    ...takenBackWrites(job, subscriber, { fate, at }),
  ]);
}
