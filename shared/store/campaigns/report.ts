// The report of a campaign (CRP): its funnel, and the same by channel and by message.
import { pageTooLarge } from "../../contract/paging.ts";
import { DAY } from "../../kernel/clock.ts";
import { byText } from "../../kernel/order.ts";
import type { Halt } from "../../rules/brake.ts";
import { pricesOf, providerCost, roundedDollars, sumOfCosts } from "../../rules/cost.ts";
import type { StoreReader } from "../context.ts";
import { dayOf } from "../events/events.ts";
import {
  type CampaignSend,
  campaignJobs,
  campaignSends,
  campaignTotals,
  type Funnel,
  funnelOf,
  jobIdsOf,
  type Window,
} from "../insights/insights.ts";
import { armsOf } from "../insights/send-report.ts";
import { sumOf, uncertainIn } from "../sends/chunks/tallies.ts";
import { type InteractionDay, interactionCourse } from "../sends/interactions/totals.ts";
import { withContents } from "../sends/jobs/job-content.ts";
import { costOfJob } from "../sends/jobs/job-cost.ts";
import type { JobRecord } from "../sends/jobs/job-record.ts";
import { findJobs } from "../sends/jobs/jobs.ts";
import { countsNow, failReasonsNow, missedNow, reachedNow } from "../sends/jobs/late.ts";
import { TemplateItem } from "../templates/items.ts";
import type { Campaign } from "./campaigns.ts";

/** The outcomes of messages (AMB-139), and the reactions of recipients (F19). */
const NO_RESULTS = {
  delivered: 0,
  failed: 0,
  uncertain: 0,
  bounced: 0,
  complained: 0,
  unsubscribed: 0,
  opened: 0,
  opened_human: 0,
  clicked: 0,
  clicked_human: 0,
};

function countedOf(job: JobRecord | undefined) {
  const counts = job ? countsNow(job, job) : NO_RESULTS;
  const { delivered, bounced, complained, unsubscribed, failed, uncertain } = counts;
  return { delivered, bounced, complained, unsubscribed, failed, uncertain };
}

/**
 * The report of a campaign (CRP-1 to CRP-5): `by_variant` is empty without arms, `by_message` for one message.
 * @param window when its messages were dispatched, and when conversions happened
 */
export async function reportOf(store: StoreReader, campaign: Campaign, window: Window) {
  const source = { type: "campaign", id: campaign.id } as const;
  const found = await campaignJobs(store, campaign);
  const reading = campaignSends(store, found, window);
  const [funnel, sent] = await Promise.all([funnelOf(store, source, window, reading), reading]);

  const records = sent.map(({ job }) => job);
  const jobs = await withContents(store, records);
  const sends = jobs.map((job, n) => ({ job, totals: sent[n]!.totals }));
  const costs = new Map(sends.map(({ job }) => [job.id, costOfJob(job, job)]));
  const cost = sumOfCosts([...costs.values()]);

  const byJob = new Map(sends.map(({ job, totals }) => [job.id, { job, recipients: totals.recipients }]));
  const titles = await titlesOf(store, campaign, found);
  const by_message = campaign.messages.map((message) => {
    const { job, recipients } = byJob.get(message.job_id) ?? {};
    return {
      position: message.position,
      label: message.content?.title ?? titles.get(message.id) ?? `Message ${message.position + 1}`,
      ...countedOf(job),
      opened: recipients?.opened ?? 0,
      opened_human: recipients?.opened_human ?? 0,
      clicked: recipients?.clicked ?? 0,
      clicked_human: recipients?.clicked_human ?? 0,
      dollars: costs.get(message.job_id)?.dollars ?? 0,
      ...(message.error && { error: message.error }),
    };
  });

  return {
    ...funnel,
    ...failuresWithin(campaign, found, window),
    ...(campaign.last_error && { last_error: campaign.last_error }),
    cost: { ...cost, per_conversion: funnel.converted > 0 ? roundedDollars(cost.dollars / funnel.converted) : null },
    by_channel: [...reachedByChannel(sends)]
      .map(([channel, reached]) => ({ channel, ...reached, provider_dollars: chargedBy(channel, jobs) }))
      .sort(byText(({ channel }) => channel)),
    skip_reasons: sumOf(sends.map(({ job }) => job)).skip_reasons,
    ...armsOf(sends),
    by_message: campaign.messages.length > 1 ? by_message : [],
  };
}

function reachedByChannel(sends: readonly CampaignSend[]): Map<string, typeof NO_RESULTS> {
  const channels = new Map<string, typeof NO_RESULTS>();
  const reachedBy = (channel: string) => {
    const found = channels.get(channel) ?? { ...NO_RESULTS };
    channels.set(channel, found);
    return found;
  };
  for (const { job, totals } of sends) {
    for (const [channel, n] of Object.entries(reachedNow(job, job))) reachedBy(channel).delivered += n;
    const missed = missedNow(job, job);
    for (const name of ["failed", "uncertain"] as const)
      for (const [channel, n] of Object.entries(missed[name])) if (n > 0) reachedBy(channel)[name] += n;
    if (job.late.bounced + job.late.complained + job.late.unsubscribed > 0) {
      const mail = reachedBy("email");
      for (const name of ["bounced", "complained", "unsubscribed"] as const) mail[name] += job.late[name];
    }
    for (const [channel, { recipients }] of Object.entries(totals.channels)) {
      const reached = reachedBy(channel);
      reached.opened += recipients.opened;
      reached.opened_human += recipients.opened_human;
      reached.clicked += recipients.clicked;
      reached.clicked_human += recipients.clicked_human;
    }
  }
  return channels;
}

