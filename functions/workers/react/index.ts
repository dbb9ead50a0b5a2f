// What must follow from a write follows from the table's stream: small messages with ids, and nothing else.
import { throwFailures } from "../../../shared/kernel/failures.ts";
import { streamWorker } from "../../../shared/runtime/worker.ts";
import { accountUses, queueAccountMails } from "./accounts.ts";
import { assetUses, queueAssetDeletion } from "./assets.ts";
import { campaignUses, queueCampaigns } from "./campaigns.ts";
import { changesOf } from "./change.ts";
import { channelUses, queueVerifications } from "./channels.ts";
import { clockUses, queueClockMoves } from "./clocks.ts";
import { conversionUses, queueConversions } from "./conversions.ts";
import { eventUses, queueCompletions } from "./events.ts";
import { exportUses, queueExports } from "./exports.ts";
import { groupUses, queueMembershipDeletion } from "./groups.ts";
import { importUses, queueImports } from "./imports.ts";
import { journeyUses, queueJourneys } from "./journeys.ts";
import { learnAttributeKeys, nameUses } from "./names.ts";
import { planRecounts, recountUses } from "./recounts.ts";
import { indexNames, searchUses } from "./search.ts";
import { queueComputations, queueSegments, segmentUses } from "./segments.ts";
import { queueSends, sendUses } from "./sends.ts";
import { queueErasures, subscriberUses } from "./subscribers.ts";
import { scheduleTimers, timerUses } from "./timers.ts";
import { queueWebhooks, webhookUses } from "./webhooks.ts";

/** Each step is idempotent and depends on no other: it may run again for the same changes, and in any order. */
const steps = [
  scheduleTimers,
  queueSends,
  queueErasures,
  queueCampaigns,
  queueImports,
  queueExports,
  queueConversions,
  queueCompletions,
  queueMembershipDeletion,
  queueComputations,
  queueSegments,
  queueJourneys,
  queueWebhooks,
  queueVerifications,
  learnAttributeKeys,
  indexNames,
  queueAssetDeletion,
  planRecounts,
  queueAccountMails,
  queueClockMoves,
] as const;

export const reactToWrites = streamWorker(
  "react",
  "Turns writes into the messages that must follow from them.",
  [
    ...timerUses,
    ...sendUses,
    ...subscriberUses,
    ...campaignUses,
    ...importUses,
    ...exportUses,
    ...conversionUses,
    ...eventUses,
    ...groupUses,
    ...segmentUses,
    ...journeyUses,
    ...nameUses,
    ...searchUses,
    ...webhookUses,
    ...channelUses,
    ...assetUses,
    ...recountUses,
    ...accountUses,
    ...clockUses,
  ],
  async (records, context) => {
    const changes = changesOf(records);
    throwFailures(await Promise.allSettled(steps.map((step) => step(changes, context))));
  },
);
