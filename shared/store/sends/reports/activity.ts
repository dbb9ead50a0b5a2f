// The present activity: the recipients of the newest sends, as in the list of a send's recipients. Nothing is written
// for it (docs/decisions/0034).
import * as v from "valibot";
import { Named } from "../../../contract/named.ts";
import { said, titled } from "../../../contract/schemas.ts";
import { DAY, timestamp } from "../../../kernel/clock.ts";
import type { StoreReader } from "../../context.ts";
import { NamedSource, namedSource, namesOf, wantedSource } from "../../names.ts";
import { listJobs } from "../jobs/job-list.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { getJob } from "../jobs/jobs.ts";
import { ListedRecipient, listRecipients, RecipientPosition } from "../ledger/recipient-list.ts";

export const ActivityEntry = titled("ActivityEntry", {
  notification_id: v.string(),
  notification: said("The send with its name, or its title", Named),
  source: said("What the send came from; `null` for one of the API", v.nullable(NamedSource)),
  subscriber_id: ListedRecipient.entries.subscriber_id,
  external_id: ListedRecipient.entries.external_id,
  name: ListedRecipient.entries.name,
  channel: ListedRecipient.entries.channel,
  state: ListedRecipient.entries.state,
  reason: ListedRecipient.entries.reason,
  at: ListedRecipient.entries.at,
  deferred_until: ListedRecipient.entries.deferred_until,
  channels: ListedRecipient.entries.channels,
});
type ActivityEntry = v.InferOutput<typeof ActivityEntry>;
type UnnamedActivity = Omit<ActivityEntry, "notification" | "source">;

/** A send, and the recipient of it at which a page begins; without `from`, the page begins with the send after it. */
export const ActivityPosition = v.object({ job: v.string(), from: v.optional(RecipientPosition) });
type Position = v.InferOutput<typeof ActivityPosition>;

const SHOWN_MS = 7 * DAY;
/** Sends that are looked at for one page. */
const MAX_SENDS = 20;

/** Recipients of the sends of seven days, those of the newest send first. A page may be short. */
export async function listActivity(
  store: StoreReader,
  page: { after: Position | undefined; limit: number },
): Promise<{ items: ActivityEntry[]; next?: Position | undefined }> {
  const { items, sources, next } = await collect(store, page);
  const sends = [...new Set(items.map((item) => item.notification_id))];
  const names = await namesOf(store, [
    ...sends.map((id) => ({ kind: "notification" as const, id })),
    ...[...sources.values()].flatMap(wantedSource),
  ]);
  const named = items.map(({ notification_id: id, ...entry }): ActivityEntry => {
    const source = sources.get(id);
    const notification = { id, name: names.of("notification", id) };
    return { notification_id: id, notification, source: source ? namedSource(source, names) : null, ...entry };
  });
  return { items: named, next };
}

async function collect(
  store: StoreReader,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<{
  items: UnnamedActivity[];
  sources: ReadonlyMap<string, JobRecord["source"]>;
  next?: Position | undefined;
}> {
  const items: UnnamedActivity[] = [];
  const sources = new Map<string, JobRecord["source"]>();
  const take = async (id: string, from: Position["from"]): Promise<Position | undefined> => {
    const job = await getJob(store, id);
    sources.set(id, job.source);
    const page = await listRecipients(store, job, {}, { from, limit: limit - items.length });
    for (const { variant_id: _, ...entry } of page.items) items.push({ notification_id: id, ...entry });
    return page.next && { job: id, from: page.next };
  };
  if (after?.from) {
    const rest = await take(after.job, after.from);
    if (rest) return { items, sources, next: rest };
  }
  const from = timestamp(store.clock.now() - SHOWN_MS);
  const { jobs, next } = await listJobs(store, { from, after: after?.job, limit: MAX_SENDS });
  for (const [i, { id, dispatched_at }] of jobs.entries()) {
    if (items.length >= limit) return { items, sources, next: { job: jobs[i - 1]?.id ?? after?.job ?? id } };
    if (dispatched_at === null) continue;
    const rest = await take(id, undefined);
    if (rest) return { items, sources, next: rest };
  }
  return { items, sources, next: next === undefined ? undefined : { job: next } };
}
