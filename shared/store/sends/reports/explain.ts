// Why a subscriber got a send or did not (F2): what its rows say happened, and its rules with the values they see now.
import { timestamp } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import { type Ranked, rankClasses } from "../../../rules/arbitration.ts";
import { type ChannelType, classOf } from "../../../rules/channel-types.ts";
import { comparisonIn, compilePredicate } from "../../../rules/predicates.ts";
import { type Contact, reachOf } from "../../../rules/reach.ts";
import { armOf, bucket, isHeldOut, type SplitPurpose } from "../../../rules/split.ts";
import { consentChannelOf, isInTopic, type SendTopic } from "../../../rules/topics.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import type { StoreReader } from "../../context.ts";
import { zoneFor } from "../../segments/rules.ts";
import { addressesOf } from "../../subscribers/addresses.ts";
import { contactOf } from "../../subscribers/contacts.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { personalEngagements, tenantEngagements } from "../../subscribers/engagement.ts";
import { attributesForRules, getProfiles, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { deviceForFilters } from "../audience/candidates.ts";
import { countsOf } from "../audience/caps.ts";
import { deliverySettingsOf, selectedChannels } from "../audience/planning.ts";
import { deferredUntil, quietNow } from "../chunks/deferred.ts";
import { messagesSince } from "../inbox/inbox.ts";
import { withContent } from "../jobs/job-content.ts";
import type { Job } from "../jobs/job-record.ts";
import type { DeliverySettings } from "../jobs/job-spec.ts";
import { getJob } from "../jobs/jobs.ts";
import { hasExpired } from "../ledger/recipient-list.ts";
import { type RecipientOutcome, recipientOutcome } from "../ledger/recipient-outcome.ts";
import { CLOCK_TOLERANCE_MS, type TouchRow, touchesSince } from "../ledger/touches.ts";
import { type AudiencePlace, audiencePlaceOf } from "./audience-place.ts";
import type { Clause, Explanation, RulesNow } from "./explanation.ts";
import { shownMessages } from "./shown-messages.ts";

/** @throws 404 for an unknown send, and for an unknown subscriber that the send did not concern. */
export async function explainRecipient(
  store: StoreReader,
  workspace: () => Promise<WorkspaceRecord | undefined>,
  id: string,
  subscriber: string,
): Promise<Explanation> {
  const job = await withContent(store, await getJob(store, id));
  const [[profile], rows, messages, deferred] = await Promise.all([
    getProfiles(store, [subscriber]),
    ledgerOf(store, job, subscriber),
    job.dispatched_at === null ? [] : messagesSince(store, subscriber, firstRoundAfter(job.dispatched_at)),
    deferredUntil(store, job, subscriber),
  ]);
  const found = messages.filter((row) => row.job === job.id);
  const isKnown = deferred !== undefined || found.length > 0 || rows.some(({ channel }) => channel !== undefined);
  const place = isKnown ? undefined : await audiencePlaceOf(store, job, subscriber, profile);
  if (place?.kind === "unknown" && rows.length === 0) throw notFound("recipient");
  const { decision, state, reason, attempts, isHeld, arm } = outcomeAt(store, job, place, {
    ledger: rows,
    messages: found,
    isDeferred: deferred !== undefined,
  });
  const held_out = isHeld || (decision === "pending" && isHeldOut(drawIdOf(job), subscriber, job.holdout_percentage));
  const hasArm = job.variant_b && !held_out && decision !== "not_in_audience";
  const planned = place?.kind === "recipient" ? place.recipient.arm : undefined;
  return {
    notification_id: job.id,
    subscriber_id: subscriber,
    decision,
    state,
    reason: reason ?? (decision === "pending" ? waitsFor(job) : null),
    deferred_until: deferred === undefined ? null : timestamp(deferred),
    holdout: shareOf("holdout", job, subscriber, job.holdout_percentage),
    held_out,
    split: job.variant_b && shareOf("split", job, subscriber, job.split_percentage ?? 50),
    variant_id: hasArm ? (arm ?? planned ?? armOf(drawIdOf(job), subscriber, job.split_percentage ?? 50)) : null,
    canary: canaryOf(job, subscriber),
    attempts,
    messages: await shownMessages(store, job, profile, { ledger: rows, messages: found }),
    now: profile ? await rulesNow(store, job, profile, workspace) : null,
    evaluated_at: timestamp(store.clock.now()),
  };
}

/** What became of a subscriber, with what the plan says of one that the ledger does not know. */
function outcomeAt(
  store: StoreReader,
  job: Job,
  place: AudiencePlace | undefined,
  known: Pick<Parameters<typeof recipientOutcome>[1], "ledger" | "messages" | "isDeferred">,
): RecipientOutcome {
  const outcome = recipientOutcome(job, {
    ...known,
    skip: place?.kind === "skipped" ? place.reason : undefined,
    isOutside: place?.kind === "outside",
  });
  if (place?.kind === "outside") return { ...outcome, reason: place.reason };
  const isGone = place?.kind === "recipient" && outcome.decision === "not_in_audience";
  return isGone && hasExpired(store, job, place.recipient)
    ? { ...outcome, decision: "sent", state: "delivered" }
    : outcome;
}

/** Why a send does not go on: its brake, or the pause of its campaign. */
function waitsFor({ halted, held }: Job): "halted" | "paused" | null {
  if (halted) return "halted";
  return held ? "paused" : null;
}

/** Whether it is among the ones who get the send first (F21). */
function canaryOf(job: Job, subscriber: string): Explanation["canary"] {
  const percentage = job.deliverySettings?.brake?.canary_percent;
  return percentage === undefined ? null : shareOf("canary", job, subscriber, percentage);
}

const shareOf = (purpose: SplitPurpose, job: Job, subscriber: string, percentage: number) => ({
  percentage,
  bucket: bucket(purpose, purpose === "canary" ? job.id : drawIdOf(job), subscriber),
});

const drawIdOf = ({ id, draw }: Job): string => draw ?? id;

const firstRoundAfter = (dispatched: string) => Date.parse(dispatched) - CLOCK_TOLERANCE_MS;

async function ledgerOf(store: StoreReader, job: Job, subscriber: string): Promise<TouchRow[]> {
  if (job.dispatched_at === null) return [];
  const rows = await touchesSince(store, subscriber, firstRoundAfter(job.dispatched_at));
  return rows.filter((row) => row.job === job.id);
}

/** The rules of the send, clause by clause, with the values that they see of this subscriber now. */
async function rulesNow(
  store: StoreReader,
  job: Job,
  profile: LivingProfile,
  workspace: () => Promise<WorkspaceRecord | undefined>,
): Promise<RulesNow> {
  const [devices, [addresses]] = await Promise.all([deviceRows(store, profile.id), addressesOf(store, [profile])]);
  const attributes = attributesForRules(profile);
  const contact = contactOf(profile, devices, addresses);
  const deliverySettings =
    job.deliverySettings ?? deliverySettingsOf(job, await selectedChannels(store, job), await workspace());
  const { timezone = "UTC", caps = [] } = deliverySettings;
  const now = store.clock.now();
  const comparison = comparisonIn(await zoneFor(store, job.subscriber_filters));
  const [counted = []] = await countsOf(store, { timezone, now }, [profile.id], caps);
  return {
    subscriber_filters: clausesOf(job.subscriber_filters, attributes, (filter) => compilePredicate(filter, comparison)),
    device_filters: devices.map((row) => ({
      device_id: row.id,
      clauses: clausesOf(job.device_filters, deviceForFilters(row), compileDevicePredicate),
    })),
    topic: job.topic ? topicNow(contact, job.topic) : null,
    channels: deliverySettings.via.map(({ type }) => channelNow(type, contact, job, deliverySettings)),
    quiet_hours: deliverySettings.quiet ? quietNow(deliverySettings.quiet, timezone, profile, now) : null,
    caps: counted,
    ranking:
      job.channel_arbitration_mode === "smart"
        ? await rankingNow(store, job, profile, contact, deliverySettings)
        : null,
  };
}

const clausesOf = (
  filter: object | null,
  values: Record<string, unknown>,
  compile: (predicate: unknown) => (values: Record<string, unknown>) => boolean,
): Clause[] =>
  Object.entries(filter ?? {}).map(([key, condition]) => ({
    key,
    condition,
    value: Object.hasOwn(values, key) ? values[key] : null,
    matches: compile({ [key]: condition })(values),
  }));

const topicNow = ({ consents }: Contact, topic: SendTopic): RulesNow["topic"] => ({
  ...topic,
  choice: consents[consentChannelOf(topic.key)] ?? null,
  reachable: isInTopic(consents, topic),
});

function channelNow(
  channel: ChannelType,
  contact: Contact,
  job: Job,
  { emailConsent }: Omit<DeliverySettings, "via">,
): RulesNow["channels"][number] {
  const found = reachOf(contact, { channels: [channel], category: job.category, emailConsent, topic: job.topic });
  return {
    channel,
    reachable: "targets" in found,
    reason: "reason" in found ? found.reason : null,
    devices: "targets" in found ? found.targets.filter(({ device }) => device).length : 0,
    consent: contact.consents[channel] ?? null,
  };
}

async function rankingNow(
  store: StoreReader,
  job: Job,
  profile: LivingProfile,
  contact: Contact,
  { via, emailConsent }: DeliverySettings,
): Promise<Ranked[]> {
  const channels = via.map(({ type }) => type);
  const found = reachOf(contact, { channels, category: job.category, emailConsent, topic: job.topic });
  if ("reason" in found) return [];
  const [[personal], tenant] = await Promise.all([personalEngagements(store, [profile]), tenantEngagements(store)]);
  const classes = found.targets.map((one) => classOf(one.channel));
  return rankClasses(classes, { personal: personal ?? {}, tenant });
}
