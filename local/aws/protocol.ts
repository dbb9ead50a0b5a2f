// The thin codec between the real AWS SDK clients (or the AWS CLI) and the embedded services.
import { Readable } from "node:stream";
import { findRoute } from "./rest-routes.ts";
import type { S3 } from "./s3.ts";
import {
  type AwsFailure,
  type AwsRequest,
  type AwsResponse,
  awsFailure,
  isAwsFailure,
  type ServiceName,
  type StandIn,
  unknownOperation,
  type Wire,
} from "./stand-in.ts";
import { bufferOn, fromWire, isDocumentCommand, marshalled, toWire, unmarshalled } from "./wire-values.ts";

export interface Services extends Record<"dynamodb" | "sqs" | "scheduler" | "kms", StandIn> {
  s3?: S3;
  ses?: StandIn;
  eventbridge?: StandIn;
  /** Alarms and parameters are for the owner of the service: no function calls these two. */
  cloudwatch?: StandIn;
  ssm?: StandIn;
}

/**
 * Observe, delay or fail calls. An `AwsFailure` thrown by a hook is the service's response (a throttle). Any other
 * error is a broken connection, which the caller gets unchanged. `after` runs when the work is done, so throwing there
 * loses the reply of a call that took effect.
 */
export interface Hooks {
  count?(service: ServiceName, operation: string): void;
  before?(service: ServiceName, operation: string, input: Wire): void | Promise<void>;
  after?(service: ServiceName, operation: string, input: Wire, output: Wire): void | Promise<void>;
}

interface Call {
  service: ServiceName;
  operation: string;
  /** Members that travel in the path and the query. */
  bound: Wire;
  rest: boolean;
}

const targets: Record<string, ServiceName> = {
  DynamoDB_20120810: "dynamodb",
  DynamoDBStreams_20120810: "dynamodb",
  AmazonSQS: "sqs",
  TrentService: "kms",
  AWSEvents: "eventbridge",
  GraniteServiceVersion20100801: "cloudwatch",
  AmazonSSM: "ssm",
};

/** SQS returns old error codes beside the names of its shapes. */
const sqsCodes: Record<string, string> = {
  QueueDoesNotExist: "AWS.SimpleQueueService.NonExistentQueue",
  QueueNameExists: "QueueAlreadyExists",
  ...Object.fromEntries(
    [
      "BatchEntryIdsNotDistinct",
      "BatchRequestTooLong",
      "EmptyBatchRequest",
      "InvalidBatchEntryId",
      "MessageNotInflight",
      "TooManyEntriesInBatchRequest",
      "UnsupportedOperation",
    ].map((name) => [name, `AWS.SimpleQueueService.${name}`]),
  ),
};

/** Services that speak version 1.1 of the JSON protocol. */
const JSON_1_1: ReadonlySet<ServiceName> = new Set(["kms", "eventbridge", "ssm"]);

let requests = 0;
const nextRequestId = () => `00000000-0000-4000-8000-${(++requests).toString(16).padStart(12, "0")}`;

const PIECE_BYTES = 65_536;

/** The body of an object of S3 in pieces, as a socket delivers it. */
async function* inPieces(body: Uint8Array, between: (() => Promise<void>) | undefined): AsyncGenerator<Uint8Array> {
  for (let at = 0; at === 0 || at < body.length; at += PIECE_BYTES) {
    yield body.subarray(at, at + PIECE_BYTES);
    await between?.();
  }
}

/**
 * An SDK client's `requestHandler` that responds in process, without sockets.
 * @param between awaited after each piece of an object of S3: a reader of a large one needs no turn of the event loop
 */
