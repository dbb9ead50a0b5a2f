// Capabilities outside the table: queues and outbound requests. They are plain objects, so that a bundle contains only
// those that its function names.
import { dueQueues } from "../contract/due-kinds.ts";
import type { Message, QueueName } from "../contract/messages.ts";
import type { Egress } from "../egress/egress.ts";
import { egressOf } from "../egress/recording.ts";
import { type Capability, type Deps, perEnvironment, setting } from "../kernel/deps.ts";
import { type DelayedMessage, openSender, queueVariable } from "../store/queue-sender.ts";
import type { FunctionDeps } from "./deps.ts";

/** Requests to providers and to the receivers of webhooks. One pool of connections per environment. */
export const egress: Capability<"egress", Egress> = {
  as: "egress",
  env: [],
  grants: [],
  open: (deps: FunctionDeps) => {
    const opened = (deps.sandbox ? undefined : deps.egress) ?? egressOf(deps);
    return () => opened;
  },
};

interface Queue<M> {
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
const sender = <Q extends QueueName, As extends string>(queue: Q, as: As): Capability<As, Queue<Message<Q>>> =>
  perEnvironment(
    as,
    { env: [queueVariable(queue)], grants: [{ actions: ["sqs:SendMessage"], on: `queue:${queue}` }] },
    (deps) => openQueue(deps, queue),
  );

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
export const askConfirmationQueue = /* @__PURE__ */ sender("ask-confirmation", "askConfirmationQueue");
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
  send(queue: QueueName, entries: readonly DelayedMessage<unknown>[]): Promise<void>;
};

/** The right to send to these queues. */
export const targets = <As extends string>(as: As, queues: readonly QueueName[]): Capability<As, Targets> =>
  perEnvironment(
    as,
    {
      env: queues.map(queueVariable),
      grants: queues.map((queue) => ({ actions: ["sqs:SendMessage"], on: `queue:${queue}` })),
    },
    (deps): Targets => {
      const opened = new Map(queues.map((queue) => [queue, openSender(deps, queue)]));
      const send: Targets["send"] = async (queue, entries) => {
        const target = opened.get(queue);
        if (!target) throw new Error(`No timer leads to the queue ${queue}.`);
        await target(entries);
      };
      return { send };
    },
  );

/** The right to send to every queue that a timer leads to. */
export const dueTargets = /* @__PURE__ */ targets("dueTargets", dueQueues);

interface Release {
  version: string;
  commit: string;
  /** The AWS region whose table holds the data (F24). */
  region: string;
}

export const release = /* @__PURE__ */ perEnvironment(
  "release",
  { env: ["VERSION", "COMMIT", "REGION"] },
  (deps): Release => ({
    version: setting(deps, "VERSION"),
    commit: setting(deps, "COMMIT"),
    region: setting(deps, "REGION"),
  }),
);
