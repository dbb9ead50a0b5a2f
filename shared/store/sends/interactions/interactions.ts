// Interactions of recipients with a job (INT): each report is a row and a count, in one transaction, once
// (docs/decisions/0011, AMB-106).
import { createHash } from "node:crypto";
import { DAY, MINUTE, timestamp } from "../../../kernel/clock.ts";
import { invalid } from "../../../kernel/errors.ts";
import { normalizedAddress } from "../../../rules/addresses.ts";
import type { ChannelClass } from "../../../rules/channel-types.ts";
import { addedUp } from "../../../rules/counting.ts";
import { channelOf, type Interaction, type Platform, type Stage, stagesOf } from "../../../rules/interactions.ts";
import { type KnownProvider, mailboxProviderOf } from "../../../rules/mailbox-providers.ts";
import type { MachineVerdict } from "../../../rules/tracking.ts";
import { absent, all, is } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { countedStages, dayWrites, OPENED_MAIL } from "../../insights/hours.ts";
import { changeItem, type ItemWrite, type NewRowOf, putItem, type RowOf, ref } from "../../item.ts";
import { reachedWrites } from "../../journeys/totals.ts";
import { busy, contended, done, failuresOf, untilUncontended } from "../../refusals.ts";
import { DevicePointer } from "../../subscribers/device-items.ts";
import { answeredClass, noteEngagement } from "../../subscribers/engagement.ts";
import { Profile } from "../../subscribers/items.ts";
import { isLiving } from "../../subscribers/subscribers.ts";
import { armIn } from "../jobs/draws.ts";
import { isTestId } from "../jobs/job-ids.ts";
import { JobItem } from "../jobs/job-items.ts";
import type { JobRecord } from "../jobs/job-record.ts";
import { jobOf } from "../jobs/jobs.ts";
import {
  burstVerdict,
  linkFollowed,
  retractable,
  retractBurst,
  retractions,
  stagesAmong,
  withMailbox,
} from "./bursts.ts";
import { Engagement, InteractionCount, interactionKey, ReportedInteraction } from "./items.ts";
import { countersOf, dayCounters } from "./totals.ts";

interface Report {
  job_id: string;
  interaction: Interaction;
  platform: Platform;
  occurred_at: string;
  action_id?: string | undefined;
  url?: string | undefined;
  subscriber_id?: string | undefined;
  device_id?: string | undefined;
  variant_id?: string | undefined;
  /** Set if a machine did it: stored, but not a part of what makes two reports equal (AMB-92). */
  machine?: MachineVerdict | undefined;
  /** For a link in a mail: its position, and the number of links in the mail. */
  link?: { position: number; count: number } | undefined;
}

/**
 * Counts a report, unless it is of a test send, or one equal in every field was counted. An unknown or erased recipient is left out of it.
 * @throws 422 naming an unknown job (AMB-41).
 */
export async function countInteraction(store: Store, report: Report): Promise<void> {
  const outcome = await countReport(store, report, () => true);
  if (outcome === "unknown job") throw invalid({ job_id: "names no notification" });
}

/** The same for a link of a mail: nothing is counted once the send or the recipient is gone (AMB-143). */
export async function countLinkFollowed(store: Store, report: Report & { subscriber_id: string }): Promise<void> {
  await countReport(store, report, (recipient) => recipient !== undefined);
}

type CountOutcome = "counted" | "left out" | "unknown job";

async function countReport(
  store: Store,
  report: Report,
  countsFor: (subscriber: string | undefined) => boolean,
): Promise<CountOutcome> {
  if (isTestId(report.job_id)) return "left out";
  const digest = digestOf(report);
  // Cheap at first: anybody may report, and most of the read is the profile. The conditions of the write find stale
  // data.
  let eventual = true;
  return untilUncontended<CountOutcome>(busy.transient("Too many reports of one recipient at once."), async () => {
    const { job, isCounted, isNamed, ...recipient } = await readContext(store, report, digest, eventual);
    if (isCounted) return done("left out");
    const isUnfound = !job || (isNamed && recipient.subscriber === undefined);
    const mayBeStale = eventual && isUnfound;
    eventual = false;
    if (mayBeStale) return contended;
    if (!job) return done("unknown job");
    if (!countsFor(recipient.subscriber)) return done("left out");

    const send = jobOf(job);
    const judged = {
      ...report,
      variant_id: armFor(send, report, recipient.subscriber),
      machine: report.machine ?? burstVerdict(store, report, recipient.engagement),
    };
    const failures = await failuresOf(store, writesOf(store, judged, digest, { job: send, ...recipient }));
    if (failures.length === 0) {
      if (judged.machine === undefined) await retractBurst(store, judged, digest, { job: send, ...recipient });
      return done("counted");
    }
    return failures[0] ? done("left out") : contended;
  });
}