export function requestHandler(services: Services, hooks: Hooks = {}, between?: () => Promise<void>) {
  return {
    handle: async (request: AwsRequest, options: { abortSignal?: { aborted: boolean } } = {}) => {
      if (options.abortSignal?.aborted) throw Object.assign(new Error("Request aborted"), { name: "AbortError" });
      const { status, headers, body } = await handleAwsRequest(services, request, hooks);
      // A client reads bytes (an object of S3) as a stream, and JSON as one chunk.
      const bytes = typeof body === "string" ? Buffer.from(body) : Readable.from(inPieces(body, between));
      return { response: { statusCode: status, headers, body: bytes } };
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    metadata: { handlerProtocol: "in-process" },
  };
}

/**
 * A signer for clients of this process, except that of S3: their signatures are not checked, and signing takes a tenth
 * of a call.
 */
export const unsigned = { sign: async <T>(request: T): Promise<T> => request };

/** Handles one HTTP request of the AWS protocols. Rejects only when a hook breaks the connection. */
export async function handleAwsRequest(
  services: Services,
  request: AwsRequest,
  hooks: Hooks = {},
): Promise<AwsResponse> {
  const { s3 } = services;
  if (s3?.claims(request))
    return s3.handle(request, (operation, input) => ask(services, hooks, "s3", operation, input));
  const call = findCall(request);
  if (!call) return failed(undefined, noSuchRoute(request));
  let input: Wire;
  try {
    if (call.service === "dynamodb" && isEmptyBody(request.body)) throw new TypeError("There is no body.");
    input = { ...parseBody(request.body), ...call.bound };
  } catch (error) {
    // The database's own parser says no more than that.
    return failed(call, awsFailure("SerializationException", call.service === "dynamodb" ? "" : String(error)));
  }
  try {
    const output = await ask(services, hooks, call.service, call.operation, input);
    const answered = answer(call, 200, output);
    return call.service === "dynamodb" && SILENT.has(call.operation) ? { ...answered, body: "" } : answered;
  } catch (error) {
    if (isAwsFailure(error)) return failed(call, error);
    throw error;
  }
}

/** Their responses have no body. */
const SILENT = new Set(["TagResource", "UntagResource"]);

/** The only way into a stand-in. Counts the call, runs the hooks, and turns its own errors into 500. */
async function ask(
  services: Services,
  hooks: Hooks,
  service: ServiceName,
  operation: string,
  input: Wire,
): Promise<Wire> {
  hooks.count?.(service, operation);
  await hooks.before?.(service, operation, input);
  const standIn = services[service] ?? unknownService(service);
  const output = await standIn.operate(operation, input).catch((error: unknown) => {
    if (isAwsFailure(error)) throw error;
    throw awsFailure("InternalFailure", `${service} ${operation}: ${(error as Error)?.stack ?? error}`, {
      status: 500,
    });
  });
  await hooks.after?.(service, operation, input, output);
  return output;
}

function unknownService(service: ServiceName): never {
  throw unknownOperation(service);
}

function findCall({ method, path, query, headers }: AwsRequest): Call | undefined {
  const target = headers["x-amz-target"];
  if (target) {
    const [prefix = "", operation = ""] = target.split(".");
    const service = targets[prefix];
    return service && { service, operation, bound: {}, rest: false };
  }
  const found = findRoute(method, path, query ?? {});
  return found && { ...found, rest: true };
}

const isEmptyBody = (body: unknown): boolean =>
  body === undefined || body === null || body === "" || (body instanceof Uint8Array && body.length === 0);

function parseBody(body: unknown): Wire {
  if (isEmptyBody(body)) return {};
  const text = body instanceof Uint8Array ? bufferOn(body).toString("utf8") : body;
  if (typeof text !== "string") throw new TypeError("The body of a request is text or bytes.");
  const value: unknown = text === "" ? {} : JSON.parse(text);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("Not a JSON object.");
  return value as Wire;
}

function answer(call: Call | undefined, status: number, body: Wire, headers: Record<string, string> = {}): AwsResponse {
  const rpc = `application/x-amz-json-${call && JSON_1_1.has(call.service) ? "1.1" : "1.0"}`;
  return {
    status,
    headers: { "content-type": call?.rest ? "application/json" : rpc, "x-amzn-requestid": nextRequestId(), ...headers },
    body: JSON.stringify(body),
  };
}

function failed(call: Call | undefined, { name, message, status, fields }: AwsFailure): AwsResponse {
  if (call?.rest) return answer(call, status, { Message: message, ...fields }, { "x-amzn-errortype": name });
  const headers: Record<string, string> = {};
  if (call?.service === "sqs") {
    headers["x-amzn-query-error"] = `${sqsCodes[name] ?? name};${status < 500 ? "Sender" : "Receiver"}`;
  }
  // Errors of the parser come from another layer, which spells them differently.
  const inCoral = message ? { Message: message } : {};
  const said = call?.service === "dynamodb" && CORAL.has(name) ? inCoral : { message };
  return answer(call, status, { __type: typeOf(call?.service, name), ...said, ...fields }, headers);
}

const CORAL = new Set(["SerializationException", "UnknownOperationException"]);

function typeOf(service: ServiceName | undefined, name: string): string {
  if (service === "dynamodb") {
    if (CORAL.has(name)) return `com.amazon.coral.service#${name}`;
    return name === "ValidationException"
      ? `com.amazon.coral.validate#${name}`
      : `com.amazonaws.dynamodb.v20120810#${name}`;
  }
  return service === "sqs" ? `com.amazonaws.sqs#${name}` : name;
}

function noSuchRoute({ method, path, headers }: AwsRequest): AwsFailure {
  return Object.assign(unknownOperation(headers["x-amz-target"] ?? `${method} ${path}`), { status: 404 });
}

/** The form of every SDK command, as far as its output follows from its type. */
interface Command<Output> {
  input: object;
  readonly schema?: unknown;
  resolveMiddleware(...parameters: never[]): (input: never) => Promise<{ output: Output }>;
}

/**
 * Sends SDK commands directly to `operate`: the same outputs and errors as a client, without HTTP, signing,
 * retries or checksums. For the simulator, where millions of calls are made.
 */
export function sendThrough(services: Services, hooks: Hooks = {}) {
  return async <Output>(command: Command<Output>): Promise<Output> => {
    const document = isDocumentCommand(command) ? command : undefined;
    const { schema } = (document?.clientCommand ?? command) as { schema?: unknown };
    const [, namespace, operation] = schema as [number, string, string];
    const service = namespace.slice(namespace.lastIndexOf(".") + 1) as ServiceName;
    try {
      const given = command.input as Wire;
      const input = document ? marshalled(given, document) : requestOf(service, given);
      const output = await ask(services, hooks, service, operation, input);
      const answered = document ? unmarshalled(output, document) : outputOf(service, output);
      return { ...answered, $metadata: metadata(200) } as Output;
    } catch (error) {
      if (!isAwsFailure(error)) throw error;
      const { name, message, status, fields } = error;
      throw Object.assign(new Error(message), fromWire(service, fields), {
        name,
        $fault: status < 500 ? "client" : "server",
        $metadata: metadata(status),
      });
    }
  };
}

const requestOf = (service: ServiceName, given: Wire): Wire =>
  service === "s3" ? { ...given, ...bodyOf(given) } : { ...(toWire(given) as Wire) };
const outputOf = (service: ServiceName, output: Wire): Wire =>
  service === "s3" ? { ...output, ...streamOf(output) } : (fromWire(service, output) as Wire);

/** Objects are bytes in both directions; what is read arrives as a stream. */
const bodyOf = ({ Body }: Wire) => (typeof Body === "string" ? { Body: Buffer.from(Body) } : {});
const streamOf = ({ Body }: Wire) => (Body instanceof Uint8Array ? { Body: chunkOf(Body) } : {});
async function* chunkOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const metadata = (httpStatusCode: number) => ({ httpStatusCode, requestId: nextRequestId(), attempts: 1 });
