// Kinds of timers: the queue and the message of a due row.
import { packId, unpackId } from "../kernel/ids.ts";
import { chunksOf } from "../rules/chunks.ts";
import type { RunTimer } from "./journey-messages.ts";
import type { Message, QueueName } from "./messages.ts";

interface DueTimer {
  tenant: string;
  /** The entity that the timer is for, in the form of its kind. */
  id: string;
  /** Service time in milliseconds. */
  at: number;
  /** When the timer was set: its state may appear up to 60 s later. */
  since: number;
}

interface DueKindOf<Q extends QueueName> {
  queue: Q;
  message(timer: DueTimer): Message<Q>;
  /** The messages for timers of one workspace, if the worker takes many at once. */
  together?(timers: readonly DueTimer[]): Message<Q>[];
}

/* @__NO_SIDE_EFFECTS__ */
const to = <Q extends QueueName>(
  queue: Q,
  message: DueKindOf<Q>["message"],
  more: Pick<DueKindOf<Q>, "together"> = {},
): DueKindOf<Q> => ({ queue, message, ...more });

/** Runs of one message. */
const PER_MESSAGE = 100;

export function messagesOf(kind: DueKind, timers: readonly DueTimer[]): unknown[] {
  const { message, together } = dueKinds[kind];
  return together ? together(timers) : timers.map(message);
}

/** The id of a timer for runs of one journey. It is short, because a timer is billed by its length. */
export const runsTimerId = (journey: string, runs: readonly Pick<RunTimer, "subscriber" | "run" | "seq">[]): string =>
  [packId(journey), ...runs.map(({ subscriber, run, seq }) => `${packId(subscriber)}:${packId(run)}:${seq}`)].join(" ");

function runTimersOf({ id, at, since }: DueTimer): RunTimer[] {
  const [journey = "", ...runs] = id.split(" ");
  return runs.map((timer) => {
    const [subscriber = "", run = "", seq] = timer.split(":");
    const ids = { subscriber: unpackId(subscriber), journey: unpackId(journey), run: unpackId(run) };
    return { ...ids, seq: Number(seq), at, since };
  });
}

export const dueKinds = {
  /** A scheduled send. */
  job: to("fan-out", ({ tenant, id: job, since }) => ({ kind: "fire", tenant, job, since })),
  /** A check that the ranges and chunks of a job still progress. */
  "job-watch": to("fan-out", ({ tenant, id: job, since }) => ({ kind: "watch", tenant, job, since })),
  /** A check that the sends to one subscriber of a quarter-hour have ended: `<quarter-hour>`. */
  "sends-watch": to("fan-out", ({ tenant, id }) => ({ kind: "settle", tenant, quarter: Number(id) })),
  /** The workspace of a job was suspended, and may be active again. */
  "job-resume": to("fan-out", ({ tenant, id: job }) => ({ kind: "resume", tenant, job })),
  /** Deferred recipients of a job are due. */
  "job-release": to("fan-out", ({ tenant, id: job, since }) => ({ kind: "release", tenant, job, since })),
  /** The second pass of an erasure. */
  erasure: to("erase", ({ tenant, id: subscriber, since }) => ({ tenant, subscriber, since, pass: 2 })),
  /** A deleted list or segment: `<kind>#<id>`. */
  disband: to("delete-memberships", ({ tenant, id }) => {
    const [kind, group = ""] = id.split("#") as ["list" | "segment", string?];
    return { tenant, kind, id: group };
  }),
  /** An upload that was not completed. */
  "asset-upload": to("discard-asset", ({ tenant, id: asset }) => ({ tenant, asset, over: true })),
  "experience-end": to("end-experience", ({ tenant, id: experience, since }) => ({ tenant, experience, since })),
  /** The end of a window of a subscriber's dynamic segments. */
  "segment-window": to("segment", ({ tenant, id: subscriber, at }) => ({
    tenant,
    subscribers: [],
    visitors: [],
    window: { subscriber, at },
  })),
  /** A check that the computation of a segment still progresses. */
  "segment-run": to("recompute-segment", ({ tenant, id: segment }) => ({ kind: "watch", tenant, segment })),
  /** A check that the verification of a channel still progresses. */
  verification: to("verify-channel", ({ tenant, id: channel }) => ({ tenant, channel })),
  /** A check that an import still progresses. */
  "import-watch": to("import-rows", ({ tenant, id }) => ({ tenant, kind: "import", id, watch: true })),
  /** A check that an export still progresses. */
  "export-watch": to("import-rows", ({ tenant, id }) => ({ tenant, kind: "export", id, watch: true })),
  /** A check that a migration of runs still progresses: `<journey>#<migration>`. */
  "migration-watch": to("step-journey", ({ tenant, id }) => {
    const [journey = "", migration = ""] = id.split("#");
    return { kind: "sweep", tenant, journey, mode: "migrate", migration };
  }),
  /** A check that a simulation on history still progresses. */
  "simulation-watch": to("import-rows", ({ tenant, id }) => ({ tenant, kind: "simulation", id, watch: true })),
  /** A tick of a schedule: `<id>:<revision>`. */
  schedule: to("run-schedule", ({ tenant, id, at }) => {
    const [schedule = "", revision] = id.split(":");
    return { tenant, schedule, revision: Number(revision), tick: at };
  }),
  /** A check that a tick was taken, for one whose message was lost: `<id>:<revision>:<tick>`. */
  "schedule-watch": to("run-schedule", ({ tenant, id }) => {
    const [schedule = "", revision, tick] = id.split(":");
    return { tenant, schedule, revision: Number(revision), tick: Number(tick) };
  }),
  /** Runs of a journey whose delays or waits end (`runsTimerId`). */
  "journey-runs": to("step-journey", (timer) => ({ kind: "tick", tenant: timer.tenant, runs: runTimersOf(timer) }), {
    together: (timers) =>
      chunksOf(timers.flatMap(runTimersOf), PER_MESSAGE).map((runs) => ({
        kind: "tick",
        tenant: timers[0]?.tenant ?? "",
        runs,
      })),
  }),
  /** A check that the deliveries to webhook endpoints that were created in a minute are made: `<minute>`. */
  "webhook-watch": to("post-webhook", ({ tenant, id }) => ({ kind: "watch" as const, tenant, minute: Number(id) })),
  /** The nightly recount of a workspace's counters: `<day>`. */
  recount: to("recount", ({ tenant }) => ({ tenant })),
  /** The purge of a deleted workspace, or a check that it still progresses. */
  purge: to("purge", ({ tenant }) => ({ tenant })),
  /** Timers of a sandbox may be due. */
  "sandbox-wake": to("move-clock", ({ tenant }) => ({ kind: "wake" as const, tenant })),
  /** Rows that concurrent writers added to a deleted journey. */
  "journey-gone": to("step-journey", ({ tenant, id: journey }) => ({
    kind: "sweep",
    tenant,
    journey,
    mode: "delete",
  })),
};

export type DueKind = keyof typeof dueKinds;
export const dueKindNames = /* @__PURE__ */ Object.keys(dueKinds) as DueKind[];

/** Every queue that a timer leads to. */
export const dueQueues: readonly QueueName[] = /* @__PURE__ */ Array.from(
  /* @__PURE__ */ new Set(/* @__PURE__ */ Object.values(dueKinds).map(({ queue }) => queue)),
);
