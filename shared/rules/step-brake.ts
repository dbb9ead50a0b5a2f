// The brake of a journey's send step (F21, docs/decisions/0077): how many messages may be in progress, by the figures
// of the last ones. A step has lanes, each with its own bound, so that workers cannot pass it together.
import { MINUTE, SECOND } from "../kernel/clock.ts";
import { DEFAULT_CANARY_WAIT_MINUTES, isCanary, type Limits, type Safety } from "./brake.ts";
import { addedUp } from "./counting.ts";

export const LANES = 8;
/** Messages of a lane that may be in progress before the first figures. A pack of runs is smaller. */
const FIRST_MESSAGES = 50;
/** The figures of a lane are those of the last messages: of one to two times this many. */
const LANE_WINDOW = 125;
const WAIT_MS = { min: 5 * SECOND, max: 15 * 60 * SECOND };

type ByChannel = Readonly<Record<string, number>>;

/** The figures of messages: how many were tried once, by channel type, and how many of these failed. */
export interface StepAttempts {
  tried: ByChannel;
  errors: ByChannel;
  /** Messages of sends that were worked through once. */
  passed: number;
}

export const NO_STEP_ATTEMPTS: StepAttempts = { tried: {}, errors: {}, passed: 0 };

export const attemptsOf = (parts: readonly StepAttempts[]): StepAttempts =>
  parts.reduce(
    (sum, { tried, errors, passed }) => ({
      tried: addedUp([sum.tried, tried]),
      errors: addedUp([sum.errors, errors]),
      passed: sum.passed + passed,
    }),
    NO_STEP_ATTEMPTS,
  );

/** A window of two halves. */
export interface StepWindow {
  now: StepAttempts;
  before: StepAttempts;
}

/** Adds new figures. A full half is kept while the next one fills. */
export function slide({ now, before }: StepWindow, more: StepAttempts): StepWindow {
  const sum = attemptsOf([now, more]);
  return sum.passed >= LANE_WINDOW ? { now: NO_STEP_ATTEMPTS, before: sum } : { now: sum, before };
}

/**
 * How many messages of a lane may be in progress: few at first, and if the errors are above their limit but not
 * certainly.
 */
export function laneBound({ max_error_rate: limit }: Limits, { tried, errors, passed }: StepAttempts): number {
  const isSuspect =
    limit !== undefined && Object.entries(errors).some(([channel, n]) => n > limit * (tried[channel] ?? 0));
  return isSuspect ? FIRST_MESSAGES : Math.max(FIRST_MESSAGES, Math.floor(passed / LANES));
}

/** When a run that found no room checks again: the older the oldest send, the later. */
export const askStepAgainIn = (oldestMs: number): number => Math.min(WAIT_MS.max, Math.max(WAIT_MS.min, oldestMs));

/**
 * When a person outside the canary of a step goes on; undefined if they need not wait. @param times when the first run
 * arrived at the step, and now, in milliseconds
 */
export function canaryEnd(
  { journey, version, step }: { journey: string; version: number; step: string },
  subscriber: string,
  { canary_percent: percent, canary_wait_minutes: minutes = DEFAULT_CANARY_WAIT_MINUTES }: Safety,
  { began, now }: { began: number; now: number },
): number | undefined {
  const ends = began + minutes * MINUTE;
  const isOver = percent === undefined || now >= ends;
  return isOver || isCanary(`${journey}:${version}:${step}`, subscriber, percent) ? undefined : ends;
}
