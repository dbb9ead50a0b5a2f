// The difference of two rates as the API returns it (F9).
import * as v from "valibot";

const measure = (sentence: string) => v.pipe(v.nullable(v.number()), v.description(sentence));

/** @param difference what is subtracted from what */
export const liftEntries = (difference: string) => ({
  lift_percentage_points: v.pipe(v.number(), v.description(`${difference}, in percentage points`)),
  ci_low: measure("The lower end of its interval of 95 %, in percentage points; `null` where a group is empty"),
  ci_high: measure("The upper end, in percentage points"),
  p_value: measure("How likely a difference as large is by chance"),
  significant: v.pipe(v.boolean(), v.description("Whether the interval leaves out zero")),
  min_detectable_points: measure("The smallest difference that these groups would show, in percentage points"),
});
