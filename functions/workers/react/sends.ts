// Jobs that are to be dispatched, and held ones that were let go after their time or after they had begun.
import type { Clock } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { fanOutQueue } from "../../../shared/resources.ts";
import type { JobStatus } from "../../../shared/rules/job-states.ts";
import { becomes, type Change, type Changes } from "./change.ts";

export const sendUses = [fanOutQueue] as const;

export async function dispatchQueued(
  changes: Changes,
  { fanOutQueue, clock }: Context<typeof sendUses> & { clock: Clock },
): Promise<void> {
  const jobs = changes.of("job");
  await fanOutQueue.send([
    ...jobs.filter(becomes("queued")).map(({ tenant, after }) => ({ tenant, job: String(after.id) })),
    ...jobs.filter(isOverdue(clock.now())).map(({ tenant, after }) => ({ tenant, job: String(after.id), due: true })),
    ...jobs
      .filter(isReleased("processing"))
      .map(({ tenant, after }) => ({ tenant, job: String(after.id), release: true })),
  ]);
}

const isReleased =
  (status: JobStatus) =>
  ({ before, after }: Change): boolean =>
    before?.held === true && after.held === undefined && after.status === status;

/** Its timer has come and gone while it was held. */
const isOverdue = (now: number) => (change: Change) =>
  isReleased("scheduled")(change) && Date.parse(String(change.after.scheduled_at)) <= now;