const digestOf = (report: Report): string => {
  const { job_id, interaction, platform, occurred_at, action_id, url, subscriber_id, device_id, variant_id } = report;
  const fields = [job_id, interaction, platform, occurred_at, action_id, url, subscriber_id, device_id, variant_id];
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 40);
};

interface Recipient {
  /** Undefined if unknown or erased. */
  subscriber: string | undefined;
  /** The stages that the subscriber reached with the job before. */
  engagement: RowOf<typeof Engagement> | undefined;
  /** The provider of their mailbox now. */
  mailbox: KnownProvider | undefined;
}

async function readContext(
  store: Store,
  { job_id, subscriber_id, device_id }: Report,
  digest: string,
  eventual: boolean,
): Promise<Recipient & { job: RowOf<typeof JobItem> | undefined; isCounted: boolean; isNamed: boolean }> {
  const device =
    subscriber_id === undefined && device_id !== undefined
      ? await store.get(DevicePointer, { by: "name", text: device_id }, { eventual })
      : undefined;
  const named = subscriber_id ?? device?.subscriber;
  const refs = [ref(JobItem, { job: job_id }), ref(ReportedInteraction, interactionKey(job_id, digest))] as const;
  if (named === undefined) {
    const [job, existing] = await store.getEach(refs, { eventual });
    const isNamed = device_id !== undefined;
    const nobody = { subscriber: undefined, engagement: undefined, mailbox: undefined };
    return { job, isCounted: existing !== undefined, isNamed, ...nobody };
  }
  const person = [ref(Profile, { id: named }), ref(Engagement, { subscriber: named, job: job_id })] as const;
  const [job, existing, profile, engagement] = await store.getEach([...refs, ...person], { eventual });
  const living = profile && isLiving(profile) ? profile : undefined;
  const address = normalizedAddress("email", living?.email);
  const mailbox = address === undefined ? undefined : mailboxProviderOf(address);
  return { job, isCounted: existing !== undefined, isNamed: true, subscriber: living && named, engagement, mailbox };
}

/** A stage, also by channel, or an answer by class of channels: attributes of `Engagement`. */
type Mark = Stage | `${Stage}@${string}` | `answered@${ChannelClass}`;

/** The new facts of a report about its recipient, and the counts that it shows to be a machine's. */
interface Effect {
  channel: ReturnType<typeof channelOf>;
  stages: readonly Stage[];
  /** The stages that the recipient has reached with it. */
  firsts: readonly Mark[];
  /** However often a job is tapped, it is one answer by each class, as it is one delivery (D-ARB). */
  firstAnswer: Mark | undefined;
  /** Marks of machines, which are taken back. */
  retracted: ReturnType<typeof retractable>;
}

function effectOf(
  { interaction, platform, machine }: Report,
  { subscriber, engagement }: Recipient,
  receivedAt: number,
): Effect {
  const channel = channelOf(interaction, platform);
  const stages = stagesOf(interaction, machine !== undefined);
  const isFirst = (mark: Mark) => subscriber !== undefined && engagement?.[mark] === undefined;
  const marks = stages.flatMap((stage): Mark[] => (channel ? [stage, `${stage}@${channel}`] : [stage]));
  const answered = answeredClass(interaction, platform);
  const answer = answered && (`answered@${answered}` as const);
  return {
    channel,
    stages,
    firsts: marks.filter(isFirst),
    firstAnswer: answer && isFirst(answer) ? answer : undefined,
    retracted: machine === "burst" ? retractable(engagement, receivedAt) : [],
  };
}

