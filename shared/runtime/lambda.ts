// The parts of a deployed function: the real clients, clock, ids, environment and log
// (docs/decisions/0021#composition-root).
import type { Deps } from "../kernel/deps.ts";
import { writeLog } from "../kernel/log.ts";
import { awsClients } from "./aws.ts";
import { withMetrics } from "./metrics.ts";
import { systemClock, systemIds } from "./system.ts";

export const deployedDeps = (): Deps => ({
  aws: awsClients(),
  clock: systemClock,
  ids: systemIds,
  env: process.env,
  log: (entry) => writeLog(withMetrics(entry, systemClock.now())),
});
