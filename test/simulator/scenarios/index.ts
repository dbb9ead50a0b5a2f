// Every scenario, one line each.
import type { Scenario } from "../invariant.ts";
import { brakes } from "./brakes.ts";
import { campaigns } from "./campaigns.ts";
import { channels } from "./channels.ts";
import { delays } from "./delays.ts";
import { events } from "./events.ts";
import { experiences } from "./experiences.ts";
import { farewells } from "./farewells.ts";
import { imports } from "./imports.ts";
import { inbox } from "./inbox.ts";
import { journeys } from "./journeys.ts";
import { serverKeys } from "./keys.ts";
import { leaves } from "./leaves.ts";
import { live } from "./live.ts";
import { neighbours } from "./neighbours.ts";
import { nights } from "./nights.ts";
import { pacing } from "./pacing.ts";
import { packs } from "./packs.ts";
import { pushes } from "./pushes.ts";
import { quota } from "./quota.ts";
import { sandboxes } from "./sandboxes.ts";
import { schedules } from "./schedules.ts";
import { segments } from "./segments.ts";
import { sends } from "./sends.ts";
import { singles } from "./singles.ts";
import { stepBrakes } from "./step-brakes.ts";
import { suspension } from "./suspension.ts";
import { targets } from "./targets.ts";
import { timersScenario } from "./timers.ts";
import { topics } from "./topics.ts";
import { versions } from "./versions.ts";
import { webhooks } from "./webhooks.ts";

/** Some come more often than others: by their place in this list a seed has its scenario. */
export const scenarios: readonly Scenario[] = [
  sends,
  inbox,
  timersScenario,
  sends,
  live,
  suspension,
  events,
  neighbours,
  quota,
  timersScenario,
  serverKeys,
  segments,
  pushes,
  nights,
  journeys,
  campaigns,
  webhooks,
  targets,
  schedules,
  imports,
  packs,
  experiences,
  channels,
  singles,
  versions,
  brakes,
  stepBrakes,
  topics,
  leaves,
  delays,
  farewells,
  pacing,
  sandboxes,
];

/** Short ones that make every kind of request to AWS: for runs through the SDK, which cost twice as much. */
export const brief: readonly Scenario[] = [neighbours, pushes, serverKeys, events];
