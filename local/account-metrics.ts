// What AWS itself counts in an account, of the local queues, functions, gateway, table and schedules: for the alarms of a template.
import { deadQueueOf, queueNames, streamWorkers } from "../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../shared/kernel/clock.ts";
import { type Hooks, isAwsFailure, type Sqs } from "./aws/index.ts";
import type { Gateway, GatewayResponse } from "./gateway.ts";
import type { LambdaHost } from "./lambda.ts";

/** One value of a metric. `of` is the local name of what its dimension names; absent where the metric has none, or one resource. */
export interface Counted {
  namespace: string;
  name: string;
  of?: string | undefined;
  value: number;
}

interface MetricDeps {
  now(): number;
  count(counted: Counted): void;
}

export interface AccountMetrics {
  /** Counts invocations, and looks at the queues at most once a minute. */
  host(host: LambdaHost, sqs: Sqs): LambdaHost;
  /** An invocation found no room. */
  throttled(functionName: string): void;
  gateway(gateway: Gateway): Gateway;
  /** Counts throttled calls of the table. */
  hooks(hooks: Hooks | undefined): Hooks;
  /** Counts schedules whose target could not be reached. */
  delivery<T>(deliver: (target: T) => Promise<void>): (target: T) => Promise<void>;
  /** Looks at the queues now. */
  look(): void;
}

const watchedQueues = [...queueNames, ...[...queueNames, ...streamWorkers].map(deadQueueOf)];
const SERVER_ERRORS = 500;
const THROTTLES = /^(ThrottlingException|ProvisionedThroughputExceededException)$/;
const READS = /^(Get|BatchGet|TransactGet|Query|Scan)/;

export function countAccount({ now, count }: MetricDeps): AccountMetrics {
  let look: () => void = () => undefined;
  let lookedAt = 0;

  const ofFunction = (name: "Errors" | "Throttles", of: string) => {
    count({ namespace: "AWS/Lambda", name, of, value: 1 });
    count({ namespace: "AWS/Lambda", name, value: 1 });
  };

  const failed = (of: string, error: unknown): never => {
    // Another service's answer, such as that of a throttled invocation, is no failure of the function.
    if (!isAwsFailure(error)) ofFunction("Errors", of);
    throw error;
  };

  return {
    host: (host, sqs) => {
      look = () => {
        lookedAt = now();
        for (const of of watchedQueues) {
          const oldest = sqs.oldest(of);
          const age = oldest === undefined ? 0 : (now() - oldest) / SECOND;
          count({ namespace: "AWS/SQS", name: "ApproximateAgeOfOldestMessage", of, value: age });
          count({ namespace: "AWS/SQS", name: "ApproximateNumberOfMessagesVisible", of, value: sqs.depth(of).visible });
        }
      };
      host.onChange(() => {
        count({ namespace: "AWS/Lambda", name: "ConcurrentExecutions", value: host.running() });
        if (now() - lookedAt >= MINUTE) look();
      });
      return {
        ...host,
        invoke: (name, event, lineage) => {
          const age = ageOfRecords(event, now());
          if (age !== undefined) count({ namespace: "AWS/Lambda", name: "IteratorAge", of: name, value: age });
          return host.invoke(name, event, lineage).catch((error) => failed(name, error));
        },
        invokeStreaming: (name, event, out) =>
          host.invokeStreaming(name, event, out).catch((error) => failed(name, error)),
      };
    },
    throttled: (name) => ofFunction("Throttles", name),
    gateway: (gateway) => ({
      ...gateway,
      handle: async (request) => {
        const { streaming } = gateway.plan(request.method, request.path);
        const response: GatewayResponse = await gateway.handle(request);
        if (!streaming && response.status >= SERVER_ERRORS)
          count({ namespace: "AWS/ApiGateway", name: "5xx", value: 1 });
        return response;
      },
    }),
    hooks: (hooks = {}) => ({
      ...hooks,
      before: async (service, operation, input) => {
        try {
          await hooks.before?.(service, operation, input);
        } catch (error) {
          const { name } = error as Error;
          const kind = READS.test(operation) ? "Read" : "Write";
          if (service === "dynamodb" && THROTTLES.test(name))
            count({ namespace: "AWS/DynamoDB", name: `${kind}ThrottleEvents`, value: 1 });
          throw error;
        }
      },
    }),
    delivery: (deliver) => (target) =>
      deliver(target).catch((error) => {
        count({ namespace: "AWS/Scheduler", name: "TargetErrorCount", value: 1 });
        throw error;
      }),
    look: () => look(),
  };
}

/** Where no alarm watches. */
export const uncounted: AccountMetrics = {
  host: (host) => host,
  throttled: () => undefined,
  gateway: (gateway) => gateway,
  hooks: (hooks = {}) => hooks,
  delivery: (deliver) => deliver,
  look: () => undefined,
};

/** How old the first record of a stream's batch is, in milliseconds; undefined for another event. */
function ageOfRecords(event: unknown, now: number): number | undefined {
  const { Records } = Object(event) as { Records?: { dynamodb?: { ApproximateCreationDateTime?: number } }[] };
  const writtenAt = Records?.[0]?.dynamodb?.ApproximateCreationDateTime;
  return writtenAt === undefined ? undefined : Math.max(0, now - writtenAt * SECOND);
}
