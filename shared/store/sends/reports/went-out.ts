// When a message was sent, if that was later than its send began, and the reason of its wait.
import { HOUR, MINUTE } from "../../../kernel/clock.ts";
import { quietUntil } from "../../../rules/quiet-hours.ts";
import type { WentOut } from "../../../rules/why-details.ts";
import type { Job } from "../jobs/job-record.ts";
import type { ChannelOutcome } from "../ledger/channel-outcomes.ts";
import type { RulesNow } from "./explanation.ts";

const AT_ONCE = 5 * MINUTE;
/** Quiet hours of many people end at one moment. */
const SOON = HOUR;

interface WaitReason {
  quiet: RulesNow["quiet_hours"];
  /** A part of the audience got it first, and this person was not in it. */
  isOther: boolean;
}

/** The details of a delivered message. */
export function deliveryOf(
  job: Pick<Job, "source" | "dispatched_at" | "category">,
  channels: readonly ChannelOutcome[],
  waiting: WaitReason,
) {
  const [deliveredAt] = channels.flatMap((channel) => (channel.state === "delivered" ? (channel.at ?? []) : [])).sort();
  return { category: job.category, deliveredAt, wentOut: wentOutOf(job, deliveredAt, waiting) };
}

/** Undefined where it went out at once, and for a step of a journey, whose sends of a day are one. */
function wentOutOf(
  { source, dispatched_at: began }: Pick<Job, "source" | "dispatched_at">,
  at: string | undefined,
  { quiet, isOther }: WaitReason,
): WentOut | undefined {
  if (source.type === "journey" || began === null || at === undefined) return undefined;
  const [from, out] = [Date.parse(began), Date.parse(at)];
  if (out - from < AT_ONCE) return undefined;
  const end = quiet ? quietUntil(quiet, quiet.timezone, from) : undefined;
  if (end !== undefined && out >= end && out < end + SOON) return { at, began, after: "quiet_hours" };
  return { at, began, after: isOther ? "others" : null };
}
