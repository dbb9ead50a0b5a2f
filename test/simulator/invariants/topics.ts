// No message of a topic reaches a subscriber who was not in it when its group was prepared; who stayed in it is in the
// audience. The last choice is what counts.
import { SECOND } from "../../../shared/kernel/clock.ts";
import { laneOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { audienceOf, inboxRow, jobRowsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { mustHold, type Topic } from "../ledger.ts";

/** A worker may have read the subscriber so long before it sends: an invocation, and a group that was held up. */
const UNDER_WAY_MS = 75 * SECOND;
const AHEAD_MS = 5 * SECOND;

/** Whether a subscriber is certainly in a topic, or certainly not, from then until `to`. */
function standingIn({ isInByDefault, choices }: Topic, person: string, from: number, to: number): boolean | undefined {
  const made = choices.get(person) ?? [];
  const before = made.filter(({ doneAt }) => doneAt <= from);
  if (made.some((choice) => !before.includes(choice) && choice.from <= to)) return undefined;
  return before.at(-1)?.isIn ?? isInByDefault;
}

export const topics: Invariant = {
  name: "topics",
  watch: (world, broken) => {
    const { ledger, mirror, kernel, profile } = world;
    const reach = (job: string, person: string) => {
      const send = ledger.byJob.get(job);
      const topic = send?.topic === undefined ? undefined : ledger.topics.get(send.topic);
      if (!send || !topic) return;
      const at = kernel.now();
      // What was chosen before the send was asked for was read by all that happens since.
      const from = Math.max(at - UNDER_WAY_MS, send.startedAt) - AHEAD_MS - 2 * profile.skewMs;
      if (standingIn(topic, person, from, at) === false)
        broken(`${person} is not in the topic ${send.topic} and got job ${job}`, person, job);
    };
    world.onProviderCall(({ job, subscriber }) => reach(job, subscriber));
    return {
      commit: ({ pk, sk, before, after }) => {
        const row = inboxRow(pk, sk);
        if (row && after && !before) reach(String(after.job), row.subscriber);
      },
      end: () => {
        for (const [key, { choices }] of ledger.topics)
          for (const [person, made] of choices) {
            const { tenant, erasingSince } = ledger.people.get(person)!;
            const last = made.at(-1);
            if (!last || erasingSince !== undefined || last.doneAt > kernel.now()) continue;
            const stored = mirror.get(`T#${tenant}#S${person[0]}`, person)?.[`c:topic:${key}`];
            const wanted = last.isIn ? "opted_in" : "opted_out";
            if (stored !== wanted) broken(`${person} chose to be ${wanted} of ${key} last, and is ${stored}`, person);
          }
        for (const [job, send] of ledger.byJob) {
          const topic = send.topic === undefined ? undefined : ledger.topics.get(send.topic);
          const item = mirror.get(`T#${send.tenant}#${laneOf(job)}`, job);
          if (!topic || item?.status !== "completed") continue;
          const { sent, heldOut, skipped } = audienceOf(jobRowsOf(mirror, send.tenant, job).chunks);
          const from = send.startedAt - AHEAD_MS - 2 * profile.skewMs;
          for (const person of ledger.people.values()) {
            if (!mustHold(send, person)) continue;
            const isIn = standingIn(topic, person.id, from, kernel.now());
            const isPlanned = sent.has(person.id) || heldOut.has(person.id);
            if (isIn === true && !isPlanned)
              broken(`job ${job} left out ${person.id}, who is in its topic`, job, person.id);
            if (isIn === false && (isPlanned || !skipped.has(person.id)))
              broken(`job ${job} has planned ${person.id}, who is not in its topic`, job, person.id);
          }
        }
      },
    };
  },
};
