// What was not sent to a subscriber, or not yet: messages that wait, and sends that skipped the subscriber. They have no
// rows of their own, so the plans of the newest sends are asked.
import { DAY, timestamp } from "../../kernel/clock.ts";
import { messagesSince } from "../sends/inbox/inbox.ts";
import { listJobs } from "../sends/jobs/job-list.ts";
import type { Job } from "../sends/jobs/job-record.ts";
import { channelOutcomes } from "../sends/ledger/channel-outcomes.ts";
import { CLOCK_TOLERANCE_MS, touchesSince } from "../sends/ledger/touches.ts";
import { type AudiencePlace, placeInPlan } from "../sends/reports/audience-place.ts";
import { type Placed, placedAt, type Source } from "./timeline-places.ts";

const LOOK_BACK_MS = 7 * DAY;
/** Sends that are looked at, and of those the ones whose plans are read. */
const MAX_SENDS = 100;
const MAX_PLANS = 20;

export const unsent: Source = async (store, { subscriber }) => {
  const since = store.clock.now() - LOOK_BACK_MS;
  const { jobs } = await listJobs(store, { from: timestamp(since), limit: MAX_SENDS });
  const dispatched = jobs.filter(({ dispatched_at }) => dispatched_at !== null);
  const own = dispatched.filter(
    ({ direct }) => !direct || direct.recipients.some((recipient) => recipient.subscriber === subscriber),
  );
  const asked = own.slice(0, MAX_PLANS);
  if (asked.length === 0) return [];
  const [places, ledger, messages] = await Promise.all([
    Promise.all(asked.map(async (job) => (await placeInPlan(store, job, subscriber)).place)),
    touchesSince(store, subscriber, since - CLOCK_TOLERANCE_MS),
    messagesSince(store, subscriber, since - CLOCK_TOLERANCE_MS),
  ]);
  return asked.flatMap((job, i) => {
    const ofJob = {
      ledger: ledger.filter((row) => row.job === job.id),
      messages: messages.filter((row) => row.job === job.id),
    };
    return unsentOf(job, places[i], ofJob);
  });
};

type Known = Pick<Parameters<typeof channelOutcomes>[1], "ledger" | "messages">;

function unsentOf(job: Job, place: AudiencePlace | undefined, known: Known): Placed[] {
  const at = job.dispatched_at ?? job.created_at;
  const common = { kind: "message" as const, ref: job.id };
  if (place?.kind === "skipped") {
    const data = { channel: null, device_id: null, reason: place.reason, variant_id: null, deferred_until: null };
    return [placedAt(at, `${job.id}#plan`, { ...common, state: "skipped", data })];
  }
  if (place?.kind !== "recipient") return [];
  const { recipient, waits } = place;
  return channelOutcomes(job, { ...known, targets: recipient.targets, waits })
    .filter((one) => one.at === null)
    .map(({ channel, device_id, state, reason, deferred_until }) => {
      const data = { channel, device_id, reason, variant_id: recipient.arm ?? null, deferred_until };
      return placedAt(at, `${job.id}#${channel}#${device_id}`, { ...common, state, data });
    });
}
