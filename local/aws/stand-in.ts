// The interface of every embedded AWS service: one function from an operation and its wire input to its wire output.
import type { Database } from "./database.ts";
import type { Clock } from "./time.ts";

/** JSON as the service's protocol carries it; binary values are base64 text. */
export type Wire = Record<string, unknown>;

export interface StandIn {
  /** Runs one call, or throws an `AwsFailure`; unknown operations and parameters are rejected. */
  operate(operation: string, input: Wire): Promise<Wire>;
}

/** Where ids and secrets come from. */
export interface Ids {
  uuid(): string;
  /** Cryptographically strong bytes. */
  bytes(length: number): Buffer;
}

/** The deps of a stand-in: time, ids and the file that holds all data. */
export interface Deps {
  clock: Clock;
  ids: Ids;
  database: Database;
}

export type ServiceName =
  | "dynamodb"
  | "sqs"
  | "scheduler"
  | "kms"
  | "s3"
  | "ses"
  | "eventbridge"
  | "cloudwatch"
  | "ssm";

export interface AwsRequest {
  method: string;
  path: string;
  query?: Record<string, string | string[] | null> | undefined;
  /** Names in lower case. */
  headers: Record<string, string>;
  body?: unknown;
}

export interface AwsResponse {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/** An error as the real service returns it. `fields` are the members beside the message. */
export interface AwsFailure extends Error {
  status: number;
  fields: Wire;
}

export function awsFailure(name: string, message: string, { status = 400, fields = {} as Wire } = {}): AwsFailure {
  return Object.assign(new Error(message), { name, status, fields });
}

export const isAwsFailure = (error: unknown): error is AwsFailure =>
  error instanceof Error && "status" in error && "fields" in error;

export const unknownOperation = (operation: string): AwsFailure =>
  awsFailure("UnknownOperationException", `The embedded service does not know the operation ${operation}.`);
