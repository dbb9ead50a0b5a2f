// How a worker is declared, and how it processes its messages: each on its own, failures reported one by one.
import { ChangeMessageVisibilityBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from "aws-lambda";
import * as v from "valibot";
import { type Message, type QueueName, queues, realTimeQueues, VISIBILITY_SECONDS } from "../contract/messages.ts";
import type { Clock } from "../kernel/clock.ts";
import {
  type Capability,
  type Context,
  type Deps,
  type Grant,
  NO_TENANT,
  openAll,
  perEnvironment,
  setting,
  type Uses,
} from "../kernel/deps.ts";
import type { Ids, TenantId } from "../kernel/ids.ts";
import { errorFields } from "../kernel/log.ts";
import { queueVariable } from "../store/queue-sender.ts";
import { isSandbox } from "../store/sandbox/sandbox.ts";
import { sandboxWork } from "../store/sandbox/work.ts";

export interface RuntimeContext {
  clock: Clock;
  ids: Ids;
  log: Deps["log"];
}

export interface QueueWorker {
  name: QueueName;
  about: string;
  eventSource: "queue";
  uses: Uses;
  create(deps: Deps): (event: SQSEvent) => Promise<SQSBatchResponse>;
}

interface StreamWorker {
  name: string;
  about: string;
  eventSource: "table-stream";
  uses: Uses;
  create(deps: Deps): (event: DynamoDBStreamEvent) => Promise<DynamoDBBatchResponse>;
}

export type Worker = QueueWorker | StreamWorker;

/** Whether a worker continues long work by messages to its own queue, which Lambda stops after 16 unless it is allowed. */
export const sendsToItself = (name: string, grants: readonly Grant[]): boolean =>
  grants.some(({ on, actions }) => on === `queue:${name}` && actions.includes("sqs:SendMessage"));

type Task<Q extends QueueName, U extends Uses> = (
  message: Message<Q>,
  /** `isRepeated`: the message was received before, and the worker that received it failed or was too slow. */
  context: Context<U> & RuntimeContext & { tenant: TenantId; isRepeated: boolean },
) => Promise<void>;

/** What a worker does with the messages of one tenant that it received together. If it throws, all of them failed. */
interface GroupTask<Q extends QueueName, U extends Uses> {
  takes(message: Message<Q>): boolean;
  perform(messages: readonly Message<Q>[], context: Context<U> & RuntimeContext & { tenant: TenantId }): Promise<void>;
}

/** A worker triggered by the queue of its own name; its context is bound to the tenant that the message names. */
export function queueWorker<const Q extends QueueName, const U extends Uses>(
  name: Q,
  about: string,
  uses: U,
  task: Task<Q, U>,
  groups?: GroupTask<Q, U>,
): QueueWorker {
  const again = redelivery(name);
  return {
    name,
    about,
    eventSource: "queue",
    uses: [...uses, again, sandboxWork],
    create: (deps) => {
      const { backOff } = again.open(deps)(NO_TENANT);
      const parsed = (body: string) => v.parse(queues[name].message, JSON.parse(body)) as Message<Q>;
      const within = contextsOf(uses, deps);
      const isReal = realTimeQueues.has(name);
      const attempt = attemptsOf(name, deps.log);

      const performOne = ({ messageId, body, attributes }: SQSRecord) =>
        attempt([messageId], (whose) => {
          const message = parsed(body);
          const isRepeated = Number(attributes.ApproximateReceiveCount) > 1;
          const tenant = tenantOf(message);
          whose.tenant = tenant || undefined;
          return within(tenant, isReal ? [] : [messageId], (context) =>
            task(message, { ...context, tenant, isRepeated }),
          );
        });
      const performTogether = (tenant: TenantId, records: readonly SQSRecord[], { perform }: GroupTask<Q, U>) => {
        const ids = records.map(({ messageId }) => messageId);
        const messages = records.map(({ body }) => parsed(body));
        return attempt(ids, () => within(tenant, ids, (context) => perform(messages, { ...context, tenant })), {
          tenant,
        });
      };

      return async ({ Records }) => {
        const grouped = Map.groupBy(Records, ({ body }) => groupOf(body, parsed, groups));
        const failed = await Promise.all(
          [...grouped].flatMap(([tenant, records]) =>
            tenant === undefined || !groups ? records.map(performOne) : [performTogether(tenant, records, groups)],
          ),
        );
        const batchItemFailures = failed.flat();
        const ids = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
        await backOff(Records.filter(({ messageId }) => ids.has(messageId)));
        return { batchItemFailures };
      };
    },
  };
}

type Whose = { tenant?: TenantId | undefined };

/** Performs the work of messages. @returns the failures for Lambda: none, or all of these messages */
const attemptsOf =
  (worker: string, log: Deps["log"]) =>
  async (messageIds: readonly string[], perform: (whose: Whose) => Promise<void>, whose: Whose = {}) => {
    try {
      await perform(whose);
      return [];
    } catch (error) {
      for (const message_id of messageIds)
        log({ level: "warn", message: "a message failed", worker, message_id, ...whose, ...errorFields(error) });
      return messageIds.map((itemIdentifier) => ({ itemIdentifier }));
    }
  };

/**
 * Runs work with the context of a tenant: that of the function, or for a sandbox one in its own time. Work without names
 * is done in real time.
 */
function contextsOf<const U extends Uses>(uses: U, deps: Deps) {
  const ordinary = { bind: openAll(uses, deps), deps };
  const { during } = sandboxWork.open(deps)(NO_TENANT);
  const run = async (
    tenant: TenantId,
    { bind, deps: { clock, ids, log } }: typeof ordinary,
    work: (context: Context<U> & RuntimeContext) => Promise<void>,
  ) => work({ ...bind(tenant), clock, ids, log });
  return (
    tenant: TenantId,
    names: readonly string[],
    work: (context: Context<U> & RuntimeContext) => Promise<void>,
  ): Promise<void> =>
    names.length > 0 && isSandbox(tenant)
      ? during(tenant, names, (inside) => run(tenant, { bind: openAll(uses, inside), deps: inside }, work))
      : run(tenant, ordinary, work);
}

const tenantOf = (message: object): TenantId => ("tenant" in message ? (message.tenant as TenantId) : NO_TENANT);

/** The tenant with whose other messages a message is processed; undefined for one that is processed on its own. */
function groupOf<M extends object>(
  body: string,
  parsed: (body: string) => M,
  groups: { takes(message: M): boolean } | undefined,
): TenantId | undefined {
  if (!groups) return undefined;
  try {
    const message = parsed(body);
    return groups.takes(message) ? tenantOf(message) : undefined;
  } catch {
    // It fails on its own.
    return undefined;
  }
}

/** A worker triggered by the table's stream: it processes a batch in order; a failed batch is delivered again. */
export function streamWorker<const U extends Uses>(
  name: string,
  about: string,
  uses: U,
  task: (records: DynamoDBRecord[], context: Context<U> & RuntimeContext) => Promise<void>,
): StreamWorker {
  return {
    name,
    about,
    eventSource: "table-stream",
    uses: [...uses, sandboxWork],
    create: (deps) => {
      const within = contextsOf(uses, deps);
      const { log } = deps;
      return async ({ Records }) => {
        const parts = [...Map.groupBy(Records, sandboxOf)];
        return batchOf(name, log, async () => {
          // Each workspace that is a sandbox has a time of its own.
          for (const [tenant, records] of parts) {
            const name = records[0]?.eventID ?? "changes";
            await within(tenant, [name], (context) => task(records, context));
          }
          return undefined;
        });
      };
    },
  };
}

/**
 * A worker triggered by the table's stream that takes its changes out of the service, in real time for sandboxes too.
 * @param task returns the sequence number of the first record that is to be delivered again, with all after it
 */
export function outboundStreamWorker<const U extends Uses>(
  name: string,
  about: string,
  uses: U,
  task: (records: DynamoDBRecord[], context: Context<U> & RuntimeContext) => Promise<string | undefined>,
): StreamWorker {
  return {
    name,
    about,
    eventSource: "table-stream",
    uses,
    create: (deps) => {
      const bind = openAll(uses, deps);
      const { clock, ids, log } = deps;
      return async ({ Records }) => batchOf(name, log, () => task(Records, { ...bind(NO_TENANT), clock, ids, log }));
    },
  };
}

/** @param work returns the sequence number from which on records are to be delivered again, if any are */
async function batchOf(
  worker: string,
  log: Deps["log"],
  work: () => Promise<string | undefined>,
): Promise<DynamoDBBatchResponse> {
  try {
    const from = await work();
    return { batchItemFailures: from === undefined ? [] : [{ itemIdentifier: from }] };
  } catch (error) {
    // Rethrow: `bisectBatchOnError` isolates the failing record.
    log({ level: "warn", message: "a batch of the stream failed", worker, ...errorFields(error) });
    throw error;
  }
}

/** The sandbox whose row a record is of; for rows of other workspaces and of the platform, no tenant. */
function sandboxOf({ dynamodb }: DynamoDBRecord): TenantId {
  const [place, tenant = ""] = (dynamodb?.NewImage?.pk?.S ?? "").split("#");
  return place === "T" && isSandbox(tenant) ? tenant : NO_TENANT;
}

const FIRST_DELAY_SECONDS = 5;
const FACTOR = 4;
/** The share of a delay that is random, so that messages that failed together do not return together. */
const JITTER = 0.5;
const BYTE = 256;

/** @param received how often the message was received, with this time; @param random from 0 to 1 */
export function delaySeconds(received: number, random: number): number {
  const whole = Math.min(VISIBILITY_SECONDS, FIRST_DELAY_SECONDS * FACTOR ** (received - 1));
  return Math.round(whole * (1 - JITTER * random));
}

interface Redelivery {
  /** Sets when failed messages, at most ten, are delivered again. It never throws: without it they wait the whole time. */
  backOff(failed: readonly Pick<SQSRecord, "receiptHandle" | "attributes">[]): Promise<void>;
}

const redelivery = <Q extends QueueName>(queue: Q): Capability<"redelivery", Redelivery> =>
  perEnvironment(
    "redelivery",
    { env: [queueVariable(queue)], grants: [{ actions: ["sqs:ChangeMessageVisibility"], on: `queue:${queue}` }] },
    (deps): Redelivery => {
      const client = deps.aws(SQSClient);
      const QueueUrl = setting(deps, queueVariable(queue));
      const backOff: Redelivery["backOff"] = async (failed) => {
        const Entries = failed
          .filter(({ receiptHandle }) => receiptHandle)
          .map(({ receiptHandle, attributes }, n) => ({
            Id: String(n),
            ReceiptHandle: receiptHandle,
            VisibilityTimeout: delaySeconds(Number(attributes.ApproximateReceiveCount), deps.ids.bytes(1)[0]! / BYTE),
          }));
        if (Entries.length === 0) return;
        const warning = { level: "warn", message: "failed messages wait the whole time", worker: queue } as const;
        await client
          .send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }))
          .catch((error: unknown) => deps.log({ ...warning, ...errorFields(error) }));
      };
      return { backOff };
    },
  );
