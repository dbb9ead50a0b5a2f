// Ends experiences at their end_at (AMB-7), with the same effects as the end through the API.
import { MAX_DELAY_SECONDS } from "../../../shared/contract/messages.ts";
import { type Clock, SECOND } from "../../../shared/kernel/clock.ts";
import { endExperienceQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { findExperience } from "../../../shared/store/experiences/experiences.ts";
import { endExperience } from "../../../shared/store/experiences/life.ts";

/** How long a draft is checked again after its timer was set: its publishing may still be in progress. */
const PUBLISHING_MS = 60 * SECOND;
const PUBLISHING_RETRY_SECONDS = 10;

export const endExperiences = queueWorker(
  "end-experience",
  "Ends experiences at their end_at.",
  [storeWrite, endExperienceQueue],
  async (message, { store, endExperienceQueue: queue, clock, log }) => {
    const experience = await findExperience(store, message.experience);
    if (experience?.status === "draft" && clock.now() < message.since + PUBLISHING_MS)
      return queue.send([message], { delaySeconds: PUBLISHING_RETRY_SECONDS });
    if ((experience?.status !== "live" && experience?.status !== "paused") || !experience.end_at)
      return log({ level: "info", message: "an experience was not ended", status: experience?.status, ...message });
    const early = secondsUntil(clock, experience.end_at);
    if (early > 0) return queue.send([message], { delaySeconds: Math.min(MAX_DELAY_SECONDS, early) });
    await endExperience(store, message.experience, Date.parse(experience.end_at));
  },
);

/** Positive if the clock of the due worker is ahead of this one. */
const secondsUntil = ({ now }: Pick<Clock, "now">, at: string) => Math.ceil((Date.parse(at) - now()) / SECOND);
