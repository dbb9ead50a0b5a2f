// Why a subscriber got a send or did not (F2): what its rows say happened, and its rules with the values they see now.
import { timestamp } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import { DEFAULT_CANARY_WAIT_MINUTES, textOf as haltText, isCanary } from "../../../rules/brake.ts";
import type { Unit } from "../../../rules/progress.ts";
import { quietEnd } from "../../../rules/progress-rounds.ts";
import type { Target } from "../../../rules/reach.ts";
import { bucket, HALF, isHeldOut, type SplitPurpose } from "../../../rules/split.ts";
import type { SaidOfSend } from "../../../rules/why-details.ts";
import { sendInWords } from "../../../rules/why-words.ts";
import { CampaignItem } from "../../campaigns/items.ts";
import type { StoreReader } from "../../context.ts";
import { ExperienceItem } from "../../experiences/items.ts";
import type { MailReading } from "../../files/mails.ts";
import { displayName, getProfiles } from "../../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { deferredUntil, isDeferred } from "../chunks/deferred.ts";
import { type MessageRow, messagesSince } from "../inbox/inbox.ts";
import { armIn, drawIdOf } from "../jobs/draws.ts";
import { withContent } from "../jobs/job-content.ts";
import type { Job } from "../jobs/job-record.ts";
import { getJob } from "../jobs/jobs.ts";
import { stopAfterQuiet, stopOf } from "../jobs/send-state.ts";
import { channelOutcomes, heldBack, lostInbox } from "../ledger/channel-outcomes.ts";
import { lostReason, type RecipientOutcome, recipientOutcome, wasInInbox } from "../ledger/recipient-outcome.ts";
import { type ChunkRef, CLOCK_TOLERANCE_MS, chunkRefOf, type TouchRow, touchesSince } from "../ledger/touches.ts";
import { type AudiencePlace, audiencePlaceOf } from "./audience-place.ts";
import type { Explanation, RulesNow, Wait } from "./explanation.ts";
import { rulesNow } from "./rules-now.ts";
import { type MessageRoom, shownMessages } from "./shown-messages.ts";
import { deliveryOf } from "./went-out.ts";

export interface ExplainDeps {
  store: StoreReader;
  workspace: () => Promise<WorkspaceRecord | undefined>;
  mails: MailReading;
  /** Of an answer with several sends. */
  room?: MessageRoom;
}

interface AskedRecipient {
  job: string;
  subscriber: string;
  sent?: SentRows;
  isDiscreet?: boolean;
}

/**
 * What became of a send's message to a subscriber, and what its rules say of the subscriber now (F2).
 * @param sent what the subscriber was sent since the dispatch, where that is known: whoever asks about many sends reads it once
 * @param isDiscreet its words say no condition on a value that the asker may not see
 * @throws 404 for an unknown send, and for an unknown subscriber that the send did not concern.
 */
