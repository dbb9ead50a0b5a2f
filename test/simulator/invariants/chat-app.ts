// No template is sent that its provider has not approved, none that is approved is held back, and who opted out by a
// message gets nothing more by the chat app.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { type ChatAppBook, chatAppBook } from "../chat-app-book.ts";
import { itemsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** A worker may have read the template and the subscriber so long before it sends. */
const UNDER_WAY_MS = 75 * SECOND;
const AHEAD_MS = 5 * SECOND;

/** Whether the template is certainly approved, or certainly not, from then until `to`. */
function isApproved({ verdicts }: ChatAppBook, from: number, to: number): boolean | undefined {
  const stored = verdicts.filter(({ doneAt }) => doneAt <= from).reduce((a, b) => (a.at > b.at ? a : b));
  const later = verdicts.filter((one) => one.at > stored.at && one.from <= to);
  return later.every((one) => one.isApproved === stored.isApproved) ? stored.isApproved : undefined;
}

export const chatApp: Invariant = {
  name: "chat-app",
  watch: (world, broken) => {
    const { ledger, mirror, kernel, profile } = world;
    world.onProviderCall(({ channel, job, subscriber }) => {
      const book = chatAppBook(world);
      const send = ledger.byJob.get(job);
      if (channel !== "chat_app" || !book || !send) return;
      const at = kernel.now();
      const from = Math.max(at - UNDER_WAY_MS, send.startedAt) - AHEAD_MS - 2 * profile.skewMs;
      if (isApproved(book, from, at) === false) broken(`job ${job} sent a template that is not approved`, job);
      const optedOut = book.optOuts.get(book.phones.get(subscriber) ?? "") ?? Number.POSITIVE_INFINITY;
      if (optedOut < from) broken(`${subscriber} has opted out and got job ${job}`, subscriber, job);
    });
    return {
      end: () => {
        const book = chatAppBook(world);
        if (!book) return;
        const row = mirror.get(`T#${book.tenant.id}#channel#${book.channel}`, `T#${book.template}`);
        const isNow = isApproved(book, kernel.now(), kernel.now());
        if (isNow !== undefined && (row?.status === "approved") !== isNow)
          broken(`the template is ${row?.status}, by its newest verdict ${isNow ? "" : "not "}approved`, book.template);
        for (const [person, phone] of book.phones) {
          const { id = "", tenant = "" } = ledger.people.get(person) ?? {};
          const consent = mirror.get(`T#${tenant}#S${id[0]}`, id)?.["c:chat_app"];
          const isOut = book.optOuts.has(phone);
          if ((consent === "opted_out") !== isOut)
            broken(`${person} is ${consent} of the chat app, and ${isOut ? "has" : "never has"} opted out`, person);
        }
        for (const { item } of itemsOf(mirror, "JOB")) {
          const send = ledger.byJob.get(String(item.id));
          const skipped = Number(item["skip:template_not_approved"] ?? 0);
          const from = (send?.startedAt ?? 0) - AHEAD_MS - 2 * profile.skewMs;
          if (skipped > 0 && isApproved(book, from, kernel.now()) === true)
            broken(`job ${item.id} skipped ${skipped} though the template is approved`, String(item.id));
        }
      },
    };
  },
};
