// Kinds of timers: the queue and the message of a due row.
import type { Message, QueueName } from "./messages.ts";
import type { Group } from "./store/lists/items.ts";

export interface DueTimer {
  tenant: string;
  /** The entity that the timer is for, in the form of its kind. */
  id: string;
  /** Service time in milliseconds. */
  at: number;
  /** When the timer was set: its state may appear up to 60 s later. */
  since: number;
}

const to = <Q extends QueueName>(queue: Q, message: (timer: DueTimer) => Message<Q>) => ({ queue, message });

const plainStep = (tenant: string) => ({ tenant, events: [], moves: [], people: [], tries: 0 });

export const dueKinds = {
  /** A scheduled send. */
  job: to("fan-out", ({ tenant, id: job, since }) => ({ tenant, job, since, due: true })),
  /** A check that the ranges and chunks of a job still progress. */
  "job-watch": to("fan-out", ({ tenant, id: job, since }) => ({ tenant, job, since, watch: true })),
  /** Deferred recipients of a job are due. */
  "job-release": to("fan-out", ({ tenant, id: job, since }) => ({ tenant, job, since, release: true })),
  /** The second pass of an erasure. */
  erasure: to("erase", ({ tenant, id: subscriber, since }) => ({ tenant, subscriber, since, pass: 2 })),
  /** A deleted list or segment: `<kind>#<id>`. */
  disband: to("delete-memberships", ({ tenant, id }) => {
    const [kind, group = ""] = id.split("#") as [Group["kind"], string?];
    return { tenant, kind, id: group };
  }),
  /** An upload that was not completed. */
  "asset-upload": to("discard-asset", ({ tenant, id: asset }) => ({ tenant, asset, over: true })),
  /** The end_at of an experience. */
  "experience-end": to("end-experience", ({ tenant, id: experience, since }) => ({ tenant, experience, since })),
  /** The end of a window of a subscriber's dynamic segments. */
  "segment-window": to("segment", ({ tenant, id: subscriber, at }) => ({
    tenant,
    people: [],
    events: [],
    tries: 0,
    window: { subscriber, at },
  })),
  /** A check that the computation of a segment still progresses. */
  "segment-run": to("recompute-segment", ({ tenant, id: segment }) => ({ tenant, segment, watch: true })),
  /** A check that the verification of a channel still progresses. */
  verification: to("verify-channel", ({ tenant, id: channel }) => ({ tenant, channel })),
  /** A check that an import still progresses. */
  "import-watch": to("import-rows", ({ tenant, id }) => ({ tenant, import: id, watch: true })),
  /** A tick of a schedule: `<id>:<revision>`. */
  schedule: to("run-schedule", ({ tenant, id, at }) => {
    const [schedule = "", revision] = id.split(":");
    return { tenant, schedule, revision: Number(revision), tick: at };
  }),
  /** A run of a journey whose delay or wait ends: `<subscriber>#<journey>#<run>#<seq>`. */
  "journey-run": to("step-journey", ({ tenant, id, at, since }) => {
    const [subscriber = "", journey = "", run = "", seq] = id.split("#");
    return { ...plainStep(tenant), run: { subscriber, journey, run, seq: Number(seq), at, since } };
  }),
  /** The purge of a deleted workspace, or a check that it still progresses. */
  purge: to("purge", ({ tenant }) => ({ tenant })),
  /** Rows that concurrent writers added to a deleted journey. */
  "journey-gone": to("step-journey", ({ tenant, id: journey }) => ({
    ...plainStep(tenant),
    sweep: { journey, mode: "delete" as const },
  })),
};

export type DueKind = keyof typeof dueKinds;
export const dueKindNames = Object.keys(dueKinds) as DueKind[];

/** Every queue that a timer leads to. */
export const dueQueues: readonly QueueName[] = [...new Set(Object.values(dueKinds).map(({ queue }) => queue))];
