// The numbers of every send, as the API shows them, are those of the providers' answers and of the inboxes: each
// acceptance is one delivery, each refusal is repeated by its policy and ends in its reason.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { RETRY_AFTER_MS } from "../../../shared/rules/progress.ts";
import { lateSkips } from "../../../shared/rules/reasons.ts";
import { armOf } from "../../../shared/rules/split.ts";
import type { Invariant } from "../invariant.ts";
import type { Person } from "../ledger.ts";
import { type ProviderBook, providerBook, UNCONFIRMED, verdictOn } from "../provider-book.ts";
import { type Call, THROTTLED } from "../providers.ts";
import { ask, askForJobs } from "../questions.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

type Broken = (text: string, ...entities: string[]) => void;

const ENDED = ["completed", "failed"];
/** Clocks of two processes differ. */
const AHEAD_MS = 5 * SECOND;
/** Reasons of the service itself that end an address before its last try. */
const OWN_REASONS = ["no_device", "no_consent", "suppressed", "erased", "expired", "no_credentials", ...lateSkips];

/** Reasons of an address without a request to its provider: a process that dies between a claim and its calls uses up the try. */
const unaskedReasons = ({ profile }: SimWorld) => (profile.crash > 0 ? [...OWN_REASONS, UNCONFIRMED] : OWN_REASONS);

/** What is known of a recipient, over its addresses. */
interface Recipient {
  id: string;
  isDelivered: boolean;
  mayBeDelivered: boolean;
  reasons: Set<string>;
  /** Channels by which it was reached, and may have been. */
  by: Set<string>;
  mayBy: Set<string>;
  unfinished: Call[];
}

export const sendsAccounted: Invariant = {
  name: "sends-accounted",
  watch: (world, broken) => {
    const book = providerBook(world);
    world.onProviderCall((call) => checkPolicy(book, call, AHEAD_MS + 2 * world.profile.skewMs, broken));
    return {
      end: async () => {
        for (const tenant of world.ledger.tenants.values()) {
          const jobs = await askForJobs(world, tenant);
          if (!jobs) continue;
          for (const job of jobs) {
            if (!ENDED.includes(job.status)) continue;
            await checkJob(world, book, tenant, job, broken);
          }
          await checkHeatmap(world, tenant, jobs, broken);
        }
      },
    };
  },
};

/** A provider that refused for now is asked again, four times in all, and never before its time. */
function checkPolicy(
  { calls }: ProviderBook,
  { job, subscriber, target, at }: Call,
  aheadMs: number,
  broken: Broken,
): void {
  const all = calls.get(job)?.get(subscriber)?.get(target) ?? [];
  const tries = all.filter(({ isThrottled }) => !isThrottled).length;
  if (tries > RETRY_AFTER_MS.length + 1) broken(`${subscriber} was tried ${tries} times`, job, subscriber);
  const earlier = all.slice(0, -1).filter(({ isThrottled }) => !isThrottled);
  const before = earlier.at(-1);
  const wait = RETRY_AFTER_MS[earlier.length - 1];
  if (before && wait !== undefined && at < before.at + wait - aheadMs)
    broken(`${subscriber} was tried again after ${at - before.at} ms`, job, subscriber);
}

// biome-ignore lint/suspicious/noExplicitAny: whatever JSON came back
type Json = any;

