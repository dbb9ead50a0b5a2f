// The kinds of faults of a run, and their rates. Faults end after 25 minutes; then the service must come to rest.
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import type { Random } from "./random.ts";

export const FAULTS_END_MS = 25 * MINUTE;

export interface Profile {
  name: string;
  /** Probabilities per AWS call. */
  throttle: number;
  conflict: number;
  lostReply: number;
  crash: number;
  unprocessed: number;
  /** A page of a large collection ends early, as it would at 1 MB. */
  shortPage: number;
  /** How often at most a service is hardly there for a while. */
  outages: number;
  /** Probabilities per delivery. */
  duplicate: number;
  reorder: number;
  late: number;
  scheduleTwice: number;
  /** A schedule never fires: the real service promises that it does, the sweep makes up for it anyway. */
  scheduleLost: number;
  /** How far clocks of processes are off, in milliseconds. */
  skewMs: number;
  /** A clock jumps to another difference: probability per AWS call. */
  clockJump: number;
  indexLagMs: number;
  /** An AWS call takes seconds; and, though its process is gone by then, it is carried out. Probabilities per call. */
  slow: number;
  straggle: number;
  /** How long a transaction stays in flight: others that meet it on an item get a conflict. */
  inFlightMs: number;
  /** Units per second of each partition of the table; 0: as many as there are. */
  writeUnits: number;
  /** A message or a record of the stream fails again and again: probability of each. */
  poison: number;
  /** How often at most a shard of the stream splits. */
  splits: number;
  /** Answers of providers, per call. */
  providerTransient: number;
  providerThrottle: number;
  providerPermanent: number;
  providerSilent: number;
  providerSlow: number;
  sweep: boolean;
  watchdog: boolean;
}

const calm: Profile = {
  name: "calm",
  throttle: 0,
  conflict: 0,
  lostReply: 0,
  crash: 0,
  unprocessed: 0,
  shortPage: 0.1,
  outages: 0,
  duplicate: 0.02,
  reorder: 0.1,
  late: 0,
  scheduleTwice: 0.02,
  scheduleLost: 0,
  skewMs: 0,
  clockJump: 0,
  indexLagMs: 500,
  slow: 0,
  straggle: 0,
  inFlightMs: 10,
  writeUnits: 0,
  poison: 0,
  splits: 1,
  providerTransient: 0.01,
  providerThrottle: 0.01,
  providerPermanent: 0.02,
  providerSilent: 0,
  providerSlow: 0.02,
  sweep: false,
  watchdog: false,
};

const storm: Profile = {
  name: "storm",
  throttle: 0.03,
  conflict: 0.03,
  lostReply: 0.02,
  crash: 0.004,
  unprocessed: 0.05,
  shortPage: 0.2,
  outages: 2,
  duplicate: 0.08,
  reorder: 0.3,
  late: 0.1,
  scheduleTwice: 0.05,
  scheduleLost: 0.03,
  skewMs: 2 * SECOND,
  clockJump: 0.001,
  indexLagMs: 3 * SECOND,
  slow: 0,
  straggle: 0.001,
  inFlightMs: 40,
  writeUnits: 0,
  poison: 0.001,
  splits: 2,
  providerTransient: 0.05,
  providerThrottle: 0.03,
  providerPermanent: 0.05,
  providerSilent: 0.05,
  providerSlow: 0.03,
  sweep: true,
  watchdog: true,
};

export const profiles = {
  /** Only what queues and schedules do every day, so there is no excuse for being late. */
  calm,
  /** Everything except crashes, with neither sweep nor watchdog: what was sent first must arrive. */
  firstLine: {
    ...calm,
    name: "firstLine",
    throttle: 0.03,
    conflict: 0.03,
    lostReply: 0.02,
    unprocessed: 0.05,
    shortPage: 0.2,
    outages: 2,
    duplicate: 0.08,
    reorder: 0.3,
    late: 0.05,
    scheduleTwice: 0.05,
    skewMs: 500,
    indexLagMs: 3 * SECOND,
    inFlightMs: 40,
    splits: 2,
    providerTransient: 0.04,
    providerThrottle: 0.03,
    providerPermanent: 0.04,
    providerSilent: 0.03,
    providerSlow: 0.03,
  },
  storm,
  /** Calls that take seconds, requests that outlive their processes, and clocks that are far apart and jump. */
  slow: {
    ...storm,
    name: "slow",
    throttle: 0.01,
    conflict: 0.01,
    crash: 0.002,
    outages: 0,
    skewMs: 15 * SECOND,
    clockJump: 0.01,
    slow: 0.03,
    straggle: 0.004,
    providerSlow: 0.2,
  },
  /** A table whose partitions take few writes: conflicts and throttles follow from what the processes do at once. */
  crowded: { ...storm, name: "crowded", throttle: 0, conflict: 0, crash: 0.001, inFlightMs: 120, writeUnits: 40 },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof profiles;

export const drawProfile = (random: Random): ProfileName => {
  const draw = random.next();
  if (draw < 0.45) return "storm";
  if (draw < 0.73) return "firstLine";
  if (draw < 0.83) return "slow";
  return draw < 0.91 ? "crowded" : "calm";
};
