// The effects of a job's end on its source: the last error of a schedule until its next success, that of an experience
// until its next send, and the errors of a campaign's messages, each with an annotation (AMB-123, AMB-126).
import { timestamp } from "../../../kernel/clock.ts";
import { timeOfUuid } from "../../../kernel/ids.ts";
import { wallClock } from "../../../rules/time-zones.ts";
import { CampaignItem } from "../../campaigns/items.ts";
import { all, asRead, is, present } from "../../conditions.ts";
import type { Store } from "../../context.ts";
import { ExperienceItem } from "../../experiences/items.ts";
import { annotationWrite } from "../../insights/annotations.ts";
import { changeItem, type ItemWrite } from "../../item.ts";
import { busy, contended, done, transacted, untilUncontended } from "../../refusals.ts";
import { ScheduleItem } from "../../schedules/items.ts";
import { findSchedule, type ScheduleRow } from "../../schedules/schedules.ts";
import type { JobFailure, JobRecord } from "./job-record.ts";

/** The writes for the end of a job. One of their conditions fails where the source changed since it was read. */
export async function outcomeWrites(
  store: Store,
  { id, source }: Pick<JobRecord, "id" | "source">,
  failure: JobFailure | undefined,
): Promise<ItemWrite<"workspace">[]> {
  if (source.id === null) return [];
  if (source.type === "schedule") return scheduleWrites(store, source.id, timeOfUuid(id), failure);
  if (!failure) return [];
  if (source.type === "experience") return experienceWrites(store, source.id, id, failure);
  return source.type === "campaign" ? campaignWrites(store, source.id, id, failure) : [];
}

async function experienceWrites(
  store: Store,
  id: string,
  job: string,
  failure: JobFailure,
): Promise<ItemWrite<"workspace">[]> {
  const experience = await store.get(ExperienceItem, { id });
  if (!experience || experience.notification_id !== job) return [];
  const last_error = { ...failure, at: timestamp(store.clock.now()) };
  const text = `The experience "${experience.name}" reached nobody: ${failure.message}`;
  return [
    changeItem(ExperienceItem, { id }, { set: { last_error } }, is("notification_id", job)),
    annotationWrite(store, { kind: "experience_failed", text, ref_id: id }),
  ];
}

async function campaignWrites(
  store: Store,
  id: string,
  job: string,
  failure: JobFailure,
): Promise<ItemWrite<"workspace">[]> {
  const campaign = await store.get(CampaignItem, { id });
  if (!campaign) return [];
  const last_error = { ...failure, at: timestamp(store.clock.now()) };
  const text = `A message of the campaign ${campaign.name} failed: ${failure.message}`;
  return [
    changeItem(CampaignItem, { id }, { set: { [`error:${job}`]: failure, last_error } }, present()),
    annotationWrite(store, { kind: "campaign_failed", text, ref_id: id }),
  ];
}

async function scheduleWrites(
  store: Store,
  id: string,
  tick: number,
  failure: JobFailure | undefined,
): Promise<ItemWrite<"workspace">[]> {
  const schedule = await findSchedule(store, id);
  if (!schedule) return [];
  if (failure) return failureWrites(store, schedule, tick, failure);
  if (!schedule.last_error) return [];
  return [changeItem(ScheduleItem, { id }, { remove: ["last_error"] }, present())];
}

/** Notes a tick that led to no send. */
export async function noteFailedTick(store: Store, id: string, tick: number, failure: JobFailure): Promise<void> {
  await untilUncontended(busy.transient("The schedule is being changed by others."), async () => {
    const schedule = await findSchedule(store, id);
    if (!schedule) return done(undefined);
    const isNoted = await transacted(store, failureWrites(store, schedule, tick, failure));
    return isNoted ? done(undefined) : contended;
  });
}

/** The annotation is one for each day of the schedule's own zone (D-ANNAUTO). */
function failureWrites(
  store: Store,
  { id, timezone, annotated_on }: ScheduleRow,
  tick: number,
  { code, message }: JobFailure,
): ItemWrite<"workspace">[] {
  const day = timestamp(wallClock(timezone, tick)).slice(0, "2026-11-20".length);
  const isAnnotated = annotated_on !== undefined && annotated_on >= day;
  const last_error = { code, message, at: timestamp(store.clock.now()) };
  const text = `A tick of a schedule failed: ${message}`;
  const change = { set: { last_error, annotated_on: isAnnotated ? undefined : day } };
  return [
    changeItem(ScheduleItem, { id }, change, all(present(), asRead("annotated_on", annotated_on))),
    ...(isAnnotated ? [] : [annotationWrite(store, { kind: "schedule_failed", text, ref_id: id })]),
  ];
}
