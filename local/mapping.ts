// The interface of every event source mapping, and the pauses between its retries.
import { type Clock, MINUTE, SECOND } from "../shared/kernel/clock.ts";
import type { Database, DynamoDb, Sqs, StreamRecord } from "./aws/index.ts";
import type { LambdaHost } from "./lambda.ts";

export type Log = (message: string, details?: Record<string, unknown>) => void;

export interface Mapping {
  readonly name: string;
  readonly function: string;
  /** Whether `pump` would find something to do now. */
  runnable(): boolean;
  /** Runs one round of the work that is due now. Resolves after its invocations; true if there was work. */
  pump(): Promise<boolean>;
  /** When a retry of this mapping is due. */
  nextAt(): number | undefined;
}

/** The source of stream records: the embedded DynamoDB, or one of another process. */
export interface StreamSource extends Pick<DynamoDb, "keepRecords" | "onWrite"> {
  records(table: string, after: string, limit: number): StreamRecord[] | Promise<StreamRecord[]>;
}

export interface MappingDeps {
  clock: Clock;
  database: Database;
  sqs: Pick<Sqs, "operate" | "ready">;
  dynamodb: StreamSource;
  host: LambdaHost;
  log: Log;
}

/** How long to wait before attempt number `tries` + 1: 1, 2, 4 … at most 60 seconds. */
export const backoff = (tries: number): number => Math.min(MINUTE, SECOND * 2 ** Math.min(tries - 1, 10));

/** The identifiers of `batchItemFailures`; undefined if the response is malformed. */
export function failedIdentifiers(answer: unknown): string[] | undefined {
  const failures =
    answer && typeof answer === "object" && "batchItemFailures" in answer ? answer.batchItemFailures : [];
  if (failures === null) return [];
  if (!Array.isArray(failures)) return undefined;
  const ids = failures.map((failure: { itemIdentifier?: unknown } | null) => failure?.itemIdentifier);
  return ids.every((id) => typeof id === "string" && id !== "") ? (ids as string[]) : undefined;
}
