// What must follow from a write follows from the table's stream: small messages with ids, and nothing else.
import { streamWorker } from "../../../shared/worker.ts";
import { assetUses, queueAssetDeletion } from "./assets.ts";
import { campaignUses, queueCampaigns } from "./campaigns.ts";
import { changesOf } from "./change.ts";
import { channelUses, queueVerifications } from "./channels.ts";
import { conversionUses, queueConversions } from "./conversions.ts";
import { groupUses, queueMembershipDeletion } from "./groups.ts";
import { importUses, queueImports } from "./imports.ts";
import { journeyUses, queueJourneys } from "./journeys.ts";
import { learnAttributeKeys, nameUses } from "./names.ts";
import { queueComputations, queueSegments, segmentUses } from "./segments.ts";
import { queueSends, sendUses } from "./sends.ts";
import { countSubscribers, queueErasures, subscriberUses } from "./subscribers.ts";
import { scheduleTimers, timerUses } from "./timers.ts";
import { queueWebhooks, webhookUses } from "./webhooks.ts";

/** Each step is idempotent and depends on no other: it may run again for the same changes, and in any order. */
const steps = [
  scheduleTimers,
  queueSends,
  queueErasures,
  queueCampaigns,
  queueImports,
  queueConversions,
  queueMembershipDeletion,
  queueComputations,
  queueSegments,
  queueJourneys,
  queueWebhooks,
  queueVerifications,
  learnAttributeKeys,
  queueAssetDeletion,
] as const;

export const react = streamWorker(
  "react",
  "Turns writes into the messages that must follow from them.",
  [
    ...timerUses,
    ...sendUses,
    ...subscriberUses,
    ...campaignUses,
    ...importUses,
    ...conversionUses,
    ...groupUses,
    ...segmentUses,
    ...journeyUses,
    ...nameUses,
    ...webhookUses,
    ...channelUses,
    ...assetUses,
  ],
  async (records, context) => {
    const changes = changesOf(records);
    const outcomes = await Promise.allSettled(steps.map((step) => step(changes, context)));
    const failures = outcomes.filter((outcome) => outcome.status === "rejected").map(({ reason }) => reason);
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
    // Not idempotent: it comes last, so that a step that failed does not count a subscriber twice.
    await countSubscribers(changes, context);
  },
);