export async function explainRecipient(
  { store, workspace, mails, room }: ExplainDeps,
  { job: id, subscriber, sent, isDiscreet = false }: AskedRecipient,
): Promise<Explanation> {
  const stored = await withContent(store, await getJob(store, id));
  const [job = stored] = await mails.whole([stored]);
  const [[profile], { ledger, messages }] = await Promise.all([
    getProfiles(store, [subscriber]),
    rowsOf(store, job, subscriber, sent),
  ]);
  const place = await audiencePlaceOf(store, job, subscriber, {
    profile,
    chunk: chunkIn(job, [...ledger, ...messages]),
  });
  if (place.kind === "unknown" && ledger.length === 0) throw notFound("recipient");

  const { recipient, waits: left } = place.kind === "recipient" ? place : { recipient: undefined, waits: [] };
  const waits = job.status === "canceled" ? [] : left;
  const rows = { ledger, messages, isDeferred: isDeferred(waits) };
  const outcome = outcomeAt(store, job, { place, subscriber }, rows);
  const { decision, state, attempts, isHeld, arm } = outcome;
  const targets = recipient?.targets ?? [];
  const stop = await stopAfterQuiet(store, job);
  const known = channelOutcomes(job, { ledger, messages, targets, waits, stop, now: store.clock.now() });
  const channels =
    known.length === 0 && state === "failed" && outcome.reason !== null ? lostInbox(targets, outcome.reason) : known;
  const reason = outcome.reason ?? channels.find((channel) => channel.state === state)?.reason ?? null;
  const held_out = isHeld || (decision === "pending" && isHeldOut(drawIdOf(job), subscriber, job.holdout_percentage));
  const hasArm = job.variant_b && !held_out && decision !== "not_in_audience";
  const variant_id = hasArm ? (arm ?? recipient?.arm ?? armIn(job, subscriber)) : null;
  const now = profile ? await rulesNow(store, job, profile, workspace) : null;
  const said: ExplainedOutcome = {
    decision,
    state,
    reason: reason ?? (decision === "pending" ? stopOf(job) : null),
    channels,
    attempts,
    waits: waits.flatMap((unit) => waitOf(unit, targets, store.clock.now())),
    now,
    variant_id,
  };
  return {
    notification_id: job.id,
    subscriber_id: subscriber,
    notification: { id: job.id, name: job.name ?? job.title },
    subscriber: { id: subscriber, name: profile ? displayName(profile) : null },
    ...said,
    in_words: await inWords(store, job, said, { subscriber, isDiscreet }),
    deferred_until: deferredUntil(store, waits),
    holdout: shareOf("holdout", job, subscriber, job.holdout_percentage),
    held_out,
    split: job.variant_b && shareOf("split", job, subscriber, job.split_percentage ?? HALF),
    canary: canaryOf(job, subscriber),
    messages: await shownMessages(store, job, profile, { ledger, messages }, room),
    evaluated_at: timestamp(store.clock.now()),
  };
}

type ExplainedOutcome = Pick<
  Explanation,
  "decision" | "state" | "reason" | "channels" | "attempts" | "waits" | "now" | "variant_id"
>;

async function inWords(
  store: StoreReader,
  job: Job,
  said: ExplainedOutcome,
  { subscriber, isDiscreet }: { subscriber: string; isDiscreet: boolean },
): Promise<string> {
  const { now, channels, variant_id: arm } = said;
  const othersAfter = waitOfOthers(job, subscriber);
  return sendInWords({
    ...said,
    goes_at: job.dispatched_at === null ? job.scheduled_at : null,
    now: now && isDiscreet ? withoutConditions(now) : now,
    sent_at: job.dispatched_at,
    ended_at: job.completed_at,
    error: job.error,
    ...(await sourceStatus(store, job)),
    isOfJourney: job.source.type === "journey",
    halt: job.halted && haltText(job.halted),
    othersAfter,
    ...deliveryOf(job, channels, { quiet: now?.quiet_hours ?? null, isOther: othersAfter !== undefined }),
    variant: isOfArm(arm) ? { arm, share: shareOfArm(job, arm) } : undefined,
  });
}

/** An unmet condition tells what the value is not, and with `$ne` what it is. */
const withoutConditions = (now: RulesNow) => ({
  ...now,
  segment: now.segment && { name: now.segment.name, is_dynamic: now.segment.is_dynamic },
  subscriber_filters: now.subscriber_filters.map((clause) => ({ ...clause, condition: {} })),
});

/** The status of the campaign that holds a send, or of the experience that it shows. */
async function sourceStatus(
  store: StoreReader,
  { held, source: { type, id } }: Job,
): Promise<Pick<SaidOfSend, "campaign" | "experience">> {
  if (id === null) return {};
  if (type === "experience") return { experience: (await store.get(ExperienceItem, { id }))?.status };
  return type === "campaign" && held ? { campaign: (await store.get(CampaignItem, { id }))?.status } : {};
}

/** What an address waits for; nothing if it only waits for its first turn. */
function waitOf(unit: Unit, targets: readonly Target[], now: number): Wait[] {
  const { tries, throttledSince, due } = unit;
  const address = targets[unit.target];
  const why = waitReason(unit, now);
  if (!address || why === undefined) return [];

  const { channel, device } = address;
  const last = throttledSince ?? tries.at(-1);
  const since = last === undefined ? null : timestamp(last);
  return [{ channel, device_id: device ?? null, why, since, attempts: tries.length, until: timestamp(due) }];
}

