// The input and output of a function: payloads within Lambda's limits, and failures as its runtime reports them.
import { awsFailure } from "./aws/index.ts";

/** The report about a handler's error that Lambda sends to the invoker. */
interface ErrorReport {
  errorType: string;
  errorMessage: string;
  trace: string[];
}

export interface FunctionFailure extends Error {
  report: ErrorReport;
}

export const isFunctionFailure = (error: unknown): error is FunctionFailure =>
  error instanceof Error && "report" in error;

const REQUEST_LIMIT = 6_291_456;
const RESPONSE_LIMIT = 6_291_556;

export function requestOf(event: unknown, limited: boolean): string {
  const payload = JSON.stringify(event ?? null);
  if (limited && Buffer.byteLength(payload) > REQUEST_LIMIT) {
    const message = `Request must be smaller than ${REQUEST_LIMIT} bytes for the InvokeFunction operation`;
    throw awsFailure("RequestTooLargeException", message, { status: 413 });
  }
  return payload;
}

export function responseOf(answer: unknown, limited: boolean): unknown {
  let payload: string;
  try {
    payload = JSON.stringify(answer) ?? "null";
  } catch {
    throw failure("Runtime.MarshalError", "Unable to stringify response body");
  }
  const size = Buffer.byteLength(payload);
  if (limited && size > RESPONSE_LIMIT) {
    const message = `Response payload size (${size} bytes) exceeded maximum allowed payload size (${RESPONSE_LIMIT} bytes).`;
    throw failure("Function.ResponseSizeTooLarge", message);
  }
  return JSON.parse(payload);
}

export const failure = (type: string, message: string): FunctionFailure =>
  Object.assign(new Error(message), { name: type, report: { errorType: type, errorMessage: message, trace: [] } });

export function functionFailure(error: unknown): FunctionFailure {
  if (isFunctionFailure(error)) return error;
  if (!(error instanceof Error)) return failure(typeof error, String(error));
  const { name, message, stack } = error;
  const report = { errorType: name, errorMessage: message, trace: (stack ?? "").split("\n") };
  return Object.assign(new Error(message, { cause: error }), { name, report });
}
