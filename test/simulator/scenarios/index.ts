// Every scenario, one line each.
import type { Scenario } from "../invariant.ts";
import { events } from "./events.ts";
import { inbox } from "./inbox.ts";
import { sends } from "./sends.ts";
import { timersScenario } from "./timers.ts";

export const scenarios: readonly Scenario[] = [sends, inbox, timersScenario, events];
