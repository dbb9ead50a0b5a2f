// The settings of a send's brake, as the API takes and shows them (F21).
import * as v from "valibot";
import { breachReasons, SAFETY_BOUNDS } from "../rules/brake.ts";
import { said, Timestamp, titled, WholeNumber } from "./schemas.ts";

interface Bounds {
  about: string;
  min: number;
  max: number;
}

const rate = ({ about, min, max }: Bounds) =>
  v.pipe(
    v.number(),
    v.minValue(min),
    v.maxValue(max, `must be at most ${max}, which is never exceeded`),
    v.description(about),
  );

const wholeNumber = ({ about, min, max }: Bounds) => said(about, WholeNumber(min, max));

const audience = { about: "Only sends to more subscribers than this have the brake", min: 0, max: 1_000_000_000 };

const fields = {
  canary_percent: v.optional(wholeNumber(SAFETY_BOUNDS.canary_percent)),
  canary_wait_minutes: v.optional(wholeNumber(SAFETY_BOUNDS.canary_wait_minutes)),
  max_error_rate: v.optional(rate(SAFETY_BOUNDS.max_error_rate)),
  max_bounce_rate: v.optional(rate(SAFETY_BOUNDS.max_bounce_rate)),
  max_complaint_rate: v.optional(rate(SAFETY_BOUNDS.max_complaint_rate)),
  max_opt_out_rate: v.optional(rate(SAFETY_BOUNDS.max_opt_out_rate)),
};

/** The limits of one send. Omitted ones are the workspace's. */
export const Safety = v.pipe(v.strictObject(fields), v.title("Safety"));

/** `null` switches the brake off. */
export const SafetyInput = said(
  "The limits at which it halts by itself. Left out: the workspace's. `null`: none",
  v.nullable(Safety),
);
export type SafetyInput = v.InferOutput<typeof SafetyInput>;

/** The limits of sends without limits of their own. */
export const DefaultSafety = v.pipe(
  v.strictObject({ min_audience: wholeNumber(audience), ...fields }),
  v.title("DefaultSafety"),
);

const text = ({ about }: { about: string }) => said(about, v.string());
const number = ({ about }: { about: string }) => said(about, v.number());

/** Why a send halted. */
export const Halt = titled("Halt", {
  at: said("When it halted", Timestamp),
  reason: said("Which limit was exceeded", v.picklist(breachReasons)),
  channel: text({ about: "The type of the channel that it is about" }),
  rate: number({ about: "`count` over `tried`" }),
  limit: number({ about: "The share at which it halts, from 0 to 1" }),
  count: number({ about: "Errors, bounces, complaints or opt-outs" }),
  tried: number({ about: "The messages that the rate is of" }),
});
