// Takes what SES tells of mails: the ledger learns it, and dead or unwilling addresses get no mail any more (D-EMAIL).
import { mailEventQueue, storeWrite } from "../../../shared/resources.ts";
import { applyFate, noteFate } from "../../../shared/store/sends/mail-events.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** The sender notes what it sent within its minute; whatever is not there after these tries was never noted. */
const MAX_ATTEMPTS = 5;
const AGAIN_SECONDS = 30;

export const mailEvent = queueWorker(
  "mail-event",
  "Notes what became of mails: delivered, bounced, complained of.",
  [storeWrite, mailEventQueue],
  async (event, { store, mailEventQueue: queue, log }) => {
    if (event.fate === "untold") return;
    if (event.tries === 0) await applyFate(store, event);
    if (await noteFate(store, event)) return;
    const { tenant, job, fate, tries } = event;
    if (tries < MAX_ATTEMPTS)
      return queue.send([{ ...event, emails: [], tries: tries + 1 }], { delaySeconds: AGAIN_SECONDS });
    log({ level: "warn", message: "a mail has no row in the ledger", tenant, job, fate });
  },
);
