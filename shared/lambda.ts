// The parts of a deployed function: the real clients, clock, ids, environment and log
// (docs/decisions/0021#composition-root).
import { awsClients } from "./aws.ts";
import { systemClock, systemIds } from "./clock.ts";
import type { Deps } from "./deps.ts";
import { writeLog } from "./log.ts";
import { withMetrics } from "./metrics.ts";

export const deployedDeps = (): Deps => ({
  aws: awsClients(),
  clock: systemClock,
  ids: systemIds,
  env: process.env,
  log: (entry) => writeLog(withMetrics(entry, systemClock.now())),
});
