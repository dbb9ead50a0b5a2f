// What goes out now: the recipients of the newest sends, as the list of a send's recipients shows them. Nothing is
// written for it (docs/decisions/0034).
import * as v from "valibot";
import { DAY, timestamp } from "../../../kernel/clock.ts";
import type { StoreReader } from "../../context.ts";
import { listJobs } from "../jobs/job-list.ts";
import { getJob } from "../jobs/jobs.ts";
import { ListedRecipient, listRecipients, RecipientPosition } from "../ledger/recipient-list.ts";

export const ActivityEntry = v.pipe(
  v.object({
    notification_id: v.string(),
    subscriber_id: ListedRecipient.entries.subscriber_id,
    external_id: ListedRecipient.entries.external_id,
    channel: ListedRecipient.entries.channel,
    state: ListedRecipient.entries.state,
    reason: ListedRecipient.entries.reason,
    at: ListedRecipient.entries.at,
    deferred_until: ListedRecipient.entries.deferred_until,
    channels: ListedRecipient.entries.channels,
  }),
  v.title("ActivityEntry"),
);
type ActivityEntry = v.InferOutput<typeof ActivityEntry>;

/** A send, and the recipient of it at which a page begins; without `from`, the page begins with the send after it. */
export const ActivityPosition = v.object({ job: v.string(), from: v.optional(RecipientPosition) });
type Position = v.InferOutput<typeof ActivityPosition>;

const SHOWN_MS = 7 * DAY;
/** Sends that are looked at for one page. */
const MAX_SENDS = 20;

/** Recipients of the sends of seven days, those of the newest send first. A page may be short. */
export async function listActivity(
  store: StoreReader,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<{ items: ActivityEntry[]; next?: Position | undefined }> {
  const items: ActivityEntry[] = [];
  const take = async (id: string, from: Position["from"]): Promise<Position | undefined> => {
    const page = await listRecipients(store, await getJob(store, id), {}, { from, limit: limit - items.length });
    for (const { variant_id: _, ...one } of page.items) items.push({ notification_id: id, ...one });
    return page.next && { job: id, from: page.next };
  };
  if (after?.from) {
    const rest = await take(after.job, after.from);
    if (rest) return { items, next: rest };
  }
  const from = timestamp(store.clock.now() - SHOWN_MS);
  const { jobs, next } = await listJobs(store, { from, after: after?.job, limit: MAX_SENDS });
  for (const [i, { id, dispatched_at }] of jobs.entries()) {
    if (items.length >= limit) return { items, next: { job: jobs[i - 1]?.id ?? after?.job ?? id } };
    if (dispatched_at === null) continue;
    const rest = await take(id, undefined);
    if (rest) return { items, next: rest };
  }
  return { items, next: next === undefined ? undefined : { job: next } };
}