function writesOf(
  store: Store,
  report: Report,
  digest: string,
  { job, ...recipient }: Recipient & { job: JobRecord },
): ItemWrite<"workspace">[] {
  const { job_id, interaction, platform, occurred_at, variant_id, action_id, machine } = report;
  const { subscriber, engagement, mailbox } = recipient;
  const receivedAt = store.clock.now();
  const received_at = timestamp(receivedAt);
  const { channel, stages, firsts, firstAnswer, retracted } = effectOf(report, recipient, receivedAt);
  const row: NewRowOf<typeof ReportedInteraction> = {
    react: "interaction",
    job: job_id,
    interaction,
    platform,
    occurred_at,
    received_at,
    firsts: [...firsts],
    retracted: retracted.length > 0 ? retracted : undefined,
    channel,
    variant_id,
    action_id,
    machine,
  };

  const shard = digest.slice(0, 1);
  const at = hourOf(occurred_at, receivedAt);
  const taken = retractions(engagement, retracted);
  const byDay = addedUp([
    dayCounters(job, at, firsts),
    ...taken.map(({ at: then, mark }) => dayCounters(job, then, [mark], -1)),
  ]);

  const marks = [...firsts, ...(firstAnswer ? [firstAnswer] : [])];
  const followed = linkFollowed(report, receivedAt);
  const isMarked = marks.length > 0 || retracted.length > 0 || followed;
  const change = { marks, followed, retracted, received_at, mailbox };
  const reached = stages.filter((stage) => firsts.includes(stage));

  return [
    putItem(ReportedInteraction, interactionKey(job_id, digest), row, absent()),
    changeItem(InteractionCount, { job: job_id, shard }, { add: { ...countersOf(row), ...byDay } }),
    ...(subscriber !== undefined && isMarked ? [markWrite({ subscriber, job: job_id }, engagement, change)] : []),
    ...(subscriber !== undefined && firstAnswer ? noteEngagement(store, subscriber, report) : []),
    ...reachedWrites(job, reached),
    ...reachedWrites(job, stagesAmong(retracted), -1),
    ...dayWrites(digest.slice(1, 2), [
      countedStages(at, { ...job, mailbox }, firsts),
      ...taken.map(({ at: then, mark }) => countedStages(then, { ...job, mailbox: engagement?.mailbox }, [mark], -1)),
    ]),
  ];
}

interface MarkChange {
  marks: readonly Mark[];
  followed: ReturnType<typeof linkFollowed>;
  retracted: ReturnType<typeof retractable>;
  received_at: string;
  mailbox: KnownProvider | undefined;
}

/** Adds marks to the engagement of a recipient, unless another report was first, and takes back those of machines. */
function markWrite(
  key: { subscriber: string; job: string },
  engagement: Recipient["engagement"],
  { marks, followed, retracted, received_at, mailbox }: MarkChange,
): ItemWrite<"workspace"> {
  const isOpened = marks.includes(OPENED_MAIL);
  const set = {
    ...Object.fromEntries(marks.map((mark) => [mark, received_at])),
    ...followed,
    ...(isOpened && { mailbox }),
  };
  const when = [...marks.map((mark) => absent(mark)), ...retracted.map((mark) => is(mark, engagement?.[mark] ?? ""))];
  return changeItem(
    Engagement,
    key,
    { set, remove: withMailbox(retracted) },
    when.length > 0 ? all(...when) : undefined,
  );
}

/** The arm that a report counts for. Clients need not name it: that of the recipient is drawn (ABH-1, INT-8). */
function armFor(job: JobRecord, { variant_id }: Report, subscriber: string | undefined): string | undefined {
  if (!job.isSplit) return undefined;
  if (variant_id === "a" || variant_id === "b") return variant_id;
  return subscriber === undefined ? undefined : armIn(job, subscriber);
}

/** An open that a wrong clock dates to another day counts at the time when it was received. */
function hourOf(occurred: string, receivedAt: number): string {
  const at = Date.parse(occurred);
  return at > receivedAt - 2 * DAY && at < receivedAt + 5 * MINUTE ? occurred : timestamp(receivedAt);
}
