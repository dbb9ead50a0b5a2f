// Why somebody got a send or did not (F2): what the rows say happened, and the rules with the values they see now.
import { timestamp } from "../../clock.ts";
import { notFound } from "../../http/errors.ts";
import type { StoreReader } from "../../resources.ts";
import { type Ranked, rankClasses } from "../../rules/arbitration.ts";
import { isTerminal } from "../../rules/job-states.ts";
import { compilePredicate } from "../../rules/predicates.ts";
import { type Contact, classOf, type ReachChannel, reachOf } from "../../rules/reach.ts";
import { armOf, bucket, isHeldOut } from "../../rules/split.ts";
import { compileDevicePredicate } from "../../rules/versions.ts";
import { keys, shardOf } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { contactOf } from "../subscribers/contacts.ts";
import { deviceRows } from "../subscribers/devices.ts";
import { personalEngagements, tenantEngagements } from "../subscribers/engagement.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import { attributesForFilters, deviceForFilters } from "./candidates.ts";
import { type Counted, countsOf } from "./caps.ts";
import { deferredUntil, quietNow } from "./deferred.ts";
import { messagesSince } from "./inbox.ts";
import { getJob, type JobItem } from "./jobs.ts";
import { type DeliverySettings, deliverySettingsOf, selectedChannels } from "./planning.ts";
import { targetOf, touchesSince } from "./touches.ts";

export const decisions = [
  ...(["sent", "deferred", "held_out", "skipped"] as const),
  ...(["not_in_audience", "pending", "canceled"] as const),
] as const;
type Decision = (typeof decisions)[number];

export const recipientStates = [
  ...(["pending", "deferred", "delivered", "failed"] as const),
  ...(["bounced", "skipped", "held_out", "canceled"] as const),
] as const;
type RecipientState = (typeof recipientStates)[number];

export interface Clause {
  key: string;
  condition: unknown;
  value: unknown;
  matches: boolean;
}

export interface Attempt {
  channel: string;
  device_id: string | null;
  state: RecipientState;
  reason: string | null;
  provider_id: string | null;
  attempted_at: string[];
  /** The cap that was reached, and what it had counted. */
  cap: Counted | null;
}

/** @throws 404 for an unknown send, and for somebody of whom nothing is known. */
export async function explainRecipient(
  store: StoreReader,
  workspace: () => Promise<WorkspaceRecord | undefined>,
  id: string,
  subscriber: string,
) {
  const job = await getJob(store, id);
  const [[profile], rows, messages, skip, deferred] = await Promise.all([
    getProfiles(store, [subscriber]),
    ledgerOf(store, job, subscriber),
    job.dispatched_at === null ? [] : messagesSince(store, subscriber, Date.parse(job.dispatched_at)),
    skipOf(store, job, subscriber),
    deferredUntil(store, job, subscriber),
  ]);
  const attempts = [...rows.filter(({ state }) => state !== "held_out").map(attemptOf), ...inboxOf(job, messages)];
  if (!profile && rows.length === 0 && attempts.length === 0 && skip === undefined) throw notFound("recipient");
  const isHeld = rows.some(({ state }) => state === "held_out");
  const isSent = attempts.some(({ state }) => state !== "skipped");
  const late = isSent ? undefined : (attempts[0]?.reason ?? undefined);
  const decision = decisionOf(job, { isHeld, skip: skip ?? late, isSent, isDeferred: deferred !== undefined });
  const arm = rows.find((row) => row.arm)?.arm;
  return {
    notification_id: job.id,
    subscriber_id: subscriber,
    decision,
    state: stateOf(decision, attempts),
    reason: skip ?? late ?? attempts.find(({ state }) => state === "failed" || state === "bounced")?.reason ?? null,
    deferred_until: deferred === undefined ? null : timestamp(deferred),
    holdout: shareOf("holdout", job, subscriber, job.holdout_percentage),
    held_out: isHeld || (decision === "pending" && isHeldOut(job.id, subscriber, job.holdout_percentage)),
    split: job.variant_b && shareOf("split", job, subscriber, job.split_percentage ?? 50),
    variant_id: job.variant_b ? String(arm ?? armOf(job.id, subscriber, job.split_percentage ?? 50)) : null,
    attempts,
    now: profile ? await asOfNow(store, job, profile, workspace) : null,
    evaluated_at: timestamp(store.clock.now()),
  };
}

function decisionOf(
  job: JobItem,
  facts: { isHeld: boolean; skip: string | undefined; isSent: boolean; isDeferred: boolean },
): Decision {
  const { isHeld, skip, isSent, isDeferred } = facts;
  if (isDeferred) return "deferred";
  if (isSent) return "sent";
  if (isHeld) return "held_out";
  if (skip !== undefined) return "skipped";
  if (job.status === "canceled") return "canceled";
  return isTerminal(job.status) ? "not_in_audience" : "pending";
}

function stateOf(decision: Decision, attempts: readonly Attempt[]): RecipientState {
  if (decision === "not_in_audience") return "skipped";
  if (decision !== "sent") return decision;
  const found = (["delivered", "pending", "bounced"] as const).find((state) =>
    attempts.some((one) => one.state === state),
  );
  return found ?? "failed";
}

