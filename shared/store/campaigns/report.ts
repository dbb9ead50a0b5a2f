// The report of a campaign (CRP): its funnel, and the same by channel and by message.
import type { StoreReader } from "../../resources.ts";
import { dispatchedJobs, type Funnel, funnelOf, type Window } from "../insights/insights.ts";
import { interactionTotals } from "../sends/interaction-totals.ts";
import type { Job } from "../sends/jobs.ts";
import type { Campaign } from "./campaigns.ts";
import type { CampaignMessage } from "./items.ts";

interface Reached {
  delivered: number;
  opened: number;
  /** F19. */
  opened_human: number;
  clicked: number;
}

export interface CampaignReport extends Funnel {
  by_channel: ({ channel: string } & Reached)[];
  /** Empty for a campaign of one message (CRP-5). */
  by_message: ({ position: number; label: string } & Reached)[];
}

/** @param window when its messages were dispatched, and when conversions happened */
export async function reportOf(store: StoreReader, campaign: Campaign, window: Window): Promise<CampaignReport> {
  const source = { type: "campaign", id: campaign.id } as const;
  const [funnel, jobs] = await Promise.all([funnelOf(store, source, window), dispatchedJobs(store, campaign, window)]);
  const sends = await Promise.all(jobs.map(async (job) => ({ job, totals: await interactionTotals(store, job.id) })));
  const channels = new Map<string, Reached>();
  const reachedBy = (channel: string): Reached => {
    const found = channels.get(channel) ?? { delivered: 0, opened: 0, opened_human: 0, clicked: 0 };
    channels.set(channel, found);
    return found;
  };
  for (const { job, totals } of sends) {
    for (const [channel, n] of Object.entries(job.delivered_by_channel)) reachedBy(channel).delivered += n;
    for (const [channel, { recipients }] of Object.entries(totals.channels)) {
      const reached = reachedBy(channel);
      reached.opened += recipients.opened;
      reached.opened_human += recipients.opened_human;
      reached.clicked += recipients.clicked;
    }
  }
  const byJob = new Map(sends.map(({ job, totals }) => [job.id, { job, recipients: totals.recipients }]));
  const by_message = campaign.messages.map((message) => {
    const { job, recipients } = byJob.get(message.job_id) ?? {};
    return {
      position: message.position,
      label: labelOf(message, job),
      delivered: job?.counts.delivered ?? 0,
      opened: recipients?.opened ?? 0,
      opened_human: recipients?.opened_human ?? 0,
      clicked: recipients?.clicked ?? 0,
    };
  });
  return {
    ...funnel,
    by_channel: [...channels]
      .map(([channel, reached]) => ({ channel, ...reached }))
      .sort((a, b) => (a.channel < b.channel ? -1 : 1)),
    by_message: campaign.messages.length > 1 ? by_message : [],
  };
}

/** CRP-4, AMB-68: its title, a template's as it was sent, else its number. */
const labelOf = ({ content, position }: CampaignMessage, job: Job | undefined): string =>
  content?.title ?? job?.title ?? `Message ${position + 1}`;
