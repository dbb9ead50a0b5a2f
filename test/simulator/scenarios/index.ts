// Every scenario, one line each.
import type { Scenario } from "../invariant.ts";
import { events } from "./events.ts";
import { inbox } from "./inbox.ts";
import { journeys } from "./journeys.ts";
import { serverKeys } from "./keys.ts";
import { live } from "./live.ts";
import { pushes } from "./pushes.ts";
import { quota } from "./quota.ts";
import { segments } from "./segments.ts";
import { sends } from "./sends.ts";
import { suspension } from "./suspension.ts";
import { timersScenario } from "./timers.ts";

/** Some come more often than others: by their place in this list a seed has its scenario. */
export const scenarios: readonly Scenario[] = [
  sends,
  inbox,
  timersScenario,
  sends,
  live,
  suspension,
  events,
  sends,
  quota,
  timersScenario,
  serverKeys,
  segments,
  pushes,
  journeys,
];