async function checkJob(world: SimWorld, book: ProviderBook, tenant: Tenant, job: Json, broken: Broken): Promise<void> {
  const { ledger, profile } = world;
  const { id, counts, fail_reasons, skip_reasons, delivered_by_channel } = job;
  const say = (text: string, ...others: string[]) => broken(`job ${id}: ${text}`, id, ...others);
  const sum = (numbers: Record<string, number>) => Object.values(numbers).reduce((total, n) => total + n, 0);
  // Mails that came back have left `delivered` (AMB-139).
  const delivered = counts.delivered + counts.bounced;
  if (counts.sent !== delivered + counts.failed)
    say(`${counts.sent} sent are not ${delivered} delivered and ${counts.failed} failed`);
  if (counts.total !== counts.sent + counts.skipped + counts.held_out) say("its counts do not add up to the total");
  if (sum(fail_reasons) !== counts.failed) say(`reasons of ${sum(fail_reasons)} of ${counts.failed} failures`);
  if (sum(skip_reasons) !== counts.skipped) say(`reasons of ${sum(skip_reasons)} of ${counts.skipped} skipped`);

  const recipients = recipientsOf(world, book, id);
  const within = (what: string, n: number, must: Recipient[], may: Recipient[], others = 0) => {
    if (n < must.length || n > may.length + others)
      say(
        `${what} is ${n}, by the providers ${must.length} to ${may.length + others}`,
        ...must.slice(0, 3).map((one) => one.id),
      );
  };
  const of = (is: (one: Recipient) => boolean) => recipients.filter(is);
  within(
    "delivered",
    delivered,
    of((one) => one.isDelivered),
    of((one) => one.mayBeDelivered),
  );
  const channels = new Set([...Object.keys(delivered_by_channel), ...recipients.flatMap(({ mayBy }) => [...mayBy])]);
  for (const channel of channels)
    within(
      `delivered by ${channel}`,
      delivered_by_channel[channel] ?? 0,
      // Bounced mails of recipients that another channel reached are not counted.
      of(({ by }) => by.has(channel) && channel !== "email"),
      of(({ mayBy }) => mayBy.has(channel)),
    );
  const reasons = new Set([...Object.keys(fail_reasons), ...recipients.flatMap((one) => [...one.reasons])]);
  for (const reason of reasons) {
    const may = of((one) => !one.isDelivered && one.reasons.has(reason));
    if (may.length === 0 && !isOfProviders(reason)) continue;
    // A process that dies between a claim and its calls leaves people unconfirmed without a request to a provider.
    if (reason === UNCONFIRMED && profile.crash > 0) continue;
    const n = fail_reasons[reason] ?? 0;
    const must = may.filter((one) => !one.mayBeDelivered && one.reasons.size === 1 && one.unfinished.length === 0);
    within(
      `failed by ${reason}`,
      n,
      n < must.length ? await withoutOtherAddresses(world, tenant, id, must) : must,
      may,
      reason === "erased" ? untouched(world, tenant, recipients) : 0,
    );
  }
  const share = ledger.byJob.get(id)?.splitShare;
  for (const [person, targets] of book.calls.get(id) ?? [])
    for (const { message } of [...targets.values()].flat())
      if (ledger.byJob.has(id) && message.variant !== (share === undefined ? undefined : armOf(id, person, share)))
        say(`${person} was sent the arm ${message.variant}`, person);
  for (const { id: person, unfinished } of recipients)
    for (const call of unfinished)
      if (ledger.people.get(person)?.erasingSince === undefined)
        await checkUnfinished(world, tenant, { job: id, person, call }, say);
}

/** Those without an address that no provider was asked for: it was gone when its turn came, or its process died before. */
async function withoutOtherAddresses(world: SimWorld, tenant: Tenant, job: string, recipients: Recipient[]) {
  const found: Recipient[] = [];
  for (const one of recipients) {
    const { body } = await ask(world, tenant, EXPLAIN, { params: { id: job, subscriberId: one.id } });
    if (!body.attempts?.some(({ reason }: Json) => unaskedReasons(world).includes(reason))) found.push(one);
  }
  return found;
}

/** How many of the erased neither a provider nor the inbox had to do with: they may fail anyway. */
function untouched({ ledger }: SimWorld, tenant: Tenant, recipients: readonly Recipient[]): number {
  const touched = new Set(recipients.map(({ id }) => id));
  const isCounted = ({ tenant: of, id, erasingSince }: Person) =>
    of === tenant.id && erasingSince !== undefined && !touched.has(id);
  return [...ledger.people.values()].filter(isCounted).length;
}

