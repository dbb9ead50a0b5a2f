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
import { fromJson } from "../../json-text.ts";
import { zoneFor } from "../../segments/rules.ts";
import { shardOf } from "../../shards.ts";
import { addressesOf } from "../../subscribers/addresses.ts";
import { contactOf } from "../../subscribers/contacts.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { personalEngagements, tenantEngagements } from "../../subscribers/engagement.ts";
import { attributesForRules, getProfiles, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { deviceForFilters } from "../audience/candidates.ts";
import { countsOf } from "../audience/caps.ts";
import { deliverySettingsOf, selectedChannels } from "../audience/planning.ts";
import { skippedIn } from "../chunks/chunk-rows.ts";
import { deferredUntil, quietNow } from "../chunks/deferred.ts";
import { mayHold } from "../chunks/range-names.ts";
import { messagesSince } from "../inbox/inbox.ts";
import { withContent } from "../jobs/job-content.ts";
import type { Job } from "../jobs/job-record.ts";
import type { DeliverySettings } from "../jobs/job-spec.ts";
import { getJob } from "../jobs/jobs.ts";
import { recipientOutcome } from "../ledger/recipient-outcome.ts";
import { CLOCK_TOLERANCE_MS, type TouchRow, touchesSince } from "../ledger/touches.ts";
import type { Clause, Explanation, RulesNow } from "./explanation.ts";

/** @throws 404 for an unknown send, and for an unknown subscriber that the send did not concern. */
export async function explainRecipient(
  store: StoreReader,
  workspace: () => Promise<WorkspaceRecord | undefined>,
  id: string,
  subscriber: string,
): Promise<Explanation> {
  const job = await withContent(store, await getJob(store, id));
  const [[profile], rows, messages, skip, deferred] = await Promise.all([
    getProfiles(store, [subscriber]),
    ledgerOf(store, job, subscriber),
    job.dispatched_at === null ? [] : messagesSince(store, subscriber, firstRoundAfter(job.dispatched_at)),
    skipOf(store, job, subscriber),
    deferredUntil(store, job, subscriber),
  ]);
  const found = messages.filter((row) => row.job === job.id);
  const outcome = recipientOutcome(job, { ledger: rows, messages: found, skip, isDeferred: deferred !== undefined });
  const { decision, state, reason, attempts, isHeld, arm } = outcome;
  if (!profile && rows.length === 0 && attempts.length === 0 && skip === undefined) throw notFound("recipient");
  return {
    notification_id: job.id,
    subscriber_id: subscriber,
    decision,
    state,
    reason: reason ?? (decision === "pending" && job.halted ? "halted" : null),
    deferred_until: deferred === undefined ? null : timestamp(deferred),
    holdout: shareOf("holdout", job, subscriber, job.holdout_percentage),
    held_out: isHeld || (decision === "pending" && isHeldOut(drawIdOf(job), subscriber, job.holdout_percentage)),
    split: job.variant_b && shareOf("split", job, subscriber, job.split_percentage ?? 50),
    variant_id: job.variant_b ? (arm ?? armOf(drawIdOf(job), subscriber, job.split_percentage ?? 50)) : null,
    canary: canaryOf(job, subscriber),
    attempts,
    now: profile ? await rulesNow(store, job, profile, workspace) : null,
    evaluated_at: timestamp(store.clock.now()),
  };
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

/** Why a subscriber was skipped: the ids are stored beside their chunks for 30 days. */
async function skipOf(store: StoreReader, job: Job, subscriber: string): Promise<string | undefined> {
  const shard = shardOf(subscriber);
  for (const range of job.ranges?.filter((one) => mayHold(one, shard)) ?? [])
    for await (const rows of skippedIn(store, { job: job.id, range }))
      for (const { ids } of rows.values())
        for (const [reason, skipped] of Object.entries(fromJson(ids))) if (skipped.includes(subscriber)) return reason;
  return undefined;
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
