// Recipients that another channel reached after their mail, which may have bounced since.
import { chunksOf } from "../../../shared/rules/chunks.ts";
import type { Progress } from "../../../shared/rules/progress.ts";
import { takeBackMails } from "../../../shared/store/sends/ledger/reached-later.ts";
import { isAmong } from "./tally.ts";
import { recipientOf, targetOf, type Work } from "./work.ts";

/** Recipients whose rows are read at once. */
const MAX_CONCURRENT = 25;

/**
 * Runs after a round, when its rows are written. A mail of the same round checks for itself which other channels
 * reached its recipient.
 */
export async function settleEarlierMails({ store, job, chunk, addressees }: Work, progress: Progress): Promise<void> {
  const units = progress.work ?? [];
  const isMail = (channel: string) => channel === "email";
  const mailed = new Set(units.flatMap((unit) => (isMail(targetOf(chunk, unit).channel) ? [unit.recipient] : [])));
  const reached = units.filter((unit) => {
    const { targets, isSmart } = addressees[unit.recipient] ?? { targets: [], isSmart: true };
    // A smart send tries one class after the other: nothing is in progress when the next one begins.
    const hadMail = !isSmart && !mailed.has(unit.recipient) && targets.some(({ channel }) => isMail(channel));
    return hadMail && isAmong(progress.reached[targetOf(chunk, unit).channel] ?? 0n, unit.recipient);
  });
  const subscribers = [...new Set(reached.map((unit) => recipientOf(chunk, unit).subscriber))];
  for (const batch of chunksOf(subscribers, MAX_CONCURRENT))
    await Promise.all(batch.map((subscriber) => takeBackMails(store, job, subscriber)));
}
