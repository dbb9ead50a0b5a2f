// Shared by all transitions of an experience: the attempts, the writes, and the cancellation of a scheduled send. Also
// its pause, which the deletion of a segment causes as well.
import { timestamp } from "../../kernel/clock.ts";
import { badRequest } from "../../kernel/errors.ts";
import { type ExperienceAction, experienceMoves, isDone } from "../../rules/experience-states.ts";
import { jobMoves } from "../../rules/job-states.ts";
import { is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { annotationWrite } from "../insights/annotations.ts";
import type { ChangeOf, ItemWrite } from "../item.ts";
import { moveWrite } from "../lifecycle.ts";
import { contended, done, transacted, untilUncontended } from "../refusals.ts";
import { JobItem } from "../sends/jobs/job-items.ts";
import { findJob, findJobs } from "../sends/jobs/jobs.ts";
import { Status, statusWrite } from "../status-index.ts";
import { changedByOthers, type ExperienceRecord, getExperience } from "./experiences.ts";
import { ExperienceItem } from "./items.ts";

type Change = ChangeOf<typeof ExperienceItem>;

/** Pauses an experience (INX-33). @throws 400 naming the current status, 404 */
export const pauseExperience = (store: Store, id: string) =>
  attempt(store, id, "pause", async (experience) => {
    const canceling = await cancelWrites(store, experience);
    const change: Change = canceling.length > 0 ? { set: { canceled_send: true } } : {};
    return transacted(store, [...moveWrites(store, experience, "pause", change), ...canceling]);
  });

/** Live experiences with a scheduled send by this channel. */
export async function undeliveredBy(store: StoreReader, channel: string): Promise<{ id: string; name: string }[]> {
  const states = await store.queryAll(Status, { kind: "experience" });
  const live = states.filter(({ status }) => status === "live").map(({ sk }) => ({ id: sk }));
  const rows = await store.getAll(ExperienceItem, live);
  const jobs = await findJobs(
    store,
    rows.flatMap((row) => row?.notification_id ?? []),
  );
  const scheduled = jobs.filter((job) => job?.status === "scheduled" && job.channel_ids?.includes(channel));
  const ids = new Set(scheduled.map((job) => job?.source.id));
  return rows.flatMap((row) => (row && ids.has(row.id) ? [{ id: row.id, name: row.name }] : []));
}

/** Pauses a live experience with a scheduled send, because of a problem that the service found (AMB-119). */
export async function pauseUndelivered(store: Store, id: string, reason: string): Promise<void> {
  return untilUncontended(changedByOthers, async () => {
    const experience = await getExperience(store, id);
    const canceling = experience.status === "live" ? await cancelWrites(store, experience) : [];
    if (canceling.length === 0) return done(undefined);
    const text = `The experience "${experience.name}" was paused: ${reason}.`;
    const writes = [
      ...moveWrites(store, experience, "pause", { set: { canceled_send: true } }),
      annotationWrite(store, { kind: "experience_paused", text, ref_id: id }),
    ];
    const isDone = await transacted(store, [...writes, ...canceling]);
    return isDone ? done(undefined) : contended;
  });
}

/** Attempts a transition, again after a concurrent change. @returns the experience after it. */
export async function attempt(
  store: Store,
  id: string,
  action: ExperienceAction,
  take: (experience: ExperienceRecord) => Promise<boolean>,
): Promise<ExperienceRecord> {
  return untilUncontended(changedByOthers, async () => {
    const experience = await getExperience(store, id);
    if (isDone(action, experience.status)) return done(experience);
    const { from } = experienceMoves[action];
    if (!from.some((status) => status === experience.status))
      throw badRequest(`The experience is ${experience.status}: it cannot ${action}.`);
    const isTaken = await take(experience);
    return isTaken ? done(await getExperience(store, id)) : contended;
  });
}

/** The writes of a transition from the revision that was read, to the entity and to its status row. */
export function moveWrites(
  store: Store,
  { id, version, end_at }: ExperienceRecord,
  action: ExperienceAction,
  { set, ...change }: Change = {},
): ItemWrite<"workspace">[] {
  const updated_at = timestamp(store.clock.now());
  return [
    moveWrite(
      ExperienceItem,
      { id },
      {
        lifecycle: experienceMoves,
        action,
        change: { ...change, set: { ...set, updated_at, rev: version + 1 } },
        when: is("rev", version),
      },
    ),
    statusWrite(ExperienceItem, id, experienceMoves[action].to, { until: end_at }),
  ];
}

/**
 * Cancels a scheduled send. If the send starts first, the whole transaction fails and the next attempt finds it. @param
 * action `abandon` is final: it also ends a send that is being delivered, because its messages would not be shown
 */
export async function cancelWrites(
  store: Store,
  { notification_id }: ExperienceRecord,
  action: "cancel" | "abandon" = "cancel",
): Promise<ItemWrite<"workspace">[]> {
  const job = notification_id === undefined ? undefined : await findJob(store, notification_id);
  if (!job || !jobMoves[action].from.some((status) => status === job.status)) return [];
  const set = { completed_at: timestamp(store.clock.now()) };
  return [moveWrite(JobItem, { job: job.id }, { lifecycle: jobMoves, action, change: { set } })];
}
