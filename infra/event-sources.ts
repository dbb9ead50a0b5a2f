// What triggers the workers: the queue of each, and the table's stream.
import { Duration, type Stack } from "aws-cdk-lib";
import { EventSourceMapping, FilterCriteria, type IEventSourceDlq, StartingPosition } from "aws-cdk-lib/aws-lambda";
import { maxConcurrency, queues as messages } from "../shared/contract/messages.ts";
import { streamSources } from "../shared/contract/stream-sources.ts";
import type { QueueWorker } from "../shared/runtime/worker.ts";
import type { Contents } from "./functions.ts";
import type { Lambdas } from "./lambdas.ts";
import { logicalIdOf, lookUp } from "./names.ts";
import type { Queues } from "./queues.ts";
import { publishedBy, type Settings, workerConcurrencyOf } from "./settings.ts";
import type { Storage } from "./storage.ts";

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
  const published = publishedBy(settings);
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
    const source = streamSources(published).find((streamSource) => streamSource.worker === worker.name);
    if (!source) throw new Error(`${worker.name} has no source in shared/contract/stream-sources.ts.`);
    const destination: IEventSourceDlq = {
      bind: () => ({ destination: lookUp(storage.failures, source.worker).bucketArn }),
    };
    new EventSourceMapping(stack, id, {
      target,
      eventSourceArn: storage.table.tableStreamArn!,
      enabled,
      startingPosition: StartingPosition.TRIM_HORIZON,
      batchSize: source.batchSize,
      ...(source.windowSeconds > 0 && { maxBatchingWindow: Duration.seconds(source.windowSeconds) }),
      parallelizationFactor: Math.min(source.atOnce, atOnce),
      filters: source.patterns.map((pattern) => FilterCriteria.filter(pattern)),
      bisectBatchOnError: true,
      ...(source.retries !== undefined && { retryAttempts: source.retries }),
      maxRecordAge: Duration.millis(source.maxRecordAgeMs),
      reportBatchItemFailures: true,
      onFailure: destination,
    });
  }
}

const batchOf = ({ name }: QueueWorker) => messages[name].batch;
