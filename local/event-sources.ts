// What triggers the workers of the local service: the queue of each, and the table's stream as the stack maps it.
import { workers } from "../functions/index.ts";
import { queues } from "../shared/contract/messages.ts";
import { publishedParts, type StreamPattern, streamSources } from "../shared/contract/stream-sources.ts";
import type { Clock } from "../shared/kernel/clock.ts";
import type { Database, Sqs } from "./aws/index.ts";
import type { LambdaHost } from "./lambda.ts";
import type { Log, StreamSource } from "./mapping.ts";
import { createMappings, type Mappings } from "./mappings.ts";

interface Resources {
  sqs: Sqs;
  dynamodb: StreamSource;
  host: LambdaHost;
  /** Another DynamoDB, whose streams have labels that are not ours. */
  remote: { streamArn(table: string): Promise<string | undefined> } | undefined;
}

/**
 * Connects each worker to its queue, or to the stream of the table.
 * @param env of the functions: it tells what is published
 */
export async function mapEventSources(
  { clock, database, warn }: { clock: Clock; database: Database; warn: Log },
  { sqs, dynamodb, host, remote }: Resources,
  table: string,
  env: Readonly<Record<string, string>>,
): Promise<Mappings> {
  const mappings = createMappings({ clock, database, sqs, dynamodb, host, log: warn });
  for (const { name, eventSource } of workers)
    if (eventSource === "queue") mappings.mapQueue({ queue: name, function: name, batchSize: queues[name].batch });
  const stream = await remote?.streamArn(table);
  for (const { worker, patterns, batchSize, retries, maxRecordAgeMs } of streamSources(publishedParts(env))) {
    if (patterns.length === 0) continue;
    mappings.mapTableStream({
      table,
      stream,
      function: worker,
      batchSize,
      maxAttempts: retries === undefined ? Number.POSITIVE_INFINITY : 1 + retries,
      maxRecordAgeMs,
      filter: (record) => matchesOne(patterns, record),
    });
  }
  return mappings;
}

/** Whether a record matches one of the patterns. */
export const matchesOne = (patterns: readonly StreamPattern[], record: object): boolean =>
  patterns.some((pattern) => matches(pattern, record));

function matches(pattern: StreamPattern, value: unknown): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    const found = Object(value)[name] as unknown;
    if (!isRules(wanted)) return matches(wanted, found);
    return wanted.some((rule) => {
      if (typeof rule === "string") return found === rule;
      if ("exists" in rule) return found !== undefined;
      return typeof found === "string" && found.startsWith(rule.prefix);
    });
  });
}

type Rules = Extract<StreamPattern[string], readonly unknown[]>;
const isRules = (wanted: StreamPattern[string]): wanted is Rules => Array.isArray(wanted);
