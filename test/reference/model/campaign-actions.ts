// What a user does with a campaign that was released (CMP-21 to CMP-24, AMB-13, AMB-67, AMB-113, AMB-138).
import { note } from "./annotations.ts";
import { completeIfDone, jobDispatched, jobsOf } from "./campaign-moves.ts";
import { cancelJob } from "./closing.ts";
import type { Body } from "./kit.ts";
import type { Campaign } from "./records/plans.ts";
import type { Job } from "./records/sends.ts";
import { nextRun } from "./schedules.ts";
import { schedule } from "./sending.ts";
import { at, type World } from "./world.ts";

export const isOpen = ({ status }: Job) => ["scheduled", "queued", "processing"].includes(status);

function hold(world: World, campaign: Campaign): void {
  for (const job of jobsOf(world, campaign)) if (isOpen(job)) job.held = true;
}

/** AMB-138. */
export const OVERDUE = ["keep_distance", "now", "skip"];

/** AMB-138. @param overdue what becomes of messages whose time has passed; undefined: they stay held */
function letGo(world: World, campaign: Campaign, overdue: string | undefined): void {
  const held = jobsOf(world, campaign).filter((job) => job.held && isOpen(job));
  let last = Number.NEGATIVE_INFINITY;
  let planned = Number.NEGATIVE_INFINITY;
  for (const job of held.toSorted((a, b) => dueOf(a) - dueOf(b))) {
    const due = dueOf(job);
    if (due <= world.now && overdue === undefined) continue;
    job.held = false;
    if (overdue === "skip" && due <= world.now && job.dispatched_at === null) {
      job.stopped = [];
      cancelJob(world, job);
      campaign.moved[job.id] = null;
      continue;
    }
    for (const goOn of job.stopped.splice(0)) goOn();
    // What was handed over in part goes on at once.
    const isBegun = job.dispatched_at !== null;
    const keeps = !isBegun && last > Number.NEGATIVE_INFINITY && (overdue ?? OVERDUE[0]) === OVERDUE[0];
    const time = Math.max(due, world.now, keeps ? last + (due - planned) : Number.NEGATIVE_INFINITY);
    [last, planned] = [time, due];
    if (overdue !== undefined) campaign.moved[job.id] = time;
    const { scheduled_at } = job;
    schedule(world, job, time);
    // One that goes out late keeps the time that it was planned for.
    job.scheduled_at ??= scheduled_at;
  }
}

const dueOf = (job: Job) => job.scheduled_at ?? job.created_at;

/** AMB-67: each gives back only what it switched off itself. */
function switchSchedules(world: World, campaign: Campaign, isOn: boolean, by: string): void {
  for (const row of world.schedules.filter(({ spec }) => spec.campaign_id === campaign.id)) {
    if (!isOn && row.active) Object.assign(row, { active: false, switched_off_by: by, next_run_at: null });
    if (isOn && row.switched_off_by === by) {
      Object.assign(row, { active: true, switched_off_by: null });
      nextRun(world, row);
    }
  }
}

type Run = (world: World, campaign: Campaign, body: Body) => void;
export const ACTIONS: Record<string, { from: string[]; run: Run }> = {
  /** CMP-21, AMB-113. */
  pause: {
    from: ["scheduled", "live"],
    run: (world, campaign) => {
      campaign.status = "paused";
      hold(world, campaign);
      switchSchedules(world, campaign, false, "pause");
    },
  },
  /** CMP-22, AMB-13: always `scheduled` in the answer; it moves on by itself, at once where a part was handed over. */
  resume: {
    from: ["paused"],
    run: (world, campaign, { overdue = OVERDUE[0] }) => {
      campaign.status = "scheduled";
      campaign.moved = {};
      at(world, world.now, () => {
        for (const job of jobsOf(world, campaign)) if (job.dispatched_at !== null) jobDispatched(world, job);
        // Nothing is left to come where all that was overdue is skipped.
        if (!jobsOf(world, campaign).some(isOpen)) campaign.status = "live";
        completeIfDone(world, campaign);
      });
      letGo(world, campaign, overdue);
      switchSchedules(world, campaign, true, "pause");
    },
  },
  /** CMP-23. */
  archive: {
    from: ["draft", "scheduled", "live", "completed", "paused"],
    run: (world, campaign) => {
      campaign.before_archive = campaign.status;
      campaign.status = "archived";
      hold(world, campaign);
      switchSchedules(world, campaign, false, "archive");
    },
  },
  /** CMP-24, AMB-54: exactly the status before; what is overdue stays held. */
  unarchive: {
    from: ["archived"],
    run: (world, campaign) => {
      campaign.status = campaign.before_archive!;
      if (campaign.status !== "paused") letGo(world, campaign, undefined);
      switchSchedules(world, campaign, true, "archive");
    },
  },
};

/** AMB-119. */
export function pauseByForce(world: World, campaign: Campaign): void {
  note(world, "campaign_paused", campaign.id);
  ACTIONS.pause!.run(world, campaign, {});
}
