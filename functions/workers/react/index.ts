// Reactions to writes, from the table's stream: small messages with ids, and nothing else.
import { throwFailures } from "../../../shared/kernel/failures.ts";
import { streamWorker } from "../../../shared/runtime/worker.ts";
import { changesOf } from "../../../shared/store/changes.ts";
import { conversionUses, eventUses, queueCompletions, queueConversions } from "./events.ts";
import { journeyUses, queueJourneys } from "./journeys.ts";
import { messageUses, queueMessages } from "./messages.ts";
import { queueComputations, queueSegments, segmentUses } from "./segments.ts";
import { campaignUses, queueCampaigns, queueSends, sendUses } from "./sends.ts";
import { indexNames, learnAttributeKeys, nameUses, planRecounts, recountUses, searchUses } from "./subscribers.ts";
import { scheduleTimers, timerUses } from "./timers.ts";
import { queueWebhooks, webhookUses } from "./webhooks.ts";

/** Each step is idempotent and depends on no other: it may run again for the same changes, and in any order. */
const steps = [
  scheduleTimers,
  queueSends,
  queueMessages,
  queueCampaigns,
  queueConversions,
  queueCompletions,
  queueComputations,
  queueSegments,
  queueJourneys,
  queueWebhooks,
  learnAttributeKeys,
  indexNames,
  planRecounts,
] as const;

export const reactToWrites = streamWorker(
  "react",
  "Turns writes into the messages that must follow from them.",
  [
    ...timerUses,
    ...sendUses,
    ...messageUses,
    ...campaignUses,
    ...conversionUses,
    ...eventUses,
    ...segmentUses,
    ...journeyUses,
    ...nameUses,
    ...searchUses,
    ...webhookUses,
    ...recountUses,
  ],
  async (records, context) => {
    const changes = changesOf(records);
    throwFailures(await Promise.allSettled(steps.map((step) => step(changes, context))));
  },
);
