// The settings of a send's brake, as the API takes and shows them (F21).
import * as v from "valibot";
import { breachReasons } from "../rules/brake.ts";
import { Timestamp } from "./schemas.ts";

const MIN_RATE = 0.0001;

const Rate = v.optional(
  v.pipe(
    v.number("must be a number"),
    v.minValue(MIN_RATE, `must be at least ${MIN_RATE}`),
    v.maxValue(1, "must be at most 1, which is never exceeded"),
  ),
);

const wholeNumber = (min: number, max: number) =>
  v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(min, `must be at least ${min}`),
    v.maxValue(max, `must be at most ${max}`),
  );

const MAX_CANARY_PERCENT = 50;
const MAX_CANARY_WAIT_MINUTES = 1_440;
const MAX_AUDIENCE = 1_000_000_000;

const fields = {
  canary_percent: v.optional(wholeNumber(1, MAX_CANARY_PERCENT)),
  canary_wait_minutes: v.optional(wholeNumber(1, MAX_CANARY_WAIT_MINUTES)),
  max_error_rate: Rate,
  max_bounce_rate: Rate,
  max_complaint_rate: Rate,
  max_opt_out_rate: Rate,
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
