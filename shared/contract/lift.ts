// The difference of two rates as the API returns it (F9).
import * as v from "valibot";
import { said } from "./schemas.ts";

const measure = (sentence: string) => said(sentence, v.nullable(v.number()));

/** The fields of a lift. @param difference which rate is subtracted from which */
export const liftEntries = (difference: string) => ({
  lift_percentage_points: said(`${difference}, in percentage points`, v.number()),
  ci_low: measure("The lower end of its interval of 95%, in percentage points; `null` where a group is empty"),
  ci_high: measure("The upper end, in percentage points"),
  p_value: measure("How likely a difference as large is by chance"),
  significant: said("Whether the interval leaves out zero", v.boolean()),
  min_detectable_points: measure("The smallest difference that these groups would show, in percentage points"),
});
