// The rules of a send with the values that they see of a subscriber now (F2).
import { requireFound } from "../../../kernel/errors.ts";
import { addressKindOf } from "../../../rules/addresses.ts";
import { type RankedChannel, rankClasses } from "../../../rules/arbitration.ts";
import { type ChannelType, classOf, hasConsent, platformOf } from "../../../rules/channel-types.ts";
import { listChannelOf, listOfTarget } from "../../../rules/list-consents.ts";
import type { PlanName } from "../../../rules/plans.ts";
import { compilePredicate } from "../../../rules/predicates.ts";
import { type Contact, isReachableDevice, reachOf } from "../../../rules/reach.ts";
import { consentChannelOf, isInTopic, type SendTopic } from "../../../rules/topics.ts";
import { comparisonIn } from "../../../rules/values.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import { isInPlan, isUsable, listChannels } from "../../channels/channels.ts";
import type { ChannelRow } from "../../channels/items.ts";
import type { StoreReader } from "../../context.ts";
import { ListItem } from "../../lists/items.ts";
import { explainMembership } from "../../segments/explain.ts";
import { zoneFor } from "../../segments/rules.ts";
import { type Addresses, addressesOf, consentNow } from "../../subscribers/addresses.ts";
import { contactOf } from "../../subscribers/contacts.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { personalEngagements, tenantEngagements } from "../../subscribers/engagement.ts";
import { attributesForRules, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { devicesForFilters } from "../audience/candidates.ts";
import { countsOf } from "../audience/caps.ts";
import { deliverySettingsOf, selectedOf } from "../audience/planning.ts";
import { quietNow } from "../chunks/deferred.ts";
import type { Job } from "../jobs/job-record.ts";
import type { DeliverySettings } from "../jobs/job-spec.ts";
import type { Clause, RulesNow } from "./explanation.ts";

/** The fields of a send that decide who gets it. */
export type JudgedSend = Pick<
  Job,
  | "category"
  | "topic"
  | "target"
  | "channel_ids"
  | "channel_arbitration_mode"
  | "subscriber_filters"
  | "device_filters"
  | "deliverySettings"
  | "bypass_quiet_hours"
  | "source"
>;

/** The rules of the send, clause by clause, with the values that they see of this subscriber now. */
export async function rulesNow(
  store: StoreReader,
  job: JudgedSend,
  profile: LivingProfile,
  workspace: () => Promise<WorkspaceRecord | undefined>,
): Promise<RulesNow> {
  const [devices, [addresses = {}], segment, list, listed, owner] = await Promise.all([
    deviceRows(store, profile.id),
    addressesOf(store, [profile]),
    segmentNow(store, job, profile.id),
    listNow(store, job, profile),
    listChannels(store),
    workspace(),
  ]);
  const { plan } = requireFound(owner, "workspace");
  const attributes = attributesForRules(profile);
  const contact = contactOf(profile, devices, addresses);
  const deliverySettings = job.deliverySettings ?? deliverySettingsOf(job, selectedOf(listed, job, plan), owner);
  const { timezone = "UTC", caps = [], emailConsent } = deliverySettings;
  const now = store.clock.now();
  const comparison = comparisonIn(await zoneFor(store, job.subscriber_filters));
  const [counted = []] = await countsOf(store, { timezone, now }, [profile.id], caps);
  return {
    subscriber_filters: clausesOf(job.subscriber_filters, attributes, (filter) => compilePredicate(filter, comparison)),
    device_filters: devicesForFilters(devices).map((device) => ({
      device_id: device.id,
      clauses: clausesOf(job.device_filters, device, compileDevicePredicate),
    })),
    topic: job.topic ? topicNow(profile, contact, job.topic) : null,
    email_consent_mode: emailConsent,
    segment,
    list,
    unusable_channels: unusableOf(listed, job, plan),
    channels: deliverySettings.via.map(({ type }) =>
      channelNow(type, {
        consent: hasConsent(type) ? consentNow(profile, addresses, type) : undefined,
        off: contact.devices.filter((device) => device.platform === platformOf(type) && !isReachableDevice(device))
          .length,
        suppression: suppressionNow(type, addresses),
        found: reachNow(contact, job, deliverySettings, [type]),
      }),
    ),
    quiet_hours: deliverySettings.quiet ? quietNow(deliverySettings.quiet, timezone, profile, now) : null,
    caps: counted,
    ranking:
      job.channel_arbitration_mode === "smart"
        ? await rankingNow(store, profile, reachNow(contact, job, deliverySettings))
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

async function segmentNow(
  store: StoreReader,
  { target }: JudgedSend,
  subscriber: string,
): Promise<RulesNow["segment"]> {
  if (target?.type !== "segment") return null;
  const found = await explainMembership(store, target.segment_id, subscriber);
  if (!found) return null;
  const { id, name, is_dynamic } = found.segment;
  return { id, name, is_dynamic, member: found.member, unmet: found.unmet ?? null };
}

async function listNow(store: StoreReader, { target }: JudgedSend, profile: LivingProfile): Promise<RulesNow["list"]> {
  const id = listOfTarget(target);
  const row = id === undefined ? undefined : await store.get(ListItem, { id });
  if (id === undefined || !row) return null;
  const [consent = null, consent_at = null] = [profile[`c:${listChannelOf(id)}`], profile[`ct:${listChannelOf(id)}`]];
  return { id, name: row.name, consent, consent_at };
}

const unusableOf = (
  listed: readonly ChannelRow[],
  { channel_ids }: JudgedSend,
  plan: PlanName,
): RulesNow["unusable_channels"] =>
  channel_ids.flatMap((id): RulesNow["unusable_channels"] => {
    const channel = listed.find((candidate) => candidate.id === id);
    if (!channel) return [{ id, name: null, why: "deleted" }];
    if (!isInPlan(plan, channel)) return [{ id, name: channel.name, why: "not_in_plan" }];
    if (isUsable(channel)) return [];
    return [{ id, name: channel.name, why: channel.active ? "not_verified" : "switched_off" }];
  });

const topicNow = (profile: LivingProfile, { consents }: Contact, topic: SendTopic): RulesNow["topic"] => ({
  ...topic,
  choice: consents[consentChannelOf(topic.key)] ?? null,
  chosen_at: profile[`ct:${consentChannelOf(topic.key)}`] ?? null,
  reachable: isInTopic(consents, topic),
});

/** How the subscriber is reached now by the channels of the send, or by one of them. */
const reachNow = (
  contact: Contact,
  { category, topic, target }: JudgedSend,
  { via, emailConsent }: DeliverySettings,
  channels = via.map(({ type }) => type),
) => reachOf(contact, { channels, category, emailConsent, topic, list: listOfTarget(target) });

interface OfChannel {
  consent: ReturnType<typeof consentNow>;
  /** Devices that are registered, and cannot be reached. */
  off: number;
  suppression: RulesNow["channels"][number]["suppression"];
  found: ReturnType<typeof reachOf>;
}

function suppressionNow(channel: ChannelType, addresses: Addresses): OfChannel["suppression"] {
  const kind = addressKindOf(channel);
  const { reason, suppressed_at } = (kind && addresses[kind]) ?? {};
  return reason === undefined || suppressed_at === undefined ? null : { reason, suppressed_at };
}

function channelNow(
  channel: ChannelType,
  { consent, off, suppression, found }: OfChannel,
): RulesNow["channels"][number] {
  return {
    channel,
    reachable: found.kind === "reached",
    reason: found.kind === "unreachable" ? found.reason : null,
    devices: found.kind === "reached" ? found.targets.filter(({ device }) => device).length : 0,
    devices_off: off,
    consent: consent?.status ?? null,
    consent_at: consent?.at || null,
    consent_of: consent?.of ?? null,
    suppression,
  };
}

async function rankingNow(
  store: StoreReader,
  profile: LivingProfile,
  found: ReturnType<typeof reachOf>,
): Promise<RankedChannel[]> {
  if (found.kind === "unreachable") return [];
  const [[personal], tenant] = await Promise.all([personalEngagements(store, [profile]), tenantEngagements(store)]);
  const classes = found.targets.map((target) => classOf(target.channel));
  return rankClasses(classes, { personal: personal ?? {}, tenant });
}
