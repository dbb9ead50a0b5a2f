// Why a subscriber got a send or did not (F2): what its rows say happened, and its rules with the values they see now.

import { timestamp } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import { type Ranked, rankClasses } from "../../../rules/arbitration.ts";
import { type ChannelType, channelTypes, classOf } from "../../../rules/channel-types.ts";
import { listOfTarget } from "../../../rules/list-consents.ts";
import { comparisonIn, compilePredicate } from "../../../rules/predicates.ts";
import type { Unit } from "../../../rules/progress.ts";
import { type Contact, reachOf, type Target } from "../../../rules/reach.ts";
import { armOf, bucket, isHeldOut, type SplitPurpose } from "../../../rules/split.ts";
import { consentChannelOf, isInTopic, type SendTopic } from "../../../rules/topics.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import { sendInWords } from "../../../rules/why-words.ts";
import type { StoreReader } from "../../context.ts";
import { fromJson } from "../../json-text.ts";
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
import { quietEndOf, quietNow } from "../chunks/deferred.ts";
import { type Event, eventFor, scopeOf } from "../content/arms.ts";
import { rendererOf, saidHash } from "../content/texts.ts";
import { type MessageRow, messagesSince } from "../inbox/inbox.ts";
import { readTexts } from "../inbox/inbox-content.ts";
import { withContent } from "../jobs/job-content.ts";
import type { Job } from "../jobs/job-record.ts";
import type { DeliverySettings } from "../jobs/job-spec.ts";
import { getJob } from "../jobs/jobs.ts";
import { channelOutcomes, stopOf } from "../ledger/channel-outcomes.ts";
import { hasExpired } from "../ledger/recipient-list.ts";
import { newestByAddress, type RecipientOutcome, recipientOutcome } from "../ledger/recipient-outcome.ts";
import {
  type ChunkRef,
  CLOCK_TOLERANCE_MS,
  chunkRefOf,
  type TouchRow,
  timeOfTouch,
  touchesSince,
} from "../ledger/touches.ts";
import { type AudiencePlace, audiencePlaceOf } from "./audience-place.ts";
import type { Clause, Explanation, RulesNow, ShownMessage, Wait } from "./explanation.ts";

/** @throws 404 for an unknown send, and for an unknown subscriber that the send did not concern. */
export async function explainRecipient(
  store: StoreReader,
  workspace: () => Promise<WorkspaceRecord | undefined>,
  id: string,
  subscriber: string,
): Promise<Explanation> {
  const job = await withContent(store, await getJob(store, id));
  const [[profile], ledger, messages] = await Promise.all([
    getProfiles(store, [subscriber]),
    ledgerOf(store, job, subscriber),
    messagesOf(store, job, subscriber),
  ]);
  const place = await audiencePlaceOf(store, job, subscriber, {
    profile,
    chunk: chunkIn(job, [...ledger, ...messages]),
  });
  if (place.kind === "unknown" && ledger.length === 0) throw notFound("recipient");

  const { recipient, waits } = place.kind === "recipient" ? place : { recipient: undefined, waits: [] };
  const deferred = job.status === "canceled" ? undefined : quietEndOf(waits);
  const outcome = outcomeAt(store, job, place, { ledger, messages, isDeferred: deferred !== undefined });
  const { decision, state, attempts, isHeld, arm } = outcome;
  const channels = channelOutcomes(job, { ledger, messages, targets: recipient?.targets ?? [], waits });
  const reason = outcome.reason ?? channels.find((one) => one.state === state)?.reason ?? null;
  const held_out = isHeld || (decision === "pending" && isHeldOut(drawIdOf(job), subscriber, job.holdout_percentage));
  const hasArm = job.variant_b && !held_out && decision !== "not_in_audience";
  const now = profile ? await rulesNow(store, job, profile, workspace) : null;
  const said = {
    decision,
    state,
    reason: reason ?? (decision === "pending" ? stopOf(job) : null),
    channels,
    attempts,
    waits: job.status === "canceled" ? [] : waits.flatMap((unit) => waitOf(unit, recipient?.targets ?? [])),
    now,
  };
  return {
    notification_id: job.id,
    subscriber_id: subscriber,
    ...said,
    in_words: sendInWords(said),
    deferred_until: deferred === undefined ? null : timestamp(deferred),
    holdout: shareOf("holdout", job, subscriber, job.holdout_percentage),
    held_out,
    split: job.variant_b && shareOf("split", job, subscriber, job.split_percentage ?? 50),
    variant_id: hasArm ? (arm ?? recipient?.arm ?? armOf(drawIdOf(job), subscriber, job.split_percentage ?? 50)) : null,
    canary: canaryOf(job, subscriber),
    messages: await shownMessages(store, job, profile, { ledger, messages }),
    evaluated_at: timestamp(store.clock.now()),
  };
}

