// Events of SES about sent mails: the ledger records them, and dead or unwilling addresses are suppressed (D-EMAIL).
import { mailEventQueue, storeWrite } from "../../../shared/resources.ts";
import { applyFate, recordFate } from "../../../shared/store/sends/mail-events.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** The sender writes its rows within a minute: a row that is missing after these attempts was never written. */
const MAX_ATTEMPTS = 5;
const RETRY_SECONDS = 30;

export const mailEvent = queueWorker(
  "mail-event",
  "Records what became of mails: delivered, bounced, complained about.",
  [storeWrite, mailEventQueue],
  async (event, { store, mailEventQueue: queue, log }) => {
    const { tenant, job, subscriber, fate, tries } = event;
    if (fate === "ignored")
      return log({ level: "info", message: "an event of another mail was dropped", tenant, job, subscriber });
    if (tries === 0) await applyFate(store, event);
    if (await recordFate(store, event)) return;
    if (tries < MAX_ATTEMPTS)
      return queue.send([{ ...event, emails: [], tries: tries + 1 }], { delaySeconds: RETRY_SECONDS });
    log({ level: "warn", message: "a mail has no row in the ledger", tenant, job, subscriber, fate });
  },
);
