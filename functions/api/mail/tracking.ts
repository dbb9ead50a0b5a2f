// What a link of a sent mail is about, and how following it is counted: always, with a verdict beside it (AMB-92).
import { type Clock, SECOND, timestamp } from "../../../shared/clock.ts";
import { notFound } from "../../../shared/http/errors.ts";
import type { MailLinkOpener } from "../../../shared/mail-links.ts";
import { type Clicking, markOfTarget, type Opening } from "../../../shared/mail-tokens.ts";
import { mailBodies } from "../../../shared/providers/mail-body.ts";
import { htmlLinks } from "../../../shared/providers/mail-parts.ts";
import { eventFor, rendererOf } from "../../../shared/providers/texts.ts";
import type { Store } from "../../../shared/resources.ts";
import { machineVerdict } from "../../../shared/rules/tracking.ts";
import type { Item } from "../../../shared/store/model.ts";
import { countInteraction } from "../../../shared/store/sends/interactions.ts";
import { findJob, type Job } from "../../../shared/store/sends/jobs.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";

interface TrackingContext {
  openLink: MailLinkOpener;
  params: { token: string };
  headers: Readonly<Record<string, string | undefined>>;
  clock: Clock;
}

/** @throws 404 for a token that is not ours, and alike for whoever is no more. */
export async function trackOpen(context: TrackingContext, method: string): Promise<void> {
  const opened = await context.openLink("open", context.params.token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  const { profile, job } = await found(store, link);
  if (!profile || !job) throw notFound("link");
  await count(store, link, context, method);
}

/** @returns where the link leads, by the message itself. @throws 404 as above, and where the message has no such link. */
export async function trackClick(context: TrackingContext, method: string): Promise<string> {
  const opened = await context.openLink("click", context.params.token);
  if (!opened) throw notFound("link");
  const { store, link } = opened;
  const { profile, job } = await found(store, link);
  const target = profile && job && (await targetOf(store, job, profile, link));
  if (target === undefined) throw notFound("link");
  await count(store, link, context, method, target);
  return target;
}

async function found(store: Store, { job, subscriber }: Opening | Clicking) {
  const [[profile], foundJob] = await Promise.all([getProfiles(store, [subscriber]), findJob(store, job)]);
  return { profile, job: foundJob };
}

/** The target as it was sent; where the person's attributes changed it since, the link at its place. */
async function targetOf(
  store: Store,
  job: Job,
  profile: Item,
  { arm, sentAt, link, mark }: Clicking,
): Promise<string | undefined> {
  const texts = rendererOf(job, sentAt * SECOND, await eventFor(store, job)).render(arm, profile, { asHtml: true });
  if (!texts) return undefined;
  const { targets } = htmlLinks(mailBodies(texts.body).html);
  const atPlace = targets[link];
  if (atPlace !== undefined && markOfTarget(atPlace) === mark) return atPlace;
  return targets.find((target) => markOfTarget(target) === mark) ?? atPlace;
}

/** To the second, so that however fast a link is asked for, it costs one report a second. */
function count(
  store: Store,
  { kind, job, subscriber, arm, sentAt }: Opening | Clicking,
  { headers, clock }: TrackingContext,
  method: string,
  url?: string,
) {
  const now = clock.now();
  return countInteraction(store, {
    ...{ job_id: job, subscriber_id: subscriber, platform: "email", url },
    interaction: kind === "open" ? "email_opened" : "email_clicked",
    occurred_at: timestamp(Math.floor(now / SECOND) * SECOND),
    ...(arm && { variant_id: arm }),
    machine: machineVerdict({ method, headers, elapsedMs: now - sentAt * SECOND }),
  });
}
