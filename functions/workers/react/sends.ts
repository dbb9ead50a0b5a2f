// Jobs to dispatch; held jobs that were released after their time or after they had begun; and campaigns whose state,
// jobs or schedules changed.
import { type Clock, MINUTE } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import type { JobStatus } from "../../../shared/rules/job-states.ts";
import { deliverQueue, fanOutQueue, runCampaignQueue } from "../../../shared/runtime/resources.ts";
import { CampaignItem } from "../../../shared/store/campaigns/items.ts";
import { becomes, type Change, type Changes } from "../../../shared/store/changes.ts";
import { ScheduleItem } from "../../../shared/store/schedules/items.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { namedSingle } from "../../../shared/store/sends/jobs/single.ts";

/** Timers are fired this much early at most: clocks differ, and the row of a timer is forwarded in its minute. */
const AHEAD_MS = 2 * MINUTE;

export const sendUses = [fanOutQueue, deliverQueue] as const;

/** Queues the next step of a changed send: its dispatch, or the delivery to its one recipient. */
export async function queueSends(
  changes: Changes,
  { fanOutQueue, deliverQueue, clock }: Context<typeof sendUses> & { clock: Clock },
): Promise<void> {
  const jobs = changes.of(JobItem, "job");
  const queued = jobs.filter(becomes("queued"));
  const isSingle = ({ after }: Change<typeof JobItem>) => after.recipients !== undefined;
  await deliverQueue.send(queued.filter(isSingle).map(({ tenant, after }) => namedSingle(tenant, after)));
  const toDo =
    (kind: "dispatch" | "fire" | "resume" | "watch") =>
    ({ tenant, after }: Change<typeof JobItem>) => ({ kind, tenant, job: after.id });
  await fanOutQueue.send([
    ...queued.filter((change) => !isSingle(change)).map(toDo("dispatch")),
    ...jobs.filter(isOverdue(clock.now())).map(toDo("fire")),
    ...jobs.filter(isReleased("queued", "processing")).map(toDo("resume")),
    ...jobs
      .filter(becomes("canceled"))
      .filter(({ after }) => after.recipients === undefined && (after.ranges !== undefined || after.reserved))
      .map(toDo("watch")),
  ]);
}

/** The send was held or halted, and is neither now. */
const isReleased =
  (...statuses: JobStatus[]) =>
  ({ before, after }: Change<typeof JobItem>): boolean =>
    before !== undefined && isStopped(before) && !isStopped(after) && statuses.includes(after.status);

const isStopped = ({ held, halted }: Pick<Change<typeof JobItem>["after"], "held" | "halted">): boolean =>
  held === true || halted !== undefined;

/** Its timer has fired while it was held, or may have by the clock of another process. */
const isOverdue = (now: number) => (change: Change<typeof JobItem>) =>
  isReleased("scheduled")(change) && Date.parse(change.after.scheduled_at ?? "") <= now + AHEAD_MS;

export const campaignUses = [runCampaignQueue] as const;

/** Queues campaigns whose own status changed, or that of one of their sends or schedules. */
export async function queueCampaigns(
  changes: Changes,
  { runCampaignQueue: queue }: Context<typeof campaignUses>,
): Promise<void> {
  const touched = [
    ...changes
      .of(CampaignItem, "campaign")
      .filter(hasMoved)
      .map(({ tenant, after }) => ({ tenant, campaign: after.id })),
    ...changes
      .of(JobItem, "job")
      .filter((change) => change.after.source_type === "campaign" && hasMoved(change))
      .map(({ tenant, after }) => ({ tenant, campaign: after.source_id })),
    ...changes
      .of(ScheduleItem, "schedule")
      .filter(({ before, after }) => before?.active !== after.active)
      .map(({ tenant, after }) => ({ tenant, campaign: after.campaign_id })),
  ];
  const distinct = new Map(
    touched.flatMap(({ tenant, campaign }) =>
      campaign === undefined ? [] : [[`${tenant} ${campaign}`, { tenant, campaign }] as const],
    ),
  );
  await queue.send([...distinct.values()]);
}

const hasMoved = ({ before, after }: Change<typeof CampaignItem> | Change<typeof JobItem>) =>
  before?.status !== after.status;
