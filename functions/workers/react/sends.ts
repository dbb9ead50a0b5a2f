// Jobs that are to be dispatched, and held ones that were let go after their time.
import type { Clock } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/parts.ts";
import { fanOutQueue } from "../../../shared/resources.ts";
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
  ]);
}

/** Its timer has come and gone while it was held. */
const isOverdue =
  (now: number) =>
  ({ before, after }: Change): boolean =>
    before?.held === true &&
    after.held === undefined &&
    after.status === "scheduled" &&
    Date.parse(String(after.scheduled_at)) <= now;
