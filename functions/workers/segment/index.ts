// Keeps dynamic segments up to date: after a change of a subscriber, an event, or the end of a window.
import { MAX_DELAY_SECONDS, type Message } from "../../../shared/contract/messages.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { segmentQueue } from "../../../shared/runtime/resources.ts";
import { queueWorker } from "../../../shared/runtime/worker.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { dynamicSegments, type SegmentIndex } from "../../../shared/store/segments/active.ts";
import { reevaluate, type Subject } from "../../../shared/store/segments/reevaluation.ts";
import { ownersOf } from "../../../shared/store/subscribers/aliases.ts";

const uses = [storeWrite, timers, segmentQueue, dynamicSegments] as const;
type WorkerContext = Context<typeof uses>;

export const evaluateSegments = queueWorker(
  "segment",
  "Keeps subscribers in the dynamic segments that they belong to.",
  uses,
  async (message, context) => {
    const { store, timers, segmentQueue: queue, dynamicSegments, clock } = context;
    if (message.window) {
      // The clock of another process was ahead: the window has not ended yet.
      const early = message.window.at - clock.now();
      if (early > 0)
        return queue.send([message], { delaySeconds: Math.min(MAX_DELAY_SECONDS, Math.ceil(early / SECOND)) });
    }
    const { version } = message;
    const known = version === undefined ? undefined : Promise.resolve({ version });
    const index = await dynamicSegments.of(store.tenant, known);
    if (index.rules.size === 0) return;
    const rules = {
      first: index.rules,
      now: async () => (await dynamicSegments.of(store.tenant)).rules,
    };
    await reevaluate(store, timers, rules, await collectSubjects(context, message, index));
  },
);

/** Merges two entries about one subscriber. A value that one of them does not know is unknown. */
const merged = (first: Subject, second: Subject): Subject => ({
  subscriber: first.subscriber,
  segments: first.segments && second.segments && new Set([...first.segments, ...second.segments]),
  firedAt: second.firedAt ?? first.firedAt,
  at: first.at === undefined || second.at === undefined ? undefined : Math.max(first.at, second.at),
  isHistorical: first.isHistorical === true && second.isHistorical === true,
});

/** The subscribers that a message names, each once; anonymous ids by their subscribers. */
async function collectSubjects(
  { store }: WorkerContext,
  message: Message<"segment">,
  index: SegmentIndex,
): Promise<Subject[]> {
  const subjects = new Map<string, Subject>();
  const add = (
    subscriber: string,
    segments: Iterable<string> | undefined,
    { firedAt, isHistorical = false, at }: Pick<Subject, "firedAt" | "isHistorical" | "at">,
  ) => {
    const subject = { subscriber, segments: segments && new Set(segments), firedAt, at, isHistorical };
    const existing = subjects.get(subscriber);
    subjects.set(subscriber, existing ? merged(existing, subject) : subject);
  };
  if (message.window)
    add(message.window.subscriber, index.windowed, { firedAt: message.window.at, at: message.window.at });
  for (const { id, segments, historical, at } of message.subscribers)
    add(id, segments, { isHistorical: historical === true, at });
  const anonymousIds = message.visitors.map(({ anonymous }) => anonymous);
  const owners = await ownersOf(store, anonymousIds);
  for (const { anonymous, segments, at } of message.visitors) {
    const owner = owners.get(anonymous);
    if (owner !== undefined) add(owner, segments, { at });
  }
  return [...subjects.values()];
}