const shareOf = (purpose: "holdout" | "split", job: JobItem, subscriber: string, percentage: number) => ({
  percentage,
  bucket: bucket(purpose, job.id, subscriber),
});

async function ledgerOf(store: StoreReader, job: JobItem, subscriber: string): Promise<Item[]> {
  if (job.dispatched_at === null) return [];
  const rows = await touchesSince(store, subscriber, Date.parse(job.dispatched_at));
  return rows.filter((row) => row.job === job.id);
}

const states: Record<string, RecipientState> = {
  sent: "delivered",
  failed: "failed",
  unknown: "failed",
  retryable: "pending",
  bounced: "bounced",
  skipped: "skipped",
};

function attemptOf(row: Item): Attempt {
  const { channel, device } = targetOf(row);
  const text = (value: Item[string]) => (value === undefined ? null : String(value));
  return {
    channel,
    device_id: device ?? null,
    state: states[String(row.state)] ?? "pending",
    reason: text(row.reason),
    provider_id: text(row.provider_id),
    attempted_at: (row.tries as string[] | undefined) ?? [],
    cap: row.reason === "capped" && row.seen !== undefined ? JSON.parse(String(row.seen)) : null,
  };
}

/** The inbox is its own ledger. */
const inboxOf = (job: JobItem, messages: readonly Item[]): Attempt[] =>
  messages
    .filter((row) => row.job === job.id)
    .map(() => ({
      ...{ channel: "in_app", device_id: null, state: "delivered", reason: null, provider_id: null, attempted_at: [] },
      cap: null,
    }));

/** Why somebody was skipped: the ids lie beside their chunks for 30 days. */
async function skipOf(store: StoreReader, job: JobItem, subscriber: string): Promise<string | undefined> {
  const pk = keys.jobParts(store.tenant, job.id);
  const isSharded = job.target?.type === "all" && !job.ranges?.includes("p");
  const prefix = isSharded ? `X#s${shardOf(subscriber)}#` : "X#";
  let after: Key | undefined;
  do {
    const page = await store.query({ pk, prefix, after });
    for (const { ids } of page.items)
      for (const [reason, skipped] of Object.entries(JSON.parse(String(ids)) as Record<string, string[]>))
        if (skipped.includes(subscriber)) return reason;
    after = page.next;
  } while (after);
  return undefined;
}

/** The rules of the send, clause by clause, with what they see of this person now. */
async function asOfNow(
  store: StoreReader,
  job: JobItem,
  profile: Item,
  workspace: () => Promise<WorkspaceRecord | undefined>,
) {
  const devices = await deviceRows(store, String(profile.id));
  const attributes = attributesForFilters(profile);
  const contact = contactOf(profile, devices);
  const deliverySettings =
    job.deliverySettings ?? deliverySettingsOf(job, await selectedChannels(store, job), await workspace());
  const { timezone = "UTC", caps = [] } = deliverySettings;
  return {
    subscriber_filters: clausesOf(job.subscriber_filters, attributes, compilePredicate),
    device_filters: devices.map((row) => ({
      device_id: String(row.id),
      clauses: clausesOf(job.device_filters, deviceForFilters(row), compileDevicePredicate),
    })),
    channels: deliverySettings.via.map(({ type }) => channelNow(type, contact, job, deliverySettings)),
    quiet_hours: deliverySettings.quiet ? quietNow(deliverySettings.quiet, timezone, profile, store.clock.now()) : null,
    caps: (await countsOf(store, { timezone, now: store.clock.now() }, [String(profile.id)], caps))[0] ?? [],
    ranking:
      job.channel_arbitration_mode === "smart"
        ? await rankingNow(store, job, profile, contact, deliverySettings)
        : null,
  };
}

function clausesOf(
  filter: object | null,
  values: Record<string, unknown>,
  compile: (predicate: unknown) => (values: Record<string, unknown>) => boolean,
): Clause[] {
  return Object.entries(filter ?? {}).map(([key, condition]) => ({
    ...{ key, condition, value: Object.hasOwn(values, key) ? values[key] : null },
    matches: compile({ [key]: condition })(values),
  }));
}

function channelNow(
  channel: ReachChannel,
  contact: Contact,
  job: JobItem,
  { emailConsent }: Omit<DeliverySettings, "via">,
) {
  const found = reachOf(contact, { channels: [channel], category: job.category, emailConsent });
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
  job: JobItem,
  profile: Item,
  contact: Contact,
  { via, emailConsent }: DeliverySettings,
): Promise<Ranked[]> {
  const channels = via.map(({ type }) => type);
  const found = reachOf(contact, { channels, category: job.category, emailConsent });
  if ("reason" in found) return [];
  const [[personal], tenant] = await Promise.all([personalEngagements(store, [profile]), tenantEngagements(store)]);
  const classes = found.targets.map((one) => classOf(one.channel));
  return rankClasses(classes, { personal: personal ?? {}, tenant });
}
