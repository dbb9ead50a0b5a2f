// What a mail has beside its texts: links that are its recipient's own, and a footer.
import { fitsMailToken } from "../../../shared/contract/mail-tokens.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { footerWordsFor } from "../../../shared/rules/footer-words.ts";
import { type MailBodies, withConfirmLink } from "../../../shared/rules/mail-body.ts";
import { type MailParts, mailParts, senderOf } from "../../../shared/rules/mail-parts.ts";
import { taggedBodies, utmQueryOf } from "../../../shared/rules/utm.ts";
import { PREFERENCES } from "../../../shared/store/mail-links.ts";
import type { Arm } from "../../../shared/store/sends/content/arms.ts";
import { mailAddressId } from "../../../shared/store/subscribers/address-items.ts";
import { attributesOf, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { ownerOf } from "./send-gates.ts";
import type { Work } from "./work.ts";

/** The bodies of a mail with its links, and the URL that unsubscribes with one click, which transactional mail does not have (D-EMAIL). */
export async function mailFor(
  work: Work,
  { subscriber, arm, profile, at }: { subscriber: string; arm: Arm; profile: LivingProfile | undefined; at: number },
  bodies: MailBodies,
): Promise<{ parts: MailParts; unsubscribeUrl?: string }> {
  const { store, clock, job } = work;
  const { id, category, topic } = job;
  const urlOf = await work.mailLinks();
  const whose = { tenant: store.tenant, subscriber };
  const sent = { ...whose, job: id, arm, sentAt: Math.floor(clock.now() / SECOND) };
  const address = mailAddressId(profile);
  const of = { job: id, sentAt: Math.floor(at / SECOND) };
  const token =
    address && ({ kind: "unsubscribe", ...whose, address, channel: "email", scope: "marketing", of } as const);
  const unsubscribe = token && category === "marketing" ? urlOf(token) : undefined;
  const owner = category === "marketing" ? await ownerOf(work) : undefined;
  const tagged = taggedBodies(bodies, utmQueryOf(owner?.utm_defaults, job));
  const parts = mailParts(
    job.confirms ? withConfirmLink(tagged, urlOf({ kind: "confirm", ...whose, ...job.confirms })) : tagged,
    {
      unsubscribe,
      sender: senderOf(owner),
      words: footerWordsFor(profile && attributesOf(profile).locale),
      preferences: token && topic && urlOf(token, PREFERENCES),
      // Who has yet to agree is not watched.
      ...(!job.confirms && {
        open: urlOf({ kind: "open", ...sent }),
        click: (target, link, links) =>
          fitsMailToken(target) ? urlOf({ kind: "click", ...sent, link, links, target }) : target,
      }),
    },
  );
  return { parts, ...(unsubscribe !== undefined && { unsubscribeUrl: unsubscribe }) };
}
