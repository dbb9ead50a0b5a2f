// Every invariant, one line each; those that keep account of what happened come first.
import type { Invariant } from "../invariant.ts";
import { answers } from "./answers.ts";
import { auditTrail } from "./audit.ts";
import { brakes } from "./brakes.ts";
import { campaigns } from "./campaigns.ts";
import { canceledReachesNobody } from "./canceled-reaches-nobody.ts";
import { closedBeforeComplete } from "./closed-before-complete.ts";
import { countsRecount } from "./counts-recount.ts";
import { deliveredOnce } from "./delivered-once.ts";
import { erasure } from "./erasure.ts";
import { eventsExported } from "./events-exported.ts";
import { experiences } from "./experiences.ts";
import { imports } from "./imports.ts";
import { jobsEnd } from "./jobs-end.ts";
import { journeyEntries } from "./journey-entries.ts";
import { journeyExits } from "./journey-exits.ts";
import { journeySends } from "./journey-sends.ts";
import { journeys } from "./journeys.ts";
import { leaves } from "./leaves.ts";
import { liveStreams } from "./live-streams.ts";
import { manners } from "./manners.ts";
import { memberships } from "./memberships.ts";
import { migrations } from "./migrations.ts";
import { oneJob } from "./one-job.ts";
import { pacing } from "./pacing.ts";
import { providerCalledOnce } from "./provider-called-once.ts";
import { purge } from "./purge.ts";
import { queuesDrained } from "./queues-drained.ts";
import { quota } from "./quota.ts";
import { readsStay } from "./reads-stay.ts";
import { recipients } from "./recipients.ts";
import { revocation } from "./revocation.ts";
import { sandboxWork } from "./sandbox-work.ts";
import { sandboxes } from "./sandboxes.ts";
import { schedules } from "./schedules.ts";
import { sendsAccounted } from "./sends-accounted.ts";
import { simulations } from "./simulations.ts";
import { smartChoice } from "./smart-choice.ts";
import { stepBrakes } from "./step-brakes.ts";
import { stoppedSends } from "./stopped-sends.ts";
import { stops } from "./stops.ts";
import { subscribersCounted } from "./subscribers-counted.ts";
import { suspension } from "./suspension.ts";
import { tenantWalls } from "./tenant-walls.ts";
import { timers } from "./timers.ts";
import { topics } from "./topics.ts";
import { webhookStreaks } from "./webhook-streaks.ts";
import { webhooks } from "./webhooks.ts";

export const invariants: readonly Invariant[] = [
  deliveredOnce,
  providerCalledOnce,
  canceledReachesNobody,
  closedBeforeComplete,
  countsRecount,
  sendsAccounted,
  smartChoice,
  jobsEnd,
  stoppedSends,
  stops,
  brakes,
  stepBrakes,
  campaigns,
  oneJob,
  recipients,
  timers,
  topics,
  manners,
  erasure,
  eventsExported,
  memberships,
  leaves,
  journeys,
  journeySends,
  journeyExits,
  journeyEntries,
  migrations,
  simulations,
  readsStay,
  liveStreams,
  pacing,
  purge,
  quota,
  suspension,
  revocation,
  tenantWalls,
  webhooks,
  webhookStreaks,
  schedules,
  sandboxes,
  sandboxWork,
  imports,
  experiences,
  auditTrail,
  subscribersCounted,
  answers,
  queuesDrained,
];
