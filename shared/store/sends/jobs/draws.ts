// The draws of a send for its recipients.
import { armOf, HALF } from "../../../rules/split.ts";
import type { JobRecord } from "./job-record.ts";

type DrawnJob = Pick<JobRecord, "id" | "draw" | "split_percentage">;

/** The unit under which holdout and arms were drawn. */
export const drawIdOf = ({ id, draw }: Pick<JobRecord, "id" | "draw">): string => draw ?? id;

/** The arm of a subscriber in a send with two (ABH-1). */
export const armIn = (job: DrawnJob, subscriber: string): "a" | "b" =>
  armOf(drawIdOf(job), subscriber, job.split_percentage ?? HALF);
