// Outbound events that follow from a change of the table: the occurrences of the outbound event types (WEV).
import { timestamp } from "../../kernel/clock.ts";
import { topicKeyOf } from "../../rules/topics.ts";
import type { WebhookEvent } from "../../rules/webhook-events.ts";
import { becomes, type Change, type Changes, isNew } from "../changes.ts";
import type { StoreReader } from "../context.ts";
import { familyOf } from "../families.ts";
import { StepState } from "../journeys/step-brake-items.ts";
import { fromJson } from "../json-text.ts";
import { MemberLeaf, SegmentMembership } from "../lists/items.ts";
import { segmentMovesOf } from "../lists/segment-moves.ts";
import { countTarget } from "../lists/targets.ts";
import { ReportedInteraction } from "../sends/interactions/items.ts";
import { JobItem } from "../sends/jobs/job-items.ts";
import { jobOf } from "../sends/jobs/jobs.ts";
import { countsNow } from "../sends/jobs/late.ts";
import { TouchItem } from "../sends/ledger/ledger-items.ts";
import { Profile } from "../subscribers/items.ts";
import { attributesOf, isLiving, type LivingProfile } from "../subscribers/subscribers.ts";
import type { Occurrence } from "./deliveries.ts";

/**
 * A source of occurrences in a change. They may be costly, so they are read only if one of the events is subscribed to.
 */
interface OccurrenceSource {
  /** The origin: its workspace, its place in the stream, and when it was written. */
  change: Pick<Change, "tenant" | "position" | "at">;
  events: readonly WebhookEvent[];
  /** It is known that no webhook asks for them. */
  withoutWebhook?: boolean;
  occurrences(store: StoreReader): Occurrence[] | Promise<Occurrence[]>;
}

/** The outbound events that a batch of changes may cause, whether or not any endpoint subscribes to them. */
export function occurrenceSources(changes: Changes): OccurrenceSource[] {
  const jobs = changes.of(JobItem, "job");
  const profiles = changes.of(Profile, "subscriber");
  return [
    ...profiles
      .filter(isNew)
      .flatMap((change) => (isLiving(change.after) ? [subscriberCreated(change, change.after)] : [])),
    ...profiles.filter(changesConsent).map(consentChanged),
    ...jobs.filter(becomes("queued")).map(dispatched),
    ...jobs.filter(({ before, after }) => !before?.halted && after.halted !== undefined).map(haltedSend),
    ...changes
      .of(StepState, "journey-step")
      .filter(({ before, after }) => !before?.halted && after.halted !== undefined)
      .map(stepHalted),
    ...jobs.filter((change) => becomes("completed")(change) || becomes("failed")(change)).map(ended),
    ...changes.of(ReportedInteraction, "interaction").filter(isNew).map(interacted),
    ...changes
      .of(TouchItem, "fate")
      .filter(({ before }) => before !== undefined)
      .map(fateKnown),
    ...[...changes.of(SegmentMembership, "membership"), ...changes.of(MemberLeaf, "leaf")].map(membersMoved),
  ];
}

/** WEV-1, WEV-6. */
const subscriberCreated = (change: OccurrenceSource["change"], profile: LivingProfile): OccurrenceSource => ({
  change,
  events: ["subscriber.created"],
  occurrences: () => {
    const { id, external_id, email = null, created_at } = profile;
    const data = { subscriber_id: id, external_id, email, attributes: attributesOf(profile), created: true };
    return [{ event: "subscriber.created", key: id, at: Date.parse(created_at), data }];
  },
});

/** WEV-2, WEV-7. */
const dispatched = (change: Change<typeof JobItem>): OccurrenceSource => ({
  change,
  events: ["notification.dispatched"],
  withoutWebhook: change.after.no_webhooks === true,
  occurrences: async (store) => {
    const { id, target, ranges, direct, sent, subscriber_ids_count, scheduled_at, created_at } = jobOf(change.after);
    const isCounted = ranges !== undefined || direct !== undefined || sent > 0;
    const target_size_estimate = isCounted ? sent : (subscriber_ids_count ?? (await countTarget(store, target)));
    const data = { job_id: id, target_size_estimate, scheduled_at };
    return [{ event: "notification.dispatched", key: id, at: Date.parse(scheduled_at ?? created_at), data }];
  },
});

/** F21. A send may halt again after it was resumed. */
const haltedSend = (change: Change<typeof JobItem>): OccurrenceSource => ({
  change,
  events: ["notification.halted"],
  occurrences: () => {
    const { id, halted: halt, created_at } = jobOf(change.after);
    const { at = created_at, ...figures } = halt ?? {};
    return [{ event: "notification.halted", key: `${id}:${at}`, at: Date.parse(at), data: { job_id: id, ...figures } }];
  },
});

