// The capabilities of functions: property of the context, env variables, IAM grants, and how each is opened.
// Plain objects, so that a bundle contains only those that its function names.
import { type Clock, type Ids, MINUTE } from "./clock.ts";
import type { Capability, Deps, LogEntry } from "./deps.ts";
import { dueQueues } from "./due-kinds.ts";
import type { Egress } from "./egress/egress.ts";
import { egressOf } from "./egress/recording.ts";
import type { Message, QueueName } from "./messages.ts";
import { type Delayed, openSender, queueVariable } from "./queue-sender.ts";
import type { TenantId } from "./store/model.ts";
import { openSecrets, type Secrets } from "./store/secrets.ts";
import { nameLearner } from "./store/subscribers/names.ts";
import type { SubscriberCap } from "./store/subscribers/profile-writes.ts";
import { countSubscribers } from "./store/subscribers/subscribers.ts";
import { openPlatformTable, openWorkspaceTable, type Reader, type Table } from "./store/table.ts";
import { openTimers, type Timers } from "./store/timers.ts";
import { getWorkspace, type WorkspaceRecord } from "./store/workspaces/workspaces.ts";

const reads = ["dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"];
const writes = [
  "dynamodb:PutItem",
  "dynamodb:UpdateItem",
  "dynamodb:DeleteItem",
  "dynamodb:BatchWriteItem",
  "dynamodb:ConditionCheckItem",
];

/** What store functions take first: the table bound to one tenant, with time, ids and the log. */
export interface StoreContext {
  tenant: TenantId;
  clock: Clock;
  ids: Ids;
  log(entry: LogEntry): void;
}
export type StoreReader = Reader<"workspace"> & StoreContext;
export type Store = Table<"workspace"> & StoreContext;

/** The table bound to the items that belong to no workspace's own data: workspaces, users, keys, limits. */
export type PlatformReader = Reader<"platform"> & Omit<StoreContext, "tenant">;
export type Platform = Table<"platform"> & Omit<StoreContext, "tenant">;

const openStore = (deps: Deps): ((tenant: TenantId) => Store) => {
  const table = openWorkspaceTable(deps);
  return (tenant) => ({ ...table(tenant), tenant, clock: deps.clock, ids: deps.ids, log: deps.log });
};

export const storeRead: Capability<"store", StoreReader> = {
  as: "store",
  env: ["TABLE_NAME"],
  grants: [{ actions: reads, on: "table" }],
  open: openStore,
};

export const storeWrite: Capability<"store", Store> = {
  as: "store",
  env: ["TABLE_NAME"],
  grants: [{ actions: [...reads, ...writes], on: "table" }],
  open: openStore,
};

const openPlatform = (deps: Deps): (() => Platform) => {
  const table = openPlatformTable(deps);
  return () => ({ ...table, clock: deps.clock, ids: deps.ids, log: deps.log });
};

export const platformRead: Capability<"platform", PlatformReader> = {
  as: "platform",
  env: ["TABLE_NAME"],
  grants: [{ actions: reads, on: "table" }],
  open: openPlatform,
};

export const platformWrite: Capability<"platform", Platform> = {
  as: "platform",
  env: ["TABLE_NAME"],
  grants: [{ actions: [...reads, ...writes], on: "table" }],
  open: openPlatform,
};

/** The settings and the status of the workspace that a worker acts for. */
export const workspaceRead: Capability<"workspace", () => Promise<WorkspaceRecord | undefined>> = {
  as: "workspace",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem"], on: "table" }],
  open: (deps) => {
    const bound = openPlatformTable(deps, "TENANT#");
    return (tenant) => () => getWorkspace(bound, tenant);
  },
};

/** Root secrets, read: SDK keys, subscriber ids, cursors. */
export const secrets: Capability<"secrets", Secrets> = {
  as: "secrets",
  env: ["TABLE_NAME", "ENCRYPTION_KEY_ID"],
  grants: [
    { actions: ["dynamodb:GetItem"], on: "table" },
    { actions: ["kms:Decrypt"], on: "encryption-key" },
  ],
  open: (deps) => {
    const opened = openSecrets(deps);
    return () => opened;
  },
};

export const timers: Capability<"timers", Timers> = {
  as: "timers",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:PutItem", "dynamodb:BatchWriteItem"], on: "table" }],
  open: openTimers,
};

/** Requests to providers and to the receivers of webhooks. One pool of connections per environment. */
export const egress: Capability<"egress", Egress> = {
  as: "egress",
  env: [],
  grants: [],
  open: (deps) => {
    const opened = (deps.sandbox ? undefined : deps.egress) ?? egressOf(deps);
    return () => opened;
  },
};

export interface AttributeKeys {
  learn(tenant: string, names: readonly string[]): Promise<void>;
}

/** Stores which attribute keys there are; keys that are cached cost no request. */
export const attributeKeys: Capability<"attributeKeys", AttributeKeys> = {
  as: "attributeKeys",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem", "dynamodb:UpdateItem"], on: "table" }],
  open: (deps) => {
    const bind = openStore(deps);
    const learn = nameLearner();
    return () => ({ learn: (tenant, names) => learn(bind(tenant as TenantId), "attributes", names) });
  },
};