const isOfProviders = (reason: string) =>
  ["busy", THROTTLED, "no such topic", "unregistered", UNCONFIRMED].includes(reason);

/** A try that was not repeated ended by a rule of the service, and says so. */
async function checkUnfinished(
  world: SimWorld,
  tenant: Tenant,
  { job, person, call }: { job: string; person: string; call: Call },
  say: Broken,
): Promise<void> {
  const params = { id: job, subscriberId: person };
  const { status, body } = await ask(world, tenant, EXPLAIN, { params });
  if (status !== 200) return say(`the explanation of ${person} was answered with ${status}`, person);
  const attempt = body.attempts.find(
    (one: Json) => (one.device_id ?? one.channel) === call.target && one.channel === call.channel,
  );
  if (!attempt || !unaskedReasons(world).includes(attempt.reason))
    say(`${person} was refused for now and never tried again: ${JSON.stringify(attempt ?? body)}`, person);
}

const EXPLAIN = "GET /api/v1/notifications/{id}/recipients/{subscriberId}";

/** The recipients known to a provider or an inbox. Of those who are erased nothing must be true. */
function recipientsOf({ ledger }: SimWorld, book: ProviderBook, job: string): Recipient[] {
  const calls = book.calls.get(job) ?? new Map<string, Map<string, Call[]>>();
  const inboxes = ledger.delivered.get(job) ?? new Map<string, string>();
  return [...new Set([...calls.keys(), ...inboxes.keys()])].map((id) => {
    const isErased = ledger.people.get(id)?.erasingSince !== undefined;
    const one: Recipient = {
      id,
      ...{ isDelivered: false, mayBeDelivered: false },
      ...{ reasons: new Set(), by: new Set(), mayBy: new Set(), unfinished: [] },
    };
    if (inboxes.has(id)) {
      one.mayBy.add("in_app");
      if (!isErased) one.by.add("in_app");
    }
    for (const target of calls.get(id)?.values() ?? []) {
      const { channel } = target[0]!;
      const verdict = verdictOn(book, target);
      if (verdict.mayBeDelivered) one.mayBy.add(channel);
      if (verdict.isDelivered && !isErased) one.by.add(channel);
      for (const reason of verdict.reasons) one.reasons.add(reason);
      if (verdict.isUnfinished) one.unfinished.push(target.at(-1)!);
    }
    if (isErased) one.reasons.add("erased");
    one.isDelivered = one.by.size > 0;
    one.mayBeDelivered = one.mayBy.size > 0;
    return one;
  });
}

/** The heatmap holds every delivery of every job, once, and the series every outcome. */
async function checkHeatmap(world: SimWorld, tenant: Tenant, jobs: Json[], broken: Broken): Promise<void> {
  const { status, body } = await ask(world, tenant, "GET /api/v1/insights/heatmap");
  if (status !== 200) return;
  const shown = body.cells.reduce((total: number, { delivered }: Json) => total + delivered, 0);
  // A mail that came back is not in it (AMB-139).
  const delivered = jobs.reduce((total, { counts }) => total + counts.delivered, 0);
  if (shown !== delivered) broken(`the heatmap shows ${shown} deliveries, the jobs ${delivered}`, tenant.id);
  const series = await ask(world, tenant, "GET /api/v1/insights/series");
  // Faults may not have ended yet.
  if (series.status !== 200) return;
  for (const outcome of ["delivered", "failed", "skipped"]) {
    const counted = series.body.buckets.reduce((total: number, bucket: Json) => total + bucket[outcome], 0);
    const total = jobs.reduce((sum, { counts }) => sum + counts[outcome], 0);
    if (counted !== total) broken(`the series show ${counted} ${outcome}, the jobs ${total}`, tenant.id);
  }
}