function waitReason(unit: Unit, now: number): Wait["why"] | undefined {
  const quiet = quietEnd(unit);
  if (quiet !== undefined) return quiet > now ? "quiet_hours" : "held";
  return heldBack(unit) ?? (unit.tries.length > 0 ? "retry" : undefined);
}

/** The chunk that rows of a recipient name; undefined where the recipient is on the row of the job, or has no rows. */
function chunkIn({ id: job, direct }: Job, rows: readonly { place?: string | undefined }[]): ChunkRef | undefined {
  const place = rows.find((row) => row.place !== undefined)?.place;
  return direct || place === undefined ? undefined : chunkRefOf({ job, place });
}

/** The outcome of a subscriber; for one that the ledger does not have, the plan decides. */
function outcomeAt(
  store: StoreReader,
  job: Job,
  { place, subscriber }: { place: AudiencePlace; subscriber: string },
  known: Pick<Parameters<typeof recipientOutcome>[1], "ledger" | "messages" | "isDeferred">,
): RecipientOutcome {
  const skip = place.kind === "skipped" ? place.reason : undefined;
  const outcome = recipientOutcome(job, { ...known, skip, isOutside: place.kind === "outside" });
  if (place.kind === "recipient" && wasInInbox(store, job, place.recipient, { outcome, ledger: known.ledger }))
    return { ...outcome, decision: "sent", state: "delivered", reason: null };
  if (outcome.decision !== "not_in_audience") return outcome;
  if (place.kind === "outside") return { ...outcome, reason: place.reason };
  const isInbox = place.kind === "recipient" && place.recipient.targets.some(({ channel }) => channel === "in_app");
  const lost = isInbox ? lostReason(job, subscriber) : undefined;
  if (lost) return { ...outcome, decision: "sent", state: "failed", reason: lost };
  return job.status === "failed" ? { ...outcome, decision: "skipped", reason: "send_failed" } : outcome;
}

/** Whether it is among the ones who get the send first (F21). */
function canaryOf(job: Job, subscriber: string): Explanation["canary"] {
  const percentage = job.deliverySettings?.brake?.canary_percent;
  return percentage === undefined ? null : shareOf("canary", job, subscriber, percentage);
}

/** How long a recipient outside the canary waits, in minutes. */
function waitOfOthers({ id, deliverySettings }: Job, subscriber: string): number | undefined {
  const { canary_percent, canary_wait_minutes = DEFAULT_CANARY_WAIT_MINUTES } = deliverySettings?.brake ?? {};
  if (canary_percent === undefined || isCanary(id, subscriber, canary_percent)) return undefined;
  return canary_wait_minutes;
}

const isOfArm = (variant: string | null): variant is "a" | "b" => variant === "a" || variant === "b";

/** In percent, of the recipients that are not held out. */
function shareOfArm({ split_percentage }: Job, arm: "a" | "b"): number {
  const ofA = split_percentage ?? HALF;
  return arm === "a" ? ofA : 100 - ofA;
}

const shareOf = (purpose: SplitPurpose, job: Job, subscriber: string, percentage: number) => ({
  percentage,
  bucket: bucket(purpose, purpose === "canary" ? job.id : drawIdOf(job), subscriber),
});

/** The messages to a subscriber since a time: a row for each address and round, and each message of the inbox. */
export interface SentRows {
  ledger: readonly TouchRow[];
  messages: readonly MessageRow[];
}

/** @param since in milliseconds: a row may be a little older than the dispatch of its send */
export async function sentSince(store: StoreReader, subscriber: string, since: number): Promise<SentRows> {
  const from = since - CLOCK_TOLERANCE_MS;
  const [ledger, messages] = await Promise.all([
    touchesSince(store, subscriber, from),
    messagesSince(store, subscriber, from),
  ]);
  return { ledger, messages };
}

/** The rows of a send in the ledger and the inbox of a subscriber. */
async function rowsOf(store: StoreReader, { id, dispatched_at }: Job, subscriber: string, sent?: SentRows) {
  if (dispatched_at === null) return { ledger: [], messages: [] };
  const { ledger, messages } = sent ?? (await sentSince(store, subscriber, Date.parse(dispatched_at)));
  return { ledger: ledger.filter(({ job }) => job === id), messages: messages.filter(({ job }) => job === id) };
}
