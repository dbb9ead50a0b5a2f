// Kinds of timers: the queue that a due row goes to when its time has come, and the message it becomes there.
import type { Message, QueueName } from "./messages.ts";
import type { Grouping } from "./store/keys.ts";

export interface DueTimer {
  tenant: string;
  /** The entity whose time comes, as the kind writes it. */
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
  /** A look at whether everything of a job is still moving. */
  "job-watch": to("fan-out", ({ tenant, id: job, since }) => ({ tenant, job, since, watch: true })),
  /** What a job has put off is due. */
  "job-release": to("fan-out", ({ tenant, id: job, since }) => ({ tenant, job, since, release: true })),
  /** The second pass of an erasure. */
  erasure: to("erase", ({ tenant, id: subscriber, since }) => ({ tenant, subscriber, since, pass: 2 })),
  /** A deleted list or segment: `<kind>#<id>`. */
  disband: to("delete-memberships", ({ tenant, id }) => {
    const [kind, group = ""] = id.split("#") as [Grouping, string?];
    return { tenant, kind, id: group };
  }),
  /** An upload that broke off. */
  "asset-upload": to("discard-asset", ({ tenant, id: asset }) => ({ tenant, asset, over: true })),
  /** The end_at of an experience. */
  "experience-end": to("end-experience", ({ tenant, id: experience, since }) => ({ tenant, experience, since })),
  /** The end of a window of a subscriber's dynamic segments. */
  "segment-window": to("segment", ({ tenant, id: subscriber, at }) => ({
    ...{ tenant, people: [], events: [], tries: 0 },
    window: { subscriber, at },
  })),
  /** A look at whether a segment is still being computed. */
  "segment-run": to("recompute-segment", ({ tenant, id: segment }) => ({ tenant, segment, watch: true })),
  /** A look at whether a channel is still being verified. */
  verification: to("verify-channel", ({ tenant, id: channel }) => ({ tenant, channel })),
  /** A look at whether an import is still going on. */
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
  /** The end of a deleted workspace, or a look at whether it is still under way. */
  purge: to("purge", ({ tenant }) => ({ tenant })),
  /** What late writers left of a deleted journey. */
  "journey-gone": to("step-journey", ({ tenant, id: journey }) => ({
    ...plainStep(tenant),
    sweep: { journey, mode: "delete" as const },
  })),
};

export type DueKind = keyof typeof dueKinds;

/** Every queue that a timer leads to. */
export const dueQueues: readonly QueueName[] = [...new Set(Object.values(dueKinds).map(({ queue }) => queue))];
