// The parts of a deployed function: the real clients, clock, ids, environment and log (decision 15).
import { awsClients } from "./aws.ts";
import { systemClock, systemIds } from "./clock.ts";
import { writeLog } from "./log.ts";
import { withMetrics } from "./metrics.ts";
import type { Parts } from "./parts.ts";

export const deployedParts = (): Parts => ({
  aws: awsClients(),
  clock: systemClock,
  ids: systemIds,
  env: process.env,
  log: (entry) => writeLog(withMetrics(entry, systemClock.now())),
});
