// Opens and clicks of sent mails: always counted, with a verdict if a machine made them (AMB-92).

import { type Clicking, markOfTarget, type Opening } from "../../../shared/contract/mail-tokens.ts";
import { type Clock, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import { notFound } from "../../../shared/kernel/errors.ts";
import { htmlLinks } from "../../../shared/providers/mail-parts.ts";
import { machineVerdict } from "../../../shared/rules/tracking.ts";
import type { Store } from "../../../shared/store/context.ts";
import type { MailLinkOpener } from "../../../shared/store/mail-links.ts";
import { eventFor } from "../../../shared/store/sends/content/arms.ts";
import { rendererOf } from "../../../shared/store/sends/content/texts.ts";
import { countInteraction } from "../../../shared/store/sends/interactions/interactions.ts";
import { withContent } from "../../../shared/store/sends/jobs/job-content.ts";
import type { Job } from "../../../shared/store/sends/jobs/job-record.ts";
import { findJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { getProfiles, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";

interface TrackingContext {
  openLink: MailLinkOpener;
  params: { token: string };
  headers: Readonly<Record<string, string | undefined>>;
  clock: Clock;
}

/** @throws 404 for an invalid token, and for a subscriber or job that is missing. */
export async function trackOpen(context: TrackingContext, method: string): Promise<void> {
  const opened = await context.openLink("open", context.params.token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  const { profile, job } = await findSent(store, link);
  if (!profile || !job) throw notFound("link");
  await countLink(store, link, context, method);
}

/**
 * @returns the target of the link as it was sent; undefined where the message, rendered for the subscriber of today, has
 *   no such target: nothing is counted. @throws 404 as above.
 */
export async function trackClick(context: TrackingContext, method: string): Promise<string | undefined> {
  const opened = await context.openLink("click", context.params.token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  const { profile, job } = await findSent(store, link);
  if (!profile || !job) throw notFound("link");
  const targets = await targetsOf(store, job, profile, link);
  const { link: position, mark } = link;
  const isSent = (target: string) => markOfTarget(target) === mark;
  const target = targets.slice(position, position + 1).find(isSent) ?? targets.find(isSent);
  if (target !== undefined) await countLink(store, link, context, method, { url: target, count: targets.length });
  return target;
}

async function findSent(store: Store, { job: id, subscriber }: Opening | Clicking) {
  const [[profile], job] = await Promise.all([getProfiles(store, [subscriber]), findJob(store, id)]);
  return { profile, job: job && (await withContent(store, job)) };
}

/** The targets of all links of the message, as it would be rendered today. */
async function targetsOf(store: Store, job: Job, profile: LivingProfile, { arm, sentAt }: Clicking): Promise<string[]> {
  const texts = rendererOf(job, sentAt * SECOND, await eventFor(store, job)).render(arm, profile, "email");
  return texts?.bodies ? htmlLinks(texts.bodies.html).targets : [];
}

/** The time is cut to the second, so that repeated requests cost at most one report a second. */
function countLink(
  store: Store,
  link: Opening | Clicking,
  { headers, clock }: TrackingContext,
  method: string,
  target?: { url: string; count: number },
) {
  const { kind, job, subscriber, arm, sentAt } = link;
  const now = clock.now();
  return countInteraction(store, {
    job_id: job,
    subscriber_id: subscriber,
    platform: "email",
    url: target?.url,
    link: target && link.kind === "click" ? { position: link.link, count: target.count } : undefined,
    interaction: kind === "open" ? "email_opened" : "email_clicked",
    occurred_at: timestamp(Math.floor(now / SECOND) * SECOND),
    variant_id: arm,
    machine: machineVerdict({ method, headers, elapsedMs: now - sentAt * SECOND }),
  });
}
