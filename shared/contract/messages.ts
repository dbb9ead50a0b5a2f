// Every queue message: its queue, its shape, its attempts. Messages carry ids, never content.
import * as v from "valibot";
import { JourneyMessage } from "./journey-messages.ts";
import { MailEventMessage } from "./mail-events.ts";

const id = v.pipe(v.string(), v.maxLength(128));
const anonymous = v.pipe(v.string(), v.maxLength(256));

/**
 * A change of a subscriber. Without `segments`, all segments are evaluated; `at`: when it happened, in milliseconds.
 */
const change = { segments: v.optional(v.array(id)), at: v.optional(v.number()) };

export const queues = {
  /**
   * A job to continue or to check, or one of its ranges. `since`: a job that is not stored yet may appear until 60 s
   * later.
   */
  "fan-out": {
    message: v.union([
      v.object({ kind: v.literal("dispatch"), tenant: id, job: id }),
      /** Set by a timer: the job may move from scheduled to queued. */
      v.object({ kind: v.literal("fire"), tenant: id, job: id, since: v.optional(v.number()) }),
      v.object({ kind: v.literal("plan"), tenant: id, job: id, range: id }),
      /** Set by the watchdog: check that the job still progresses. */
      v.object({ kind: v.literal("watch"), tenant: id, job: id, since: v.optional(v.number()) }),
      /** A job that was held, or whose workspace was suspended, may go on. */
      v.object({ kind: v.literal("resume"), tenant: id, job: id }),
      /** Set by a timer: deferred recipients of the job, or of one of its ranges, are due. */
      v.object({
        kind: v.literal("release"),
        tenant: id,
        job: id,
        range: v.optional(id),
        since: v.optional(v.number()),
      }),
      /** Set by a timer: settle the sends to one subscriber of a quarter-hour, or those of a partition. */
      v.object({ kind: v.literal("settle"), tenant: id, quarter: v.number(), lane: v.optional(id) }),
      /** Set by the watchdog: sends to one subscriber that should have ended by now. */
      v.object({ kind: v.literal("continue"), tenant: id, jobs: v.array(id) }),
    ]),
    batch: 10,
  },
  /** One chunk of recipients to send to the providers. */
  deliver: {
    message: v.object({
      tenant: id,
      job: id,
      range: id,
      chunk: v.number(),
      /** Rows that a send to one subscriber names, to be read with it: the hash of its content, and devices. */
      content: v.optional(id),
      devices: v.optional(v.array(v.object({ subscriber: id, device: id }))),
      /**
       * The outcomes of a group that was claimed at this step by a worker that could not write them, as the text of its
       * progress.
       */
      outcomes: v.optional(v.object({ step: v.number(), progress: v.string() })),
    }),
    batch: 10,
  },
  /** A verification to request from the provider; without its id, the one that is still open. */
  "verify-channel": {
    message: v.object({ tenant: id, channel: id, verification: v.optional(id), tries: v.optional(v.number()) }),
    batch: 10,
  },
  /** Subscribers whose segments may have changed: by a write, by an event, or because a window ends. */
  segment: {
    message: v.object({
      tenant: id,
      /** `historical`: the change starts no journeys. */
      subscribers: v.optional(v.array(v.object({ id, ...change, historical: v.optional(v.literal(true)) })), []),
      /** Anonymous ids with events: their subscribers are evaluated. */
      visitors: v.optional(v.array(v.object({ anonymous, ...change })), []),
      window: v.optional(v.object({ subscriber: id, at: v.number() })),
      /** The version of the rules, at least as new as the write. Without it the current rules are used. */
      version: v.optional(v.number()),
    }),
    batch: 10,
  },
  /** A part of the subscribers to evaluate for a segment, a computation to check, or all segments that have days. */
  "recompute-segment": {
    message: v.union([
      v.object({ kind: v.literal("part"), tenant: id, segment: id, run: v.number(), part: id }),
      /** Set by the watchdog: parts that are not done are queued again. */
      v.object({ kind: v.literal("watch"), tenant: id, segment: id }),
      /** The days of the workspace begin at other times. */
      v.object({ kind: v.literal("zone"), tenant: id }),
    ]),
    batch: 10,
  },
  /** The due rows of a minute, or of one of its shards; a single row that is due soon; or the sweep for overdue ones. */
  due: {
    message: v.union([
      v.object({
        kind: v.literal("minute"),
        minute: v.number(),
        shard: v.optional(v.number()),
        /** The sort key of the row that was forwarded last. */
        after: v.optional(v.string()),
      }),
      v.object({ kind: v.literal("row"), row: v.object({ pk: v.string(), sk: v.string() }) }),
      v.object({ kind: v.literal("sweep") }),
    ]),
    batch: 10,
  },
  /** An erased subscriber whose data must be removed; `pass` 2 runs a minute later. */
  erase: {
    message: v.object({ tenant: id, subscriber: id, pass: v.picklist([1, 2]), since: v.optional(v.number()) }),
    batch: 10,
  },
  /**
   * The first attempts of deliveries to a webhook that were numbered together, by the number of the first; one attempt
   * at one delivery; a replay from its n-th delivery on; or the watchdog of the deliveries that were created in a minute.
   */
  "post-webhook": {
    message: v.union([
      v.object({ kind: v.literal("group"), tenant: id, webhook: id, first: v.number(), deliveries: v.array(id) }),
      v.object({ kind: v.literal("attempt"), tenant: id, webhook: id, delivery: id, attempt: v.number() }),
      v.object({ kind: v.literal("replay"), tenant: id, webhook: id, replay: id, next: v.number() }),
      v.object({ kind: v.literal("watch"), tenant: id, minute: v.number() }),
    ]),
    batch: 10,
  },
  /** A deleted list or segment whose memberships must be removed. */
  "delete-memberships": {
    message: v.object({ tenant: id, kind: v.picklist(["list", "segment"]), id }),
    batch: 10,
  },
  /** A tick of a schedule, by the instant it is due. */
  "run-schedule": {
    message: v.object({ tenant: id, schedule: id, revision: v.number(), tick: v.number() }),
    batch: 10,
  },
  /** A campaign whose state, jobs or schedules changed. */
  "run-campaign": {
    message: v.object({ tenant: id, campaign: id }),
    batch: 10,
  },
  /** Changes that start, move or end runs of journeys. */
  "step-journey": {
    message: JourneyMessage,
    batch: 10,
  },
  /** Blocks of events that were stored a while ago: those without a seal must be completed. */
  "complete-events": {
    message: v.object({ tenant: id, blocks: v.array(id) }),
    batch: 10,
  },
  /** An opt-in that its owner is to confirm, by the channels of the consents. */
  "ask-confirmation": {
    message: v.object({ tenant: id, subscriber: id, channels: v.array(v.string()) }),
    batch: 10,
  },
  /** An image that was deleted, or whose upload was not completed in time (`over`): its object must be removed. */
  "discard-asset": {
    message: v.object({ tenant: id, asset: id, over: v.optional(v.boolean()) }),
    batch: 10,
  },
  /** An experience whose `end_at` is reached; `since` is when its timer was set. */
  "end-experience": {
    message: v.object({ tenant: id, experience: id, since: v.number() }),
    batch: 10,
  },
  /** An import, an export or a simulation on history to begin, to continue, or to check (`watch`). */
  "import-rows": {
    message: v.object({
      tenant: id,
      kind: v.picklist(["import", "export", "simulation"]),
      id,
      watch: v.optional(v.boolean()),
    }),
    batch: 1,
  },
  /** A mail with a token that a user requested. */
  "mail-account": {
    message: v.object({ mail: id }),
    batch: 10,
  },
  /** An SES event of a mail, by EventBridge; or the same event again, if its row did not exist yet. */
  "mail-event": {
    message: MailEventMessage,
    batch: 10,
  },
  /** A workspace whose counters are compared with the rows they count: from the beginning, or from a position on. */
  recount: {
    message: v.object({
      tenant: id,
      place: v.optional(id),
      after: v.optional(id),
      partial: v.optional(v.object({ seen: v.number(), sums: v.record(v.string(), v.number()) })),
    }),
    batch: 1,
  },
  /** A move of a sandbox's clock to begin or to continue; or timers of a sandbox that may be due. */
  "move-clock": {
    message: v.union([
      v.object({ kind: v.literal("move"), tenant: id, move: id }),
      v.object({ kind: v.literal("wake"), tenant: id }),
    ]),
    batch: 1,
  },
  /** A deleted workspace whose 30 days may be over. */
  purge: {
    message: v.object({ tenant: id }),
    batch: 1,
  },
  /**
   * An event that a conversion definition may name, or an identified anonymous id with its events: the newest of every
   * definition, or those of one definition before a time.
   */
  attribute: {
    message: v.union([
      v.object({ kind: v.literal("event"), tenant: id, event: id }),
      v.object({
        kind: v.literal("visitor"),
        tenant: id,
        anonymous,
        older: v.optional(v.object({ event_name: v.string(), than: v.string() })),
      }),
    ]),
    batch: 10,
  },
} as const;

