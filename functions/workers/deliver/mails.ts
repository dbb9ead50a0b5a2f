// The parts of a mail beside its texts: the links of its recipient, and a footer.
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

/**
 * The bodies of a mail with its links, and the URL that unsubscribes with one click, which transactional mail does not
 * have (D-EMAIL).
 */
export async function mailFor(
  work: Work,
  { subscriber, arm, profile, at }: { subscriber: string; arm: Arm; profile: LivingProfile | undefined; at: number },
  bodies: MailBodies,
): Promise<{ parts: MailParts; unsubscribeUrl?: string }> {
  const { store, clock, job } = work;
  const { id, category, topic, confirms } = job;
  const linkTo = await work.mailLinks();
  const recipient = { tenant: store.tenant, subscriber };
  const owner = category === "marketing" ? await ownerOf(work) : undefined;

  const address = mailAddressId(profile);
  const mail = { job: id, sentAt: Math.floor(at / SECOND) };
  const leaving =
    address &&
    ({ kind: "unsubscribe", ...recipient, address, channel: "email", scope: "marketing", of: mail } as const);
  const unsubscribeUrl = leaving && category === "marketing" ? linkTo(leaving) : undefined;

  const tagged = taggedBodies(bodies, utmQueryOf(owner?.utm_defaults, job));
  const linked = confirms ? withConfirmLink(tagged, linkTo({ kind: "confirm", ...recipient, ...confirms })) : tagged;
  const tracked = { ...recipient, job: id, arm, sentAt: Math.floor(clock.now() / SECOND) };
  const parts = mailParts(linked, {
    unsubscribe: unsubscribeUrl,
    sender: senderOf(owner),
    words: footerWordsFor(profile && attributesOf(profile).locale),
    preferences: leaving && topic && linkTo(leaving, PREFERENCES),
    // Opens and clicks of a recipient who has yet to agree are not tracked.
    ...(!confirms && {
      open: linkTo({ kind: "open", ...tracked }),
      click: (target, link, links) =>
        fitsMailToken(target) ? linkTo({ kind: "click", ...tracked, link, links, target }) : target,
    }),
  });
  return { parts, ...(unsubscribeUrl !== undefined && { unsubscribeUrl }) };
}
