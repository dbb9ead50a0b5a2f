// The settings of a send's brake, as the API takes and shows them (F21).
import * as v from "valibot";
import { breachReasons, SAFETY_BOUNDS } from "../rules/brake.ts";
import { Timestamp } from "./schemas.ts";

const numberFrom = ({ min, max }: { min: number; max: number }) =>
  v.pipe(
    v.number("must be a number"),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}${max === 1 ? ", which is never exceeded" : ""}`),
  );

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const MAX_AUDIENCE = 1_000_000_000;

const { canary_percent: percent, canary_wait_minutes: minutes } = SAFETY_BOUNDS;

const fields = {
  canary_percent: v.optional(wholeNumber(percent.min, percent.max)),
  canary_wait_minutes: v.optional(wholeNumber(minutes.min, minutes.max)),
  max_error_rate: v.optional(numberFrom(SAFETY_BOUNDS.max_error_rate)),
  max_bounce_rate: v.optional(numberFrom(SAFETY_BOUNDS.max_bounce_rate)),
  max_complaint_rate: v.optional(numberFrom(SAFETY_BOUNDS.max_complaint_rate)),
  max_opt_out_rate: v.optional(numberFrom(SAFETY_BOUNDS.max_opt_out_rate)),
};

/** The limits of one send. Those left out are the workspace's. */
export const Safety = v.pipe(v.strictObject(fields), v.title("Safety"));

/** `null` switches the brake off. */
export const SafetyInput = v.nullable(Safety);
export type SafetyInput = v.InferOutput<typeof SafetyInput>;

/** The limits of sends without limits of their own. */
export const DefaultSafety = v.pipe(
  v.strictObject({ min_audience: wholeNumber(0, MAX_AUDIENCE), ...fields }),
  v.title("DefaultSafety"),
);

/** Why a send halted. */
export const Halt = v.pipe(
  v.object({
    at: Timestamp,
    reason: v.picklist(breachReasons),
    channel: v.string(),
    rate: v.number(),
    limit: v.number(),
    count: v.number(),
    tried: v.number(),
  }),
  v.title("Halt"),
);