export type QueueName = keyof typeof queues;
export type Message<Q extends QueueName> = v.InferOutput<(typeof queues)[Q]["message"]>;

/** Queues with a lower concurrency than usual: a purge reads the whole table. */
export const maxConcurrency: { readonly [Q in QueueName]?: number } = { purge: 2 };

/** Queues whose workers act in real time in a sandbox too. */
export const realTimeQueues: ReadonlySet<QueueName> = new Set(["move-clock", "purge"]);

export const queueNames = Object.keys(queues) as QueueName[];

/** The worker that turns changes of the table into messages. It has no queue, but a dead-letter queue. */
export const STREAM_WORKER = "react";

/** The second worker of the table's stream. It is deployed if the setting eventBus or archive is on. */
export const PUBLISHER = "publish-events";

/** A stream has at most two readers: with more it throttles them. */
export const streamWorkers = [STREAM_WORKER, PUBLISHER] as const;

export type StreamWorkerName = (typeof streamWorkers)[number];

export const isOfStream = (worker: string): worker is StreamWorkerName => streamWorkers.some((name) => name === worker);

export const deadQueueNames = [...streamWorkers, ...queueNames] as const;
/** A worker with a dead-letter queue. */
export type DeadQueueName = (typeof deadQueueNames)[number];

/** The queue of the messages of a worker that used up their attempts. */
export const deadQueueOf = (worker: DeadQueueName): string => `${worker}-dead`;

/** Seconds a worker may run; an unfinished message is delivered again after six times that (docs/decisions/0021#worker-timeouts). */
export const WORKER_TIMEOUT_SECONDS = 60;
/** After this time a worker stops long work, and another message continues it. */
export const WORKING_MS = 40_000;
/** How one message's part of a long job ends: another message continues an unfinished one. */
export type JobPart = "ended" | "unfinished";
/** The longest delay of a message of SQS. */
export const MAX_DELAY_SECONDS = 900;
export const VISIBILITY_SECONDS = 6 * WORKER_TIMEOUT_SECONDS;
/** Receives before a message goes to the dead-letter queue: half an hour, by the delays of `redelivery.ts`. */
export const MAX_RECEIVES = 9;
