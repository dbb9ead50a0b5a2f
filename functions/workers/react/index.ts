// What must follow from a write follows from the table's stream, here: small messages with ids, nothing else.
import { streamWorker } from "../../../shared/worker.ts";
import { assetUses, discardRemoved } from "./assets.ts";
import { campaignUses, followCampaigns } from "./campaigns.ts";
import { changesOf } from "./change.ts";
import { channelUses, verifyQueued } from "./channels.ts";
import { conversionUses, followConversions } from "./conversions.ts";
import { deleteMemberships, groupUses } from "./groups.ts";
import { importUses, startImports } from "./imports.ts";
import { followJourneys, journeyUses } from "./journeys.ts";
import { learnAttributeKeys, nameUses } from "./names.ts";
import { computeSegments, followSegments, segmentUses } from "./segments.ts";
import { dispatchQueued, sendUses } from "./sends.ts";
import { followSubscribers, subscriberUses } from "./subscribers.ts";
import { scheduleTimers, timerUses } from "./timers.ts";
import { queueWebhooks, webhookUses } from "./webhooks.ts";

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
    await scheduleTimers(changes, context);
    await dispatchQueued(changes, context);
    await followSubscribers(changes, context);
    await followCampaigns(changes, context);
    await startImports(changes, context);
    await followConversions(changes, context);
    await deleteMemberships(changes, context);
    await computeSegments(changes, context);
    await followSegments(changes, context);
    await followJourneys(changes, context);
    await queueWebhooks(changes, context);
    await verifyQueued(changes, context);
    await learnAttributeKeys(changes, context);
    await discardRemoved(changes, context);
  },
);
