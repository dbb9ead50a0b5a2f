// Opens and clicks of sent mails: always counted, and marked if a machine made them (AMB-92).
import type { ClickToken, OpenToken } from "../../../shared/contract/mail-tokens.ts";
import { type Clock, SECOND, timestamp } from "../../../shared/kernel/clock.ts";
import type { Deps } from "../../../shared/kernel/deps.ts";
import { requireFound } from "../../../shared/kernel/errors.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { machineVerdict } from "../../../shared/rules/tracking.ts";
import type { Store } from "../../../shared/store/context.ts";
import type { MailLinkOpener } from "../../../shared/store/mail-links.ts";
import { countLinkFollowed } from "../../../shared/store/sends/interactions/interactions.ts";

interface TrackingContext {
  openLink: MailLinkOpener;
  params: { token: string };
  headers: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  log: Deps["log"];
}

/** Counts an open, except for a deleted subscriber or send. @throws 404 for an invalid token */
export async function trackOpen(context: TrackingContext, method: string): Promise<void> {
  const opened = requireFound(await context.openLink("open", context.params.token), "link");
  await countLink(opened.store, opened.link, context, method);
}

/**
 * Counts a click. It is redirected even if it cannot be counted.
 * @returns the target of the link as it was sent (AMB-149), even if its subscriber was erased since (AMB-143)
 * @throws 404 for an invalid token
 */
export async function trackClick(context: TrackingContext, method: string): Promise<string> {
  const { store, link } = requireFound(await context.openLink("click", context.params.token), "link");
  await countLink(store, link, context, method).catch((error) => {
    const { tenant, job } = link;
    context.log({ level: "warn", message: "a click was not counted", tenant, job, ...errorFields(error) });
  });
  return link.target;
}

/** The time is cut to the second, so that repeated requests make at most one report a second. */
async function countLink(
  store: Store,
  link: OpenToken | ClickToken,
  { headers, clock }: TrackingContext,
  method: string,
): Promise<void> {
  const { kind, job: id, subscriber, arm, sentAt } = link;
  const now = clock.now();
  await countLinkFollowed(store, {
    job_id: id,
    subscriber_id: subscriber,
    platform: "email",
    ...(link.kind === "click" && { url: link.target, link: { position: link.link, count: link.links } }),
    interaction: kind === "open" ? "email_opened" : "email_clicked",
    occurred_at: timestamp(Math.floor(now / SECOND) * SECOND),
    variant_id: arm,
    machine: machineVerdict({ method, headers, elapsedMs: now - sentAt * SECOND }),
  });
}
