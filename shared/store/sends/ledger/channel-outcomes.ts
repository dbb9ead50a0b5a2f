// The outcome of one recipient's message on each of its addresses: each has its own state, reason and time.
import * as v from "valibot";
import { said, Timestamp } from "../../../contract/schemas.ts";
import { timestamp } from "../../../kernel/clock.ts";
import { timeOfUuid } from "../../../kernel/ids.ts";
import { channelTypes } from "../../../rules/channel-types.ts";
import { isTerminal } from "../../../rules/job-states.ts";
import type { Unit } from "../../../rules/progress.ts";
import { quietEnd } from "../../../rules/progress-rounds.ts";
import type { Target } from "../../../rules/reach.ts";
import { recipientStates } from "../../../rules/recipient-states.ts";
import { type MessageRow, messageIdOf } from "../inbox/inbox.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { type Stop, stopOf } from "../jobs/send-state.ts";
import { ledgerOutcome, newestByAddress } from "./recipient-outcome.ts";
import { type TouchRow, timeOfTouch } from "./touches.ts";

export const ChannelOutcome = v.object({
  channel: v.picklist(channelTypes),
  device_id: v.nullable(v.string()),
  state: v.picklist(recipientStates),
  reason: said(
    "Why: of a waiting one `quiet_hours`, `throttled`, `verifying`, `halted` or `paused`, else as the send counts it. One that " +
      "is `deferred` for another reason than `quiet_hours` is held beyond them",
    v.nullable(v.string()),
  ),
  at: said("When it was tried last; `null`: not yet", v.nullable(Timestamp)),
  deferred_until: said("The end of the quiet hours that it waits for", v.nullable(Timestamp)),
});
export type ChannelOutcome = v.InferOutput<typeof ChannelOutcome>;

/** The facts about one recipient of a send. */
interface RecipientFacts {
  /** The rows of the job and the subscriber, oldest first. */
  ledger: readonly TouchRow[];
  messages: readonly MessageRow[];
  targets: readonly Target[];
  /** The remaining work of its chunk for the recipient. */
  waits: readonly Unit[];
  /** In milliseconds. */
  now: number;
  /** Why it does not go on after quiet hours. */
  stop: Stop;
}

type JobStop = Pick<JobRecord, "status" | "halted" | "held">;

/** In the order of the plan. Of a smart send the channels that were not needed are left out. */
export function channelOutcomes(job: JobStop, facts: RecipientFacts): ChannelOutcome[] {
  const newest = newestByAddress(facts.ledger);
  const [message] = facts.messages;
  return facts.targets.flatMap((target, i) => {
    const { channel, device } = target;
    const unit = facts.waits.find((wait) => wait.target === i);
    const outcome =
      (unit && waitOf(job, unit, facts)) ??
      (channel === "in_app" && message ? inboxOutcome(message) : touchOutcome(job, rowOf(newest, target))) ??
      untriedOutcome(job);
    return outcome ? [{ channel, device_id: device ?? null, ...outcome }] : [];
  });
}

type Outcome = Omit<ChannelOutcome, "channel" | "device_id">;

/** A row of a subscriber who was erased names no device. */
const rowOf = (rows: readonly TouchRow[], { channel, device }: Target): TouchRow | undefined =>
  rows.find((row) => row.channel === channel && row.device === device) ??
  rows.find((row) => row.channel === channel && row.device === undefined);

/** The reason why an address waits; undefined if it only waits for its turn. */
function waitOf(job: JobStop, unit: Unit, { now, stop }: Pick<RecipientFacts, "now" | "stop">): Outcome | undefined {
  if (job.status === "canceled") return undefined;
  const at = unit.tries.at(-1) === undefined ? null : timestamp(unit.tries.at(-1)!);
  const quiet = quietEnd(unit);
  if (quiet !== undefined)
    return quiet > now
      ? { state: "deferred", reason: "quiet_hours", at, deferred_until: timestamp(quiet) }
      : { state: "deferred", reason: stop, at, deferred_until: null };
  const reason = heldBack(unit);
  return reason && { state: "pending", reason, at, deferred_until: null };
}

/** Why its channel takes nothing for the moment, which is no attempt. */
export function heldBack({ throttledSince, isHeld }: Unit): "throttled" | "verifying" | undefined {
  if (throttledSince === undefined) return undefined;
  return isHeld ? "verifying" : "throttled";
}

const inboxOutcome = (message: MessageRow): Outcome => ({
  state: "delivered",
  reason: null,
  at: timestamp(timeOfUuid(messageIdOf(message))),
  deferred_until: null,
});

function touchOutcome(job: JobStop, row: TouchRow | undefined): Outcome | undefined {
  if (!row) return undefined;
  const { state, reason } = ledgerOutcome(row);
  const isStopped = job.status === "canceled" && state === "pending";
  const at = row.tries?.at(-1) ?? timestamp(timeOfTouch(row));
  return { state: isStopped ? "canceled" : state, reason, at, deferred_until: null };
}

/** The outcome of an address without a message; undefined if there will be none. */
function untriedOutcome(job: JobStop): Outcome | undefined {
  if (job.status === "canceled") return { state: "canceled", reason: null, at: null, deferred_until: null };
  if (isTerminal(job.status)) return undefined;
  return { state: "pending", reason: stopOf(job), at: null, deferred_until: null };
}

/** The outcome of an inbox that got no message. */
export const lostInbox = (targets: readonly Target[], reason: string): ChannelOutcome[] =>
  targets.flatMap(({ channel }) =>
    channel === "in_app"
      ? [{ channel, device_id: null, state: "failed" as const, reason, at: null, deferred_until: null }]
      : [],
  );
