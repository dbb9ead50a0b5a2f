// What triggers the workers: the queue of each, and the table's stream for one of them.
import { Duration, type Stack } from "aws-cdk-lib";
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IEventSourceDlq,
  StartingPosition,
} from "aws-cdk-lib/aws-lambda";
import { maxConcurrency, queues as messages, STREAM_WORKER } from "../shared/contract/messages.ts";
import type { QueueWorker } from "../shared/runtime/worker.ts";
import { tableDefinition } from "../shared/store/definition.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { logicalIdOf, lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import { type Settings, workerConcurrencyOf } from "./settings.ts";
import type { Storage } from "./storage.ts";

const STREAM_BATCH = 100;
/** Batches of a shard at a time, AWS's maximum. The changes of one partition stay in order. */
const STREAM_PARALLEL = 10;
/** Retries of a batch, enough for some minutes of downstream failure. A batch that throws is first bisected. */
const STREAM_RETRIES = 100;
/** Half of the stream's retention, so a record goes to the bucket before the stream drops it. */
const STREAM_OLDEST = Duration.hours(12);

interface EventSources {
  storage: Storage;
  queues: Queues;
  lambdas: Lambdas;
}

export function addEventSources(
  stack: Stack,
  settings: Settings,
  { workers }: Contents,
  resources: EventSources,
): void {
  const { storage, queues, lambdas } = resources;
  const enabled = settings.workers === "on";
  const atOnce = workerConcurrencyOf(settings);
  for (const worker of workers) {
    const id = `${logicalIdOf(worker.name)}Wake`;
    const target = lookUp(lambdas, worker.name);
    if (worker.eventSource === "queue") {
      new EventSourceMapping(stack, id, {
        target,
        eventSourceArn: lookUp(queues.live, worker.name).queueArn,
        enabled,
        batchSize: batchOf(worker),
        maxConcurrency: maxConcurrency[worker.name] ?? atOnce,
        reportBatchItemFailures: true,
      });
      continue;
    }
    if (worker.name !== STREAM_WORKER) throw new Error(`${worker.name} is a second worker on the table's stream.`);
    const { reactAttribute } = tableDefinition;
    const destination: IEventSourceDlq = { bind: () => ({ destination: storage.failures.bucketArn }) };
    new EventSourceMapping(stack, id, {
      target,
      eventSourceArn: storage.table.tableStreamArn!,
      enabled,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: STREAM_BATCH,
      parallelizationFactor: Math.min(STREAM_PARALLEL, atOnce),
      filters: [FilterCriteria.filter({ dynamodb: { NewImage: { [reactAttribute]: { S: FilterRule.exists() } } } })],
      bisectBatchOnError: true,
      retryAttempts: STREAM_RETRIES,
      maxRecordAge: STREAM_OLDEST,
      reportBatchItemFailures: true,
      onFailure: destination,
    });
  }
}

const batchOf = ({ name }: QueueWorker) => messages[name].batch;
