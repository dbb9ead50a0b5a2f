// The embedded EventBridge Scheduler: schedules persist, and fire on the service clock.
import { isRecord, type Operations, operateOn } from "./members.ts";
import {
  checkSchedule,
  conflict,
  DEFAULT_GROUP,
  groupArn,
  groupIn,
  members,
  nameIn,
  notFound,
  pageOf,
  policyOf,
  read,
  scheduleArn,
  timingOf,
} from "./scheduler/requests.ts";
import { type Group, openSchedules, type Retry, type Schedule } from "./scheduler/schedules.ts";
import type { Deps, StandIn, Wire } from "./stand-in.ts";
import { MINUTE, SECOND } from "./time.ts";

interface FiringOptions {
  /** `false` skips rate() and cron() schedules. */
  recurring?: boolean;
  /** A recurring schedule fires once, however many of its times have passed. */
  collapse?: boolean;
}

export interface Scheduler extends StandIn {
  /** The earliest instant at which a schedule fires or a firing is retried. */
  next(which?: FiringOptions): number | undefined;
  /** Fires the schedules that are due by `now`, in the order of time. @returns how many targets were reached. */
  fireDue(now: number, which?: FiringOptions): Promise<number>;
  /** Listens to schedules that are created, which may be due before anything else. */
  onSave(listener: () => void): void;
  meter(): { created: number; deleted: number; fired: number };
  resetMeter(): void;
}

/** Delivers a firing to its target. If it throws, it is retried by the schedule's retry policy. */
export type Deliver = (target: { arn: string; input: string }) => Promise<void>;

const MAX_PAUSE = 10 * MINUTE;

export function createScheduler(deps: Deps & { deliver: Deliver }): Scheduler {
  const { clock, ids, database, deliver } = deps;
  const schedules = openSchedules(database);
  const fresh = () => ({ created: 0, deleted: 0, fired: 0 });
  const listeners = new Set<() => void>();
  let meter = fresh();
  let firing: Promise<unknown> = Promise.resolve();

  /** The group `default` always exists. */
  const findGroup = (name: string): Group | undefined =>
    schedules.group(name) ?? (name === DEFAULT_GROUP ? { name, createdAt: 0 } : undefined);

  const requireGroup = (name: string): void => {
    if (!findGroup(name)) throw notFound("ScheduleGroup", name);
  };

  const requireSchedule = (input: Wire): Schedule => {
    requireGroup(groupIn(input));
    const found = schedules.find(groupIn(input), nameIn(input));
    if (!found) throw notFound("Schedule", nameIn(input));
    return found;
  };

  /** A schedule that is due at this very instant fires too. */
  const save = (input: Wire): void => {
    const now = clock.now();
    const { recurring, next } = timingOf(input, now);
    schedules.save({
      group: groupIn(input),
      name: nameIn(input),
      input,
      createdAt: now,
      nextAt: next(recurring ? now - 1 : Number.NEGATIVE_INFINITY),
      recurring,
    });
    for (const listener of listeners) listener();
  };

  const describe = ({ group, name, input, createdAt }: Schedule): Wire => {
    const { ClientToken: _, ...asked } = input;
    return {
      ScheduleExpressionTimezone: "UTC",
      State: "ENABLED",
      ActionAfterCompletion: "NONE",
      ...asked,
      Name: name,
      GroupName: group,
      Arn: scheduleArn(group, name),
      CreationDate: createdAt / SECOND,
      LastModificationDate: createdAt / SECOND,
    };
  };

  const summarize = (schedule: Schedule): Wire => {
    const { Arn, Name, GroupName, State, CreationDate, LastModificationDate, Target } = describe(schedule);
    return { Arn, Name, GroupName, State, CreationDate, LastModificationDate, Target: { Arn: (Target as Wire).Arn } };
  };

  const operations: Operations = {
    CreateSchedule: (input) => {
      const [group, name] = [groupIn(input), nameIn(input)];
      const found = schedules.find(group, name);
      // A repeat (after a lost reply) is the same request with the same token.
      const isRepeat = input.ClientToken !== undefined && JSON.stringify(found?.input) === JSON.stringify(input);
      if (found && !isRepeat) throw conflict("Schedule", name);
      if (!found) {
        checkSchedule(input, clock.now());
        requireGroup(group);
        save(input);
        meter.created++;
      }
      return { ScheduleArn: scheduleArn(group, name) };
    },
    GetSchedule: (input) => describe(requireSchedule(input)),
    ListSchedules: (input) => {
      const group = input.GroupName === undefined ? undefined : groupIn(input);
      if (group !== undefined) requireGroup(group);
      const prefix = read.text(input, "NamePrefix") ?? "";
      const found = schedules.list(group).filter(({ name }) => name.startsWith(prefix));
      const { shown, NextToken } = pageOf(input, found, (schedule) => `${schedule.group}/${schedule.name}`);
      return { Schedules: shown.map(summarize), NextToken };
    },
    CreateScheduleGroup: (input) => {
      const name = nameIn(input);
      if (findGroup(name)) throw conflict("ScheduleGroup", name);
      schedules.addGroup({ name, createdAt: clock.now() });
      return { ScheduleGroupArn: groupArn(name) };
    },
    ListScheduleGroups: (input) => {
      const prefix = read.text(input, "NamePrefix") ?? "";
      const all = [findGroup(DEFAULT_GROUP)!, ...schedules.groups()].filter(({ name }) => name.startsWith(prefix));
      const { shown, NextToken } = pageOf(input, all, ({ name }) => name);
      return { ScheduleGroups: shown.map(describeGroup), NextToken };
    },
  };

  /** One delivery of a firing: delivered, to be retried, or sent to the dead-letter queue. */
  const attempt = async (retry: Retry, now: number): Promise<boolean> => {
    const { arn } = retry;
    const input = withAttempt(retry);
    try {
      await deliver({ arn, input });
    } catch {
      const pause = Math.min(2 ** retry.attempt * SECOND, MAX_PAUSE);
      const again = { ...retry, attempt: retry.attempt + 1, nextAt: now + pause };
      const isOver = again.attempt > retry.maxAttempts || again.nextAt > retry.givesUpAt;
      if (!isOver) schedules.saveRetry(again);
      else {
        // A dead-letter queue that cannot be reached loses the firing, as in the real service.
        if (retry.deadLetterArn) await deliver({ arn: retry.deadLetterArn, input }).catch(() => undefined);
        schedules.removeRetry(retry.id);
      }
      return false;
    }
    schedules.removeRetry(retry.id);
    meter.fired++;
    return true;
  };

  /** Moves a schedule to its next time, or ends it. */
  const moveOn = (schedule: Schedule, after: number): void => {
    const nextAt = schedule.recurring ? timingOf(schedule.input, schedule.createdAt).next(after) : undefined;
    const isOver = nextAt === undefined && schedule.input.ActionAfterCompletion === "DELETE";
    if (!isOver) schedules.save({ ...schedule, nextAt });
    else if (schedules.remove(schedule.group, schedule.name)) meter.deleted++;
  };

  /** Removes a firing from its schedule. From then on it is stored as a retry until its target was reached. */
  const take = (schedule: Schedule, dueAt: number, movedOnFrom: number): Retry => {
    const retry = firingOf(schedule, dueAt, ids.uuid());
    schedules.transaction(() => {
      schedules.saveRetry(retry);
      moveOn(schedule, movedOnFrom);
    });
    return retry;
  };

  const fireAll = async (now: number, { recurring = true, collapse = false }: FiringOptions): Promise<number> => {
    for (let reached = 0; ; ) {
      // Read again each time: schedules may be created while a target is being called.
      const retry = schedules.firstRetry(now);
      const schedule = schedules.firstDue(now, recurring);
      const dueAt = schedule?.nextAt;
      if (schedule && dueAt !== undefined && dueAt <= (retry?.nextAt ?? dueAt)) {
        const taken = take(schedule, dueAt, collapse ? now : dueAt);
        if (await attempt(taken, now)) reached++;
      } else if (retry) {
        if (await attempt(retry, now)) reached++;
      } else return reached;
    }
  };

  return {
    operate: operateOn(members, operations),
    next: ({ recurring = true } = {}) => {
      const instants = [schedules.next(recurring), schedules.nextRetry()].filter((at) => at !== undefined);
      return instants.length > 0 ? Math.min(...instants) : undefined;
    },
    fireDue: (now, which = {}) => {
      const fired = firing.then(() => fireAll(now, which));
      firing = fired.catch(() => undefined);
      return fired;
    },
    onSave: (listener) => void listeners.add(listener),
    meter: () => ({ ...meter }),
    resetMeter: () => {
      meter = fresh();
    },
  };
}

