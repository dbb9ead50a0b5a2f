// What a send changed: those who got it beside those who were held out, with interval and sentence.
import type { CampaignsGetReportAnswer, InsightsGetLiftAnswer } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { pathTo } from "../app/router.ts";
import { amount, plural, share } from "../app/time.ts";
import { Card, Facts } from "./page.tsx";
import { Loaded, Skeleton } from "./states.tsx";

const SIGNS = { "-1": "−", 0: "", 1: "+" } as const;
const points = (value: number): string => `${SIGNS[Math.sign(value) as -1 | 0 | 1]}${Math.abs(value).toFixed(1)}`;

export type Difference = NonNullable<CampaignsGetReportAnswer["b_over_a"]>["opened"];

/** `+1.4 points, between −0.2 and +3.0: not proven; groups of this size show differences from 1.9 points.` @param words of a sure difference, above and below zero */
function liftSentence(
  { ci_low, ci_high, significant, min_detectable_points, ...lift }: Difference,
  words: readonly [more: string, less: string],
): string {
  if (ci_low === null || ci_high === null) return "There are too few people in one of the groups to compare them.";
  const value = lift.lift_percentage_points;
  const found = `${points(value)} points, between ${points(ci_low)} and ${points(ci_high)}`;
  if (significant) return `${found}: ${words[value > 0 ? 0 : 1]}, at 95% confidence.`;
  const would =
    min_detectable_points === null
      ? ""
      : `; groups of this size show differences from ${min_detectable_points.toFixed(1)} points`;
  return `${found}: not proven${would}.`;
}

const groupText = ({ converters, size }: InsightsGetLiftAnswer["treated"]): string =>
  `${plural(converters, "conversion")} of ${plural(size, "person", "people")} (${share(converters, size)})`;

/** `120.00, 2.40 a person`: groups differ in size. */
const revenueText = ({ revenue_cents, size }: InsightsGetLiftAnswer["treated"]): string =>
  `${amount(revenue_cents)}${size > 0 ? `, ${amount(revenue_cents / size)} a person` : ""}`;

export function Lift({ job }: { job: string }) {
  const lift = useQuery("insights.getLift", [{ job_id: job }]);
  return (
    <Card title="Lift over the control group">
      <Loaded query={lift} skeleton={<Skeleton rows={2} />}>
        {(found) =>
          found.conversion_configured ? (
            <>
              <Compared difference={found} words={["it works", "it does harm"]} />
              <Facts
                of={[
                  ["Received it", groupText(found.treated)],
                  ["Control group", groupText(found.holdout)],
                  ["Revenue, received it", revenueText(found.treated)],
                  ["Revenue, control group", revenueText(found.holdout)],
                  ["Counted", `conversions within ${plural(found.window_days, "day")}`],
                ]}
              />
            </>
          ) : (
            <p>
              No event counts as a conversion yet. <a href={pathTo("settings", "conversions")}>Set up conversions</a>
            </p>
          )
        }
      </Loaded>
    </Card>
  );
}

interface ComparedProps {
  /** What is compared. */
  of?: string;
  difference: Difference;
  words: readonly [more: string, less: string];
}

/** A difference in words, and its interval. */
export const Compared = ({ of, difference, words }: ComparedProps) => (
  <>
    <p>
      {of && `${of}: `}
      <b>{liftSentence(difference, words)}</b>
    </p>
    <Interval lift={difference} />
  </>
);

/** Labels that are nearer would cover each other. */
const LABEL_WIDTH = 26;

/** A dot and its interval across zero. The sentence above says the same in words. */
function Interval({ lift: { lift_percentage_points: value, ci_low, ci_high } }: { lift: Difference }) {
  if (ci_low === null || ci_high === null) return null;
  const reach = Math.max(1, Math.abs(ci_low), Math.abs(ci_high)) * 1.15;
  const at = (one: number) => 150 + (150 * one) / reach;
  return (
    <svg class="interval" viewBox="0 0 300 44" aria-hidden="true">
      <line class="axis" x1="0" x2="300" y1="16" y2="16" />
      <line class="zero" x1="150" x2="150" y1="4" y2="28" />
      <line class="range" x1={at(ci_low)} x2={at(ci_high)} y1="16" y2="16" />
      <circle cx={at(value)} cy="16" r="5" />
      {Math.min(Math.abs(at(ci_low) - 150), Math.abs(at(ci_high) - 150)) > LABEL_WIDTH && (
        <text x="150" y="41" text-anchor="middle">
          0
        </text>
      )}
      <text x={at(ci_low)} y="41" text-anchor="middle">
        {points(ci_low)}
      </text>
      <text x={at(ci_high)} y="41" text-anchor="middle">
        {points(ci_high)}
      </text>
    </svg>
  );
}