/** F21. */
const stepHalted = (change: Change<typeof StepState>): OccurrenceSource => ({
  change,
  events: ["journey.halted"],
  occurrences: (store) => {
    const { journey, version, step, halted } = change.after;
    const { at = timestamp(store.clock.now()), ...figures } = halted ? fromJson(halted) : {};
    const data = { journey_id: journey, version, step, ...figures };
    return [{ event: "journey.halted", key: `${journey}:${version}:${step}:${at}`, at: Date.parse(at), data }];
  },
});

/** WEV-3, WEV-8, AMB-95. */
const ended = (change: Change<typeof JobItem>): OccurrenceSource => ({
  change,
  events: ["notification.terminal"],
  occurrences: () => {
    const job = jobOf(change.after);
    const { id, status, completed_at, created_at } = job;
    const { delivered, failed } = countsNow(job, job);
    const data = { job_id: id, status, delivered, failed, total: delivered + failed };
    return [{ event: "notification.terminal", key: id, at: Date.parse(completed_at ?? created_at), data }];
  },
});

/** WEV-4, WEV-9, ABH-3. */
const interacted = (change: Change<typeof ReportedInteraction>): OccurrenceSource => ({
  change,
  events: ["notification.interaction"],
  occurrences: () => {
    const { job: job_id, interaction: interaction_type, platform, variant_id, received_at, sk } = change.after;
    const data = { job_id, interaction_type, platform, ...(variant_id !== undefined && { variant_id }) };
    return [{ event: "notification.interaction", key: sk, at: Date.parse(received_at), data }];
  },
});

/** The provider later reported the fate of a mail (WEV-1). */
const fateKnown = (change: Change<typeof TouchItem>): OccurrenceSource => ({
  change,
  events: ["message.bounced", "message.complained"],
  occurrences: () => {
    const { before, after, at } = change;
    const { pk, job: job_id, channel = "email", reason = null, sk } = after;
    const subscriber_id = subscriberIn(pk);
    const data = { job_id, subscriber_id, channel, reason };
    const occurrence = { key: `${subscriber_id}:${sk}`, at, data, subscriber: subscriber_id };
    const bounced = becomesBounced(before, after) ? [{ ...occurrence, event: "message.bounced" as const }] : [];
    const complained =
      after.complained && !before?.complained ? [{ ...occurrence, event: "message.complained" as const }] : [];
    return [...bounced, ...complained];
  },
});

type Touch = Change<typeof TouchItem>["after"];

const becomesBounced = (before: Touch | undefined, after: Touch): boolean =>
  after.state === "bounced" && before?.state !== "bounced";

export const subscriberIn = (pk: string): string => pk.slice(pk.indexOf(OF_SUBSCRIBER) + OF_SUBSCRIBER.length);
const OF_SUBSCRIBER = "#U#";

const changedConsents = ({ before, after }: Change<typeof Profile>) =>
  familyOf(after, "c:").filter(([channel, status]) => status !== before?.[`c:${channel}`]);

const changesConsent = (change: Change<typeof Profile>): boolean =>
  isLiving(change.after) && changedConsents(change).length > 0;

const consentChanged = (change: Change<typeof Profile>): OccurrenceSource => ({
  change,
  events: ["consent.changed", "subscriber.unsubscribed"],
  occurrences: () => {
    const { before, after, at } = change;
    const { id: subscriber_id } = after;
    return changedConsents(change).flatMap(([channel, status]): Occurrence[] => {
      const key = `${subscriber_id}:${channel}:${status}:${after[`ct:${channel}`]}`;
      const data = { subscriber_id, channel, status, previous: before?.[`c:${channel}`] ?? null };
      const common = { key, at, subscriber: subscriber_id };
      const isUnsubscribed = status === "opted_out" && topicKeyOf(channel) === undefined;
      return [
        { event: "consent.changed", ...common, data },
        ...(isUnsubscribed
          ? [{ event: "subscriber.unsubscribed" as const, ...common, data: { subscriber_id, channel } }]
          : []),
      ];
    });
  },
});

const membersMoved = (change: Change<typeof SegmentMembership> | Change<typeof MemberLeaf>): OccurrenceSource => ({
  change,
  events: ["segment.entered", "segment.left"],
  occurrences: () =>
    segmentMovesOf(change).map(({ subscriber: subscriber_id, segment: segment_id, entered, at }) => ({
      event: entered ? "segment.entered" : "segment.left",
      key: `${segment_id}:${subscriber_id}:${at}`,
      at: Date.parse(at),
      data: { segment_id, subscriber_id },
      subscriber: subscriber_id,
    })),
});
