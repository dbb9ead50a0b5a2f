// The stored form of what is counted of the sends to one subscriber, by quarter-hours.
import * as v from "valibot";
import { item } from "../../item.ts";
import { json } from "../../json-text.ts";
import type { JobLane } from "../jobs/job-ids.ts";

export const QuarterItem = item({
  about: "What is counted of the sends to one subscriber of a quarter-hour, by the partition of their jobs.",
  pk: () => "QUARTERS",
  sk: ({ quarter, lane }: { quarter: number; lane: JobLane }) => `${quarter}#${lane}`,
  row: { totals: json<Record<string, number>>(), rev: v.number() },
  writers: ["fan-out", "recount"],
});