/** The provider charges of a channel for messages; `null` if any of them is unknown. */
function chargedBy(channel: string, jobs: readonly JobRecord[]): number | null {
  const costs = jobs.map(({ delivered_by_channel, deliverySettings }) =>
    providerCost({ [channel]: delivered_by_channel[channel] ?? 0 }, pricesOf(deliverySettings?.via ?? [])),
  );
  if (costs.some(({ unpriced }) => unpriced.length > 0)) return null;
  return roundedDollars(costs.reduce((sum, { dollars }) => sum + dollars, 0));
}

const EVER: Window = { start: 0, end: Number.POSITIVE_INFINITY };

type CampaignResults = Pick<Funnel, "sent" | "delivered" | "opened_human" | "clicked_human" | "unsubscribed"> & {
  /** People by the day (UTC) of their first open, from the first dispatch to the last of these days. */
  opened_by_day: number[];
};

/** The sends of one page that are looked at: each has counters in many rows. */
const MAX_SENDS = 1_000;

/**
 * The results of each of these campaigns so far; undefined for one that has sent nothing. @throws 422 as for a page that is too
 * large where they have more than 1,000 sends (docs/decisions/0112)
 */
export async function resultsOf(
  store: StoreReader,
  campaigns: readonly Campaign[],
): Promise<(CampaignResults | undefined)[]> {
  const ids = campaigns.flatMap(jobIdsOf);
  if (ids.length > MAX_SENDS) throw pageTooLarge();
  const jobs = (await findJobs(store, ids)).filter((job) => job !== undefined);
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return Promise.all(
    campaigns.map((campaign) =>
      resultsOfSends(
        store,
        jobIdsOf(campaign).flatMap((id) => byId.get(id) ?? []),
      ),
    ),
  );
}

async function resultsOfSends(store: StoreReader, jobs: readonly JobRecord[]): Promise<CampaignResults | undefined> {
  const dispatched = jobs.flatMap((job) => (job.dispatched_at ? [{ job, at: dayOf(job.dispatched_at) }] : []));
  if (dispatched.length === 0) return undefined;
  const sends = await Promise.all(
    dispatched.map(async (send) => ({ ...send, ...(await interactionCourse(store, send.job.id)) })),
  );
  const { sent, delivered, opened_human, clicked_human, unsubscribed } = campaignTotals(sends);
  return { sent, delivered, opened_human, clicked_human, unsubscribed, opened_by_day: opensByDay(sends) };
}

/** Opens by the days since the first of these sends, including days without opens. */
function opensByDay(sends: readonly { at: string; days: readonly InteractionDay[] }[]): number[] {
  const first = Math.min(...sends.map(({ at }) => Date.parse(at)));
  const opens: number[] = [];
  for (const { at, days } of sends)
    for (const { after, stage, n } of days) {
      if (stage !== "opened_human") continue;
      const day = (Date.parse(at) - first) / DAY + after;
      opens[day] = (opens[day] ?? 0) + n;
    }
  return Array.from(opens, (n) => n ?? 0);
}

/** The failures of all messages (AMB-126). */
export async function campaignFailures(store: StoreReader, campaign: Campaign) {
  return failuresWithin(campaign, await campaignJobs(store, campaign), EVER);
}

/** The sends of a campaign that their brake halted (F21). */
export async function haltedSends(store: StoreReader, campaign: Campaign): Promise<({ job_id: string } & Halt)[]> {
  const jobs = await campaignJobs(store, campaign);
  return jobs.flatMap(({ id, status, halted }) =>
    halted && status === "processing" ? [{ job_id: id, ...halted }] : [],
  );
}

/** The failures of messages that were dispatched, or failed before, within a window. */
function failuresWithin(campaign: Campaign, jobs: readonly JobRecord[], { start, end }: Window) {
  const isWithin = (at: number) => at >= start && at <= end;
  return failuresOf(
    campaign,
    jobs.flatMap((job) => {
      const at = job.dispatched_at ?? job.completed_at;
      return at && isWithin(Date.parse(at)) ? [job] : [];
    }),
  );
}

/** Failures by reason. A message that failed before its audience was known counts once, by the code of its error. */
function failuresOf({ messages }: Campaign, jobs: readonly JobRecord[]) {
  const fail_reasons: Record<string, number> = {};
  const errors = new Map(messages.map(({ job_id, error }) => [job_id, error]));
  let failed = 0;
  const count = (reason: string, n: number) => {
    failed += n;
    if (n > 0) fail_reasons[reason] = (fail_reasons[reason] ?? 0) + n;
  };
  for (const job of jobs) {
    for (const [reason, n] of Object.entries(failReasonsNow(job, job))) count(reason, n);
    const isRefused = job.status === "failed" && job.counts.total === 0;
    if (isRefused) count(errors.get(job.id)?.code ?? "failed", Math.max(1, job.sent));
  }
  return { failed, fail_reasons, uncertain: uncertainIn(fail_reasons) };
}

/** The titles of messages with a template, by message (CRP-4, AMB-68): as sent, else as the template is now. */
async function titlesOf(
  store: StoreReader,
  { messages }: Campaign,
  found: readonly JobRecord[],
): Promise<ReadonlyMap<string, string>> {
  const templated = messages.filter(({ content }) => messages.length > 1 && content === undefined);
  const ids = new Set(templated.map(({ job_id }) => job_id));
  const templateKeys = templated.map(({ template_id = "" }) => ({ id: template_id }));
  const wanted = found.filter(({ id }) => ids.has(id));
  const [jobs, templates] = await Promise.all([withContents(store, wanted), store.getAll(TemplateItem, templateKeys)]);
  const sent = new Map(jobs.map(({ id, title }) => [id, title]));
  return new Map(
    templated.flatMap(({ id, job_id }, n) => {
      const title = sent.get(job_id) ?? templates[n]?.title;
      return title ? [[id, title] as const] : [];
    }),
  );
}
