// Opens and clicks of sent mails: always counted, with a verdict if a machine made them (AMB-92).
import { type Clock, SECOND, timestamp } from "../../../shared/clock.ts";
import { notFound } from "../../../shared/http/errors.ts";
import type { MailLinkOpener } from "../../../shared/mail-links.ts";
import { type Clicking, markOfTarget, type Opening } from "../../../shared/mail-tokens.ts";
import { eventFor } from "../../../shared/providers/arms.ts";
import { mailBodies } from "../../../shared/providers/mail-body.ts";
import { htmlLinks } from "../../../shared/providers/mail-parts.ts";
import { rendererOf } from "../../../shared/providers/texts.ts";
import type { Store } from "../../../shared/resources.ts";
import { machineVerdict } from "../../../shared/rules/tracking.ts";
import { countInteraction } from "../../../shared/store/sends/interactions.ts";
import { findJob, type Job } from "../../../shared/store/sends/jobs.ts";
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

/** @returns the target of the link, taken from the message. @throws 404 as above, and if the message has no such link. */
export async function trackClick(context: TrackingContext, method: string): Promise<string> {
  const opened = await context.openLink("click", context.params.token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  const { profile, job } = await findSent(store, link);
  const target = profile && job && (await targetOf(store, job, profile, link));
  if (target === undefined) throw notFound("link");
  await countLink(store, link, context, method, target);
  return target;
}

async function findSent(store: Store, { job: id, subscriber }: Opening | Clicking) {
  const [[profile], job] = await Promise.all([getProfiles(store, [subscriber]), findJob(store, id)]);
  return { profile, job };
}

/** The target as it was sent. If the subscriber's attributes changed it since, the link at the same position. */
async function targetOf(
  store: Store,
  job: Job,
  profile: LivingProfile,
  { arm, sentAt, link, mark }: Clicking,
): Promise<string | undefined> {
  const texts = rendererOf(job, sentAt * SECOND, await eventFor(store, job)).render(arm, profile, { asHtml: true });
  if (!texts) return undefined;
  const { targets } = htmlLinks(mailBodies(texts.body).html);
  const atPosition = targets[link];
  if (atPosition !== undefined && markOfTarget(atPosition) === mark) return atPosition;
  return targets.find((target) => markOfTarget(target) === mark) ?? atPosition;
}

/** The time is cut to the second, so that repeated requests cost at most one report a second. */
function countLink(
  store: Store,
  { kind, job, subscriber, arm, sentAt }: Opening | Clicking,
  { headers, clock }: TrackingContext,
  method: string,
  url?: string,
) {
  const now = clock.now();
  return countInteraction(store, {
    job_id: job,
    subscriber_id: subscriber,
    platform: "email",
    url,
    interaction: kind === "open" ? "email_opened" : "email_clicked",
    occurred_at: timestamp(Math.floor(now / SECOND) * SECOND),
    variant_id: arm,
    machine: machineVerdict({ method, headers, elapsedMs: now - sentAt * SECOND }),
  });
}
