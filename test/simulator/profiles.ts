// The kinds of faults of a run, and their rates. Faults end after 25 minutes; then the service must come to rest.
import { MINUTE } from "../../shared/clock.ts";
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
  /** A schedule never fires: the real service promises that it does, the sweep makes up for it all the same. */
  scheduleLost: number;
  /** How far clocks of processes are off, in milliseconds. */
  skewMs: number;
  indexLagMs: number;
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
  indexLagMs: 500,
  sweep: false,
  watchdog: false,
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
    indexLagMs: 3_000,
  },
  storm: {
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
    skewMs: 2_000,
    indexLagMs: 3_000,
    sweep: true,
    watchdog: true,
  },
} as const satisfies Record<string, Profile>;

export type ProfileName = keyof typeof profiles;

export const drawProfile = (random: Random): ProfileName => {
  const draw = random.next();
  return draw < 0.55 ? "storm" : draw < 0.9 ? "firstLine" : "calm";
};
