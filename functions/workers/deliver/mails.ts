// The bodies and links of a mail, made for one recipient when it is rendered (D-EMAIL).

import { markOfTarget } from "../../../shared/contract/mail-tokens.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { type MailParts, mailParts } from "../../../shared/providers/mail-parts.ts";
import type { MailBodies } from "../../../shared/rules/mail-body.ts";
import type { Language } from "../../../shared/rules/translations.ts";
import { type MailLinks, PREFERENCES } from "../../../shared/store/mail-links.ts";
import type { Job } from "../../../shared/store/sends/jobs/jobs.ts";

interface Recipient {
  tenant: string;
  subscriber: string;
  arm: "a" | "b" | undefined;
}

/** The bodies of a mail, and the URL that unsubscribes with one click, which transactional mail does not have. */
export function mailFor(
  urlOf: MailLinks,
  { id, category, topic }: Pick<Job, "id" | "category" | "topic">,
  { tenant, subscriber, arm }: Recipient,
  bodies: MailBodies,
  { now, sender, language }: { now: number; sender: readonly string[]; language: Language },
): { parts: MailParts; unsubscribeUrl?: string } {
  const whose = { tenant, subscriber };
  const sent = { ...whose, job: id, arm, sentAt: Math.floor(now / SECOND) };
  const token = { kind: "unsubscribe", ...whose, channel: "email", scope: "marketing" } as const;
  const unsubscribe = category === "marketing" ? urlOf(token) : undefined;
  const parts = mailParts(bodies, {
    unsubscribe,
    sender,
    words: language.words,
    preferences: topic && urlOf(token, PREFERENCES),
    open: urlOf({ kind: "open", ...sent }),
    click: (target, link) => urlOf({ kind: "click", ...sent, link, mark: markOfTarget(target) }),
  });
  return { parts, ...(unsubscribe !== undefined && { unsubscribeUrl: unsubscribe }) };
}