const describeGroup = ({ name, createdAt }: Group): Wire => ({
  Arn: groupArn(name),
  Name: name,
  State: "ACTIVE",
  CreationDate: createdAt / SECOND,
  LastModificationDate: createdAt / SECOND,
});

const seconds = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, "Z");

/** A firing of `schedule`, with its context filled in, except the number of the attempt. */
function firingOf({ group, name, input }: Schedule, dueAt: number, id: string): Retry {
  const target = input.Target as Wire;
  const arn = scheduleArn(group, name);
  const { maxAttempts, maxAgeMs } = policyOf(target);
  const text = (read.text(target, "Input") ?? unasked(arn, dueAt, id))
    .replaceAll("<aws.scheduler.schedule-arn>", arn)
    .replaceAll("<aws.scheduler.scheduled-time>", seconds(dueAt))
    .replaceAll("<aws.scheduler.execution-id>", id);
  return {
    id,
    arn: String(target.Arn),
    input: text,
    deadLetterArn: isRecord(target.DeadLetterConfig) ? read.text(target.DeadLetterConfig, "Arn") : undefined,
    dueAt,
    attempt: 0,
    maxAttempts,
    givesUpAt: dueAt + maxAgeMs,
    nextAt: dueAt,
  };
}

const withAttempt = ({ input, attempt }: Retry): string =>
  input.replaceAll("<aws.scheduler.attempt-number>", String(attempt + 1));

/** The payload of a schedule without an input. */
const unasked = (arn: string, dueAt: number, id: string): string =>
  JSON.stringify({
    version: "0",
    id,
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: "000000000000",
    time: seconds(dueAt),
    region: "us-east-1",
    resources: [arn],
    detail: "{}",
  });