/** What an address waits for; nothing where it only waits for its first turn. */
function waitOf({ target, quiet, throttledSince, tries, due }: Unit, targets: readonly Target[]): Wait[] {
  const address = targets[target];
  const last = throttledSince ?? tries.at(-1);
  if (!address || (quiet === undefined && last === undefined)) return [];
  const { channel, device } = address;
  const why = quiet !== undefined ? "quiet_hours" : throttledSince !== undefined ? "throttled" : "retry";
  return [
    {
      channel,
      device_id: device ?? null,
      why,
      since: last === undefined ? null : timestamp(last),
      attempts: tries.length,
      until: timestamp(quiet ?? due),
    },
  ];
}

/** The chunk that rows of a recipient name; undefined where the recipient is on the row of the job, or has no rows. */
function chunkIn({ id: job, direct }: Job, rows: readonly { place?: string | undefined }[]): ChunkRef | undefined {
  const place = rows.find((row) => row.place !== undefined)?.place;
  return direct || place === undefined ? undefined : chunkRefOf({ job, place });
}

/** What became of a subscriber, with what the plan says of one that the ledger does not know. */
function outcomeAt(
  store: StoreReader,
  job: Job,
  place: AudiencePlace,
  known: Pick<Parameters<typeof recipientOutcome>[1], "ledger" | "messages" | "isDeferred">,
): RecipientOutcome {
  const skip = place.kind === "skipped" ? place.reason : undefined;
  const outcome = recipientOutcome(job, { ...known, skip, isOutside: place.kind === "outside" });
  if (outcome.decision !== "not_in_audience") return outcome;
  if (place.kind === "outside") return { ...outcome, reason: place.reason };
  if (place.kind === "recipient" && hasExpired(store, job, place.recipient))
    return { ...outcome, decision: "sent", state: "delivered" };
  return job.status === "failed" ? { ...outcome, decision: "skipped", reason: "send_failed" } : outcome;
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

async function messagesOf(store: StoreReader, job: Job, subscriber: string): Promise<MessageRow[]> {
  if (job.dispatched_at === null) return [];
  const rows = await messagesSince(store, subscriber, firstRoundAfter(job.dispatched_at));
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
  const { category, topic } = job;
  const found = reachOf(contact, {
    channels: [channel],
    category,
    emailConsent,
    topic,
    list: listOfTarget(job.target),
  });
  return {
    channel,
    reachable: found.kind === "reached",
    reason: found.kind === "unreachable" ? found.reason : null,
    devices: found.kind === "reached" ? found.targets.filter(({ device }) => device).length : 0,
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
  const { category, topic } = job;
  const found = reachOf(contact, { channels, category, emailConsent, topic, list: listOfTarget(job.target) });
  if (found.kind === "unreachable") return [];
  const [[personal], tenant] = await Promise.all([personalEngagements(store, [profile]), tenantEngagements(store)]);
  const classes = found.targets.map((one) => classOf(one.channel));
  return rankClasses(classes, { personal: personal ?? {}, tenant });
}

/** States of an address that a message was handed over to, or may have been. */
const handedOver: readonly TouchRow["state"][] = ["sent", "unknown", "bounced"];

async function shownMessages(
  store: StoreReader,
  job: Job,
  profile: LivingProfile | undefined,
  { ledger, messages }: { ledger: readonly TouchRow[]; messages: readonly MessageRow[] },
): Promise<ShownMessage[]> {
  const tried = newestByAddress(ledger).filter(({ state }) => handedOver.includes(state));
  const byChannel = new Map(tried.map((row) => [row.channel, row]));
  const [textOf, event] = await Promise.all([
    readTexts(store, messages),
    byChannel.size > 0 ? eventFor(store, job) : undefined,
  ]);
  const inbox = messages.map((row): ShownMessage => {
    const { title, body } = textOf(row).content;
    return { channel: "in_app", title, body, attributes_changed: false };
  });
  return [...inbox, ...[...byChannel.values()].flatMap((row) => shownOf(job, profile, row, event))];
}

/** Whether the texts of now are others than those that were sent; null where it is not known what was sent. */
function saysOtherNow({ claimed_with }: TouchRow, words: Parameters<typeof saidHash>[0]): boolean | null {
  const { said } = claimed_with === undefined ? {} : fromJson(claimed_with);
  return said === undefined ? null : said !== saidHash(words);
}

function shownOf(job: Job, profile: LivingProfile | undefined, row: TouchRow, event: Event): ShownMessage[] {
  const channel = channelTypes.find((type) => type === row.channel && type !== "in_app");
  if (!channel || !profile) return [];
  const renderer = rendererOf(job, timeOfTouch(row), event);
  const words = renderer.renderScope(row.arm, scopeOf(profile, job, event), channel);
  if (!words) return [{ channel, title: null, body: null, attributes_changed: true }];
  const { title, body, bodies } = words;
  return [
    {
      channel,
      title,
      body: bodies ? bodies.text : body,
      ...(bodies && { html: bodies.html }),
      attributes_changed: renderer.isStatic ? false : saysOtherNow(row, words),
    },
  ];
}