/** How many subscribers a workspace has: read at most once a minute per environment, more often near the cap. */
export interface AudienceSize {
  capOf(max: number): Promise<SubscriberCap>;
  /** How many more there may be, read now. */
  room(max: number): Promise<number>;
}

export const audienceSize: Capability<"audienceSize", AudienceSize> = {
  as: "audienceSize",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:Query"], on: "table" }],
  open: (deps) => {
    const bind = openStore(deps);
    const cache = new Map<string, { count: number; at: number; asked: number }>();
    return (tenant) => ({
      capOf: async (max) => {
        const now = deps.clock.now();
        const last = cache.get(tenant);
        const isFresh = last && now - last.at < MINUTE && last.count + last.asked < max * NEAR_CAP;
        const state = isFresh ? last : { count: await countSubscribers(bind(tenant)), at: now, asked: 0 };
        state.asked++;
        cache.set(tenant, state);
        return { mayCreate: state.count < max, used: state.count, limit: max };
      },
      room: async (max) => Math.max(0, max - (await countSubscribers(bind(tenant)))),
    });
  },
};

/** From this share of a cap on, the count is read every time. */
const NEAR_CAP = 0.9;

export interface Queue<M> {
  /** Sends all, ten a request, with the tenant as fair-queue group. @throws if the queue refuses any. */
  send(messages: readonly M[], options?: { delaySeconds?: number }): Promise<void>;
}

function openQueue<Q extends QueueName>(deps: Deps, queue: Q): Queue<Message<Q>> {
  const send = openSender(deps, queue);
  return {
    send: (messages, { delaySeconds } = {}) => send(messages.map((message) => ({ message, delaySeconds }))),
  };
}

/** The right to send to one queue; the context property is the queue's name in camel case. */
const sender = <Q extends QueueName, As extends string>(queue: Q, as: As): Capability<As, Queue<Message<Q>>> => ({
  as,
  env: [queueVariable(queue)],
  grants: [{ actions: ["sqs:SendMessage"], on: `queue:${queue}` }],
  open: (deps) => {
    const opened = openQueue(deps, queue);
    return () => opened;
  },
});

export const fanOutQueue = /* @__PURE__ */ sender("fan-out", "fanOutQueue");
export const deliverQueue = /* @__PURE__ */ sender("deliver", "deliverQueue");
export const dueQueue = /* @__PURE__ */ sender("due", "dueQueue");
export const eraseQueue = /* @__PURE__ */ sender("erase", "eraseQueue");
export const deleteMembershipsQueue = /* @__PURE__ */ sender("delete-memberships", "deleteMembershipsQueue");
export const verifyChannelQueue = /* @__PURE__ */ sender("verify-channel", "verifyChannelQueue");
export const segmentQueue = /* @__PURE__ */ sender("segment", "segmentQueue");
export const recomputeQueue = /* @__PURE__ */ sender("recompute-segment", "recomputeQueue");

export const postWebhookQueue = /* @__PURE__ */ sender("post-webhook", "postWebhookQueue");
export const endExperienceQueue = /* @__PURE__ */ sender("end-experience", "endExperienceQueue");
export const discardAssetQueue = /* @__PURE__ */ sender("discard-asset", "discardAssetQueue");

export const runCampaignQueue = /* @__PURE__ */ sender("run-campaign", "runCampaignQueue");

export const stepJourneyQueue = /* @__PURE__ */ sender("step-journey", "stepJourneyQueue");

export const importRowsQueue = /* @__PURE__ */ sender("import-rows", "importRowsQueue");
export const mailAccountQueue = /* @__PURE__ */ sender("mail-account", "mailAccountQueue");
export const mailEventQueue = /* @__PURE__ */ sender("mail-event", "mailEventQueue");
export const completeEventsQueue = /* @__PURE__ */ sender("complete-events", "completeEventsQueue");
export const purgeQueue = /* @__PURE__ */ sender("purge", "purgeQueue");
export const moveClockQueue = /* @__PURE__ */ sender("move-clock", "moveClockQueue");
export const recountQueue = /* @__PURE__ */ sender("recount", "recountQueue");
export const attributeQueue = /* @__PURE__ */ sender("attribute", "attributeQueue");

type Targets = {
  /** Sends each message with its own delay. */
  send(queue: QueueName, entries: readonly Delayed<unknown>[]): Promise<void>;
};

/** The right to send to these queues. */
export const targets = <As extends string>(as: As, queues: readonly QueueName[]): Capability<As, Targets> => ({
  as,
  env: queues.map(queueVariable),
  grants: queues.map((queue) => ({ actions: ["sqs:SendMessage"], on: `queue:${queue}` })),
  open: (deps) => {
    const opened = new Map(queues.map((queue) => [queue, openSender(deps, queue)]));
    const send: Targets["send"] = async (queue, entries) => {
      const target = opened.get(queue);
      if (!target) throw new Error(`No timer leads to the queue ${queue}.`);
      await target(entries);
    };
    return () => ({ send });
  },
});

/** The right to send to every queue that a timer leads to. */
export const dueTargets = /* @__PURE__ */ targets("dueTargets", dueQueues);
