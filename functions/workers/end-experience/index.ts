// Experiences whose end_at has come end by themselves (AMB-7), with the same effects as when somebody ends them.
import { type Clock, SECOND } from "../../../shared/clock.ts";
import { endExperienceQueue, storeWrite } from "../../../shared/resources.ts";
import { experienceOf } from "../../../shared/store/experiences/experiences.ts";
import { endExperience } from "../../../shared/store/experiences/life.ts";
import { keys } from "../../../shared/store/keys.ts";
import { queueWorker } from "../../../shared/worker.ts";

/** How long after its timer was set an experience may still be published. */
const APPEARING_MS = 60 * SECOND;
const APPEARING_RETRY_SECONDS = 10;
/** What a queue can hold a message back. */
const MAX_DELAY_SECONDS = 900;

export const endExperiences = queueWorker(
  "end-experience",
  "Ends experiences at their end_at.",
  [storeWrite, endExperienceQueue],
  async (message, { store, endExperienceQueue: queue, clock }) => {
    const item = await store.get(keys.entity(store.tenant, "experience", message.experience));
    if (!item) return;
    const { status, end_at } = experienceOf(item);
    if (status === "draft" && clock.now() < message.since + APPEARING_MS)
      return queue.send([message], { delaySeconds: APPEARING_RETRY_SECONDS });
    if ((status !== "live" && status !== "paused") || !end_at) return;
    const early = secondsUntil(clock, end_at);
    if (early > 0) return queue.send([message], { delaySeconds: Math.min(MAX_DELAY_SECONDS, early) });
    await endExperience(store, message.experience);
  },
);

/** Another clock may be ahead of ours. */
const secondsUntil = ({ now }: Pick<Clock, "now">, at: string) => Math.ceil((Date.parse(at) - now()) / SECOND);
