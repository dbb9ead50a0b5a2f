// Jobs that are to be dispatched, and held ones that were let go after their time or after they had begun.
import type { Clock } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { fanOutQueue } from "../../../shared/resources.ts";
import type { JobStatus } from "../../../shared/rules/job-states.ts";
import { JobItem } from "../../../shared/store/sends/job-items.ts";
import { becomes, type Change, type Changes } from "./change.ts";

export const sendUses = [fanOutQueue] as const;

export async function queueSends(
  changes: Changes,
  { fanOutQueue, clock }: Context<typeof sendUses> & { clock: Clock },
): Promise<void> {
  const jobs = changes.of(JobItem, "job");
  await fanOutQueue.send([
    ...jobs.filter(becomes("queued")).map(({ tenant, after }) => ({ tenant, job: after.id })),
    ...jobs.filter(isOverdue(clock.now())).map(({ tenant, after }) => ({ tenant, job: after.id, due: true })),
    ...jobs.filter(isReleased("processing")).map(({ tenant, after }) => ({ tenant, job: after.id, release: true })),
  ]);
}

const isReleased =
  (status: JobStatus) =>
  ({ before, after }: Change<typeof JobItem>): boolean =>
    before?.held === true && after.held === undefined && after.status === status;

/** Its timer has come and gone while it was held. */
const isOverdue = (now: number) => (change: Change<typeof JobItem>) =>
  isReleased("scheduled")(change) && Date.parse(change.after.scheduled_at ?? "") <= now;
