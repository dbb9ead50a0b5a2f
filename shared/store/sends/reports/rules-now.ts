// The rules of a send with the values that they see of a subscriber now (F2).

import { addressKindOf } from "../../../rules/addresses.ts";
import { type Ranked, rankClasses } from "../../../rules/arbitration.ts";
import { type ChannelType, classOf } from "../../../rules/channel-types.ts";
import { listOfTarget } from "../../../rules/list-consents.ts";
import { compilePredicate } from "../../../rules/predicates.ts";
import { type Contact, reachOf } from "../../../rules/reach.ts";
import { consentChannelOf, isInTopic, type SendTopic } from "../../../rules/topics.ts";
import { comparisonIn } from "../../../rules/values.ts";
import { compileDevicePredicate } from "../../../rules/versions.ts";
import type { StoreReader } from "../../context.ts";
import { zoneFor } from "../../segments/rules.ts";
import { type Addresses, addressesOf } from "../../subscribers/addresses.ts";
import { contactOf } from "../../subscribers/contacts.ts";
import { deviceRows } from "../../subscribers/devices.ts";
import { personalEngagements, tenantEngagements } from "../../subscribers/engagement.ts";
import { attributesForRules, type LivingProfile } from "../../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../../workspaces/workspaces.ts";
import { deviceForFilters } from "../audience/candidates.ts";
import { countsOf } from "../audience/caps.ts";
import { deliverySettingsOf, selectedChannels } from "../audience/planning.ts";
import { quietNow } from "../chunks/deferred.ts";
import type { Job } from "../jobs/job-record.ts";
import type { DeliverySettings } from "../jobs/job-spec.ts";
import type { Clause, RulesNow } from "./explanation.ts";

/** The rules of the send, clause by clause, with the values that they see of this subscriber now. */
export async function rulesNow(
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
    channels: deliverySettings.via.map(({ type }) =>
      channelNow(type, {
        consent: contact.consents[type],
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

const topicNow = ({ consents }: Contact, topic: SendTopic): RulesNow["topic"] => ({
  ...topic,
  choice: consents[consentChannelOf(topic.key)] ?? null,
  reachable: isInTopic(consents, topic),
});

/** How the subscriber is reached now by the channels of the send, or by one of them. */
const reachNow = (
  contact: Contact,
  { category, topic, target }: Job,
  { via, emailConsent }: DeliverySettings,
  channels = via.map(({ type }) => type),
) => reachOf(contact, { channels, category, emailConsent, topic, list: listOfTarget(target) });

interface OfChannel {
  consent: string | undefined;
  suppression: RulesNow["channels"][number]["suppression"];
  found: ReturnType<typeof reachOf>;
}

function suppressionNow(channel: ChannelType, addresses: Addresses = {}): OfChannel["suppression"] {
  const kind = addressKindOf(channel);
  const { reason, suppressed_at } = (kind && addresses[kind]) ?? {};
  return reason === undefined || suppressed_at === undefined ? null : { reason, suppressed_at };
}

function channelNow(channel: ChannelType, { consent, suppression, found }: OfChannel): RulesNow["channels"][number] {
  return {
    channel,
    reachable: found.kind === "reached",
    reason: found.kind === "unreachable" ? found.reason : null,
    devices: found.kind === "reached" ? found.targets.filter(({ device }) => device).length : 0,
    consent: consent ?? null,
    suppression,
  };
}

async function rankingNow(
  store: StoreReader,
  profile: LivingProfile,
  found: ReturnType<typeof reachOf>,
): Promise<Ranked[]> {
  if (found.kind === "unreachable") return [];
  const [[personal], tenant] = await Promise.all([personalEngagements(store, [profile]), tenantEngagements(store)]);
  const classes = found.targets.map((one) => classOf(one.channel));
  return rankClasses(classes, { personal: personal ?? {}, tenant });
}
