// Events of SES about sent mails: the ledger records them, and bounced or complaining addresses are suppressed
// (D-EMAIL).
import type { MailEvent } from "../../../shared/contract/mail-events.ts";
import { MAX_DELAY_SECONDS } from "../../../shared/contract/messages.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { mailEventQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { applyFate, recordFate, unconfirmed } from "../../../shared/store/sends/ledger/mail-events.ts";

/**
 * Half an hour in all. If the sender of a mail stops, another worker writes its row when the message comes again. A row
 * that is missing after that was never written.
 */
const RETRY_SECONDS = [30, 60, 120, 240, 480, MAX_DELAY_SECONDS];

const uses = [storeWrite, mailEventQueue] as const;

export const recordMailEvent = queueWorker(
  "mail-event",
  "Records what became of mails: delivered, bounced, complained about.",
  uses,
  async (event, context) => {
    const { tenant, job, subscriber, fate, tries } = event;
    if (fate === "ignored")
      return context.log({ level: "info", message: "an event of another mail was dropped", tenant, job, subscriber });
    if (tries === 0) await applyFate(context.store, event);
    await record(event, context);
  },
  {
    takes: ({ fate }) => fate === "delivered",
    perform: async (events, context) => {
      await Promise.all((await unconfirmed(context.store, events)).map((event) => record(event, context)));
    },
  },
);

async function record(event: MailEvent, context: Context<typeof uses> & RuntimeContext): Promise<void> {
  const { store, mailEventQueue: queue, log } = context;
  const { tenant, job, subscriber, fate, tries } = event;
  const recorded = await recordFate(store, event);
  if (recorded === "recorded") return;
  const delaySeconds = RETRY_SECONDS[tries];
  if (delaySeconds !== undefined) return queue.send([{ ...event, emails: [], tries: tries + 1 }], { delaySeconds });
  log({ level: "warn", message: "a mail has no row in the ledger", tenant, job, subscriber, fate });
}
