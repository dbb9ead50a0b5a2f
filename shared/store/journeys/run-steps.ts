// The outcomes at the steps of a run, as the API returns them.
import * as v from "valibot";
import { said } from "../../contract/schemas.ts";
import { compareTexts } from "../../kernel/order.ts";
import { familyOf } from "../families.ts";
import type { RunRow } from "./run-items.ts";

export const RunSteps = said(
  "What happened at the steps that it took, in the order of their ids",
  v.array(
    v.object({
      step: said("The id of the step", v.string()),
      outcome: said("`sent`, `failed`, `bounced`, `skipped:no_consent`, `delayed`, `wait:timeout` …", v.string()),
      count: said("How often: a run may come back to a step", v.number()),
    }),
  ),
);

/** The outcomes at its steps: `o:<step>|<outcome>`. */
export const stepsOf = (row: RunRow): v.InferOutput<typeof RunSteps> =>
  familyOf(row, "o:")
    .filter(([_, count]) => count > 0)
    .map(([name, count]) => {
      const at = name.lastIndexOf("|");
      return { step: name.slice(0, at), outcome: name.slice(at + 1), count };
    })
    .sort((a, b) => compareTexts(a.step, b.step) || compareTexts(a.outcome, b.outcome));
