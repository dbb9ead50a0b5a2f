// How the provider of a channel answered last, for its health (RDA-15): noted now and then, as it must cost nothing.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import type { SendOutcome } from "../../../shared/rules/progress.ts";
import { noteAnswer } from "../../../shared/store/channels/health.ts";
import { channelIdOf, isThrottle, type Sent, type Work } from "./work.ts";

/** How long an environment leaves a channel alone after it has noted that it works, or an error of it. */
const SUCCESS_EVERY_MS = 5 * MINUTE;
const ERROR_EVERY_MS = MINUTE;

/** Notes the answers of providers. What is about one address, or was decided before, says nothing of a channel. */
export async function noteAnswers(work: Work, sent: readonly Sent[]): Promise<void> {
  const asked = sent.filter(({ message }) => !message.isRefused && !message.isCapped && message.channel !== "in_app");
  for (const [channel, answers] of Map.groupBy(asked, ({ message }) => message.channel)) {
    const id = channelIdOf(work, channel);
    if (id === undefined) continue;
    const errors = new Set(answers.flatMap(({ outcome }) => errorIn(outcome) ?? []));
    if (answers.some(({ outcome }) => outcome.status === "accepted")) await noteOne(work, id, undefined);
    for (const error of errors) await noteOne(work, id, error);
  }
}

function errorIn(outcome: SendOutcome): string | undefined {
  if (outcome.status === "accepted" || outcome.status === "skipped" || isThrottle(outcome)) return undefined;
  return outcome.status === "rejected" && outcome.addressDead ? undefined : outcome.reason;
}

/** The messages are sent by now: a note that fails is left out. */
async function noteOne({ store, clock, noted, log }: Work, channel: string, error: string | undefined): Promise<void> {
  const name = `${store.tenant} ${channel} ${error ?? ""}`;
  const every = error === undefined ? SUCCESS_EVERY_MS : ERROR_EVERY_MS;
  if (clock.now() - (noted.get(name) ?? Number.NEGATIVE_INFINITY) < every) return;
  noted.set(name, clock.now());
  await noteAnswer(store, channel, error).catch((failure) => {
    noted.delete(name);
    log({ level: "warn", message: "an answer of a provider was not noted", channel, ...errorFields(failure) });
  });
}
