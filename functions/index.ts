// The contents page: every group of endpoints, every worker, and the live stream, by theme. One line each.
import type { Group } from "../shared/http/endpoint.ts";
import type { Worker } from "../shared/runtime/worker.ts";
import { account } from "./api/account/index.ts";
import { agency } from "./api/agency/index.ts";
import { annotations } from "./api/annotations/index.ts";
import { assets } from "./api/assets/index.ts";
import { audit } from "./api/audit/index.ts";
import { auth } from "./api/auth/index.ts";
import { billing } from "./api/billing/index.ts";
import { brakes } from "./api/brakes/index.ts";
import { campaigns } from "./api/campaigns/index.ts";
import { channels } from "./api/channels/index.ts";
import { devices } from "./api/devices/index.ts";
import { erasures } from "./api/erasures/index.ts";
import { events } from "./api/events/index.ts";
import { experiences } from "./api/experiences/index.ts";
import { hooks } from "./api/hooks/index.ts";
import { imports } from "./api/imports/index.ts";
import { inbound } from "./api/inbound/index.ts";
import { inbox } from "./api/inbox/index.ts";
import { insights } from "./api/insights/index.ts";
import { journeys } from "./api/journeys/index.ts";
import { lists } from "./api/lists/index.ts";
import { mail } from "./api/mail/index.ts";
import { mcp } from "./api/mcp/index.ts";
import { notifications } from "./api/notifications/index.ts";
import { preferences } from "./api/preferences/index.ts";
import { recipients } from "./api/recipients/index.ts";
import { schedules } from "./api/schedules/index.ts";
import { segments } from "./api/segments/index.ts";
import { service } from "./api/service/index.ts";
import { subscribers } from "./api/subscribers/index.ts";
import { suppressions } from "./api/suppressions/index.ts";
import { team } from "./api/team/index.ts";
import { templates } from "./api/templates/index.ts";
import { tests } from "./api/tests/index.ts";
import { topics } from "./api/topics/index.ts";
import { webhooks } from "./api/webhooks/index.ts";
import { operator } from "./operator/index.ts";
import { stream } from "./stream/index.ts";
import { askConfirmation } from "./workers/ask-confirmation/index.ts";
import { attributeConversions } from "./workers/attribute/index.ts";
import { completeEvents } from "./workers/complete-events/index.ts";
import { deleteMemberships } from "./workers/delete-memberships/index.ts";
import { deliverMessages } from "./workers/deliver/index.ts";
import { discardAsset } from "./workers/discard-asset/index.ts";
import { forwardDueRows } from "./workers/due/index.ts";
import { endExperiences } from "./workers/end-experience/index.ts";
import { eraseSubscriber } from "./workers/erase/index.ts";
import { fanOutJobs } from "./workers/fan-out/index.ts";
import { importRows } from "./workers/import-rows/index.ts";
import { mailAccountToken } from "./workers/mail-account/index.ts";
import { recordMailEvent } from "./workers/mail-event/index.ts";
import { moveClock } from "./workers/move-clock/index.ts";
import { postWebhook } from "./workers/post-webhook/index.ts";
import { publishEvents } from "./workers/publish-events/index.ts";
import { purgeWorkspace } from "./workers/purge/index.ts";
import { reactToWrites } from "./workers/react/index.ts";
import { recomputeSegment } from "./workers/recompute-segment/index.ts";
import { recountWorkspace } from "./workers/recount/index.ts";
import { runCampaign } from "./workers/run-campaign/index.ts";
import { runSchedule } from "./workers/run-schedule/index.ts";
import { evaluateSegments } from "./workers/segment/index.ts";
import { stepJourney } from "./workers/step-journey/index.ts";
import { verifyChannel } from "./workers/verify-channel/index.ts";

/** In the order of the specification. */
export const groups: readonly Group[] = [
  // Subscribers and their devices.
  subscribers,
  erasures,
  suppressions,
  devices,

  // Sends, their content, and their recipients.
  notifications,
  recipients,
  tests,
  templates,
  topics,
  preferences,

  // Automatic sends, and what halts them.
  schedules,
  campaigns,
  journeys,
  brakes,

  // Segments, and the channels to a subscriber.
  segments,
  channels,
  experiences,
  assets,
  inbound,
  mail,
  inbox,

  // Data: imported, counted and exported.
  imports,
  insights,
  annotations,
  hooks,
  webhooks,
  lists,
  events,

  // Users, workspaces and agencies.
  auth,
  account,
  team,
  agency,
  audit,
  billing,

  // The service itself.
  mcp,
  service,
];

/** The folder of a worker is the name of its Lambda and of its queue, if it has one. */
export const workers: readonly Worker[] = [
  // Triggers: the table's stream, and time.
  reactToWrites,
  publishEvents,
  forwardDueRows,

  // Sends.
  fanOutJobs,
  deliverMessages,

  // The service's own mail, mails that were sent, and webhooks.
  mailAccountToken,
  recordMailEvent,
  postWebhook,

  // Files and conversions.
  importRows,
  attributeConversions,

  // Automatic sends.
  runSchedule,
  runCampaign,
  stepJourney,

  // Work that a request began.
  verifyChannel,
  completeEvents,
  deleteMemberships,
  eraseSubscriber,
  askConfirmation,
  discardAsset,
  endExperiences,

  // Segments.
  evaluateSegments,
  recomputeSegment,

  // Whole workspaces.
  recountWorkspace,
  moveClock,
  purgeWorkspace,
];

export { operator, stream };
