// Every error a client can see: one class, one table of codes, one place where an error becomes a body.

/** Code → HTTP status (ERR-1 to ERR-18). */
export const statuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  SECOND_FACTOR_REQUIRED: 401,
  PAYMENT_REQUIRED: 402,
  SEND_CAP_REACHED: 402,
  FORBIDDEN: 403,
  TENANT_SUSPENDED: 403,
  TENANT_DELETED: 403,
  FEATURE_NOT_AVAILABLE: 403,
  READ_ONLY_TOKEN: 403,
  EMAIL_NOT_CONFIRMED: 403,
  SECOND_FACTOR_MISSING: 403,
  SIGN_IN_REQUIRED: 403,
  APPROVAL_REQUIRED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  NOT_A_SANDBOX: 409,
  PRECONDITION_FAILED: 412,
  FILE_TOO_LARGE: 413,
  VALIDATION_ERROR: 422,
  TEMPLATE_NOT_FOUND: 422,
  QUOTA_EXCEEDED: 429,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof statuses;

interface Details {
  /** Field name → the error of the field (ERR-0). */
  fields?: Record<string, string>;
  /** The stored state, if the caller expected another one. */
  current?: unknown;
  headers?: Record<string, string>;
  /** Replaces the envelope where the specification names another body (ERR-19, ERR-20). */
  body?: Record<string, unknown>;
}

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly details: Details;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message);
    this.name = "ApiError";
    this.code = code;
    this.status = statuses[code];
    this.details = details;
  }

  /** The response body: the standard envelope unless the specification names another. */
  body(): Record<string, unknown> {
    const { body, fields, current } = this.details;
    return (
      body ?? {
        code: this.code,
        message: this.message,
        ...(fields && { fields }),
        ...(current !== undefined && { current }),
      }
    );
  }
}

export const unauthorized = (message = "Valid credentials are required."): ApiError =>
  new ApiError("UNAUTHORIZED", message);

export const notFound = (what: string): ApiError => new ApiError("NOT_FOUND", `No such ${what}.`);

/** @throws 404 that names it, where there is none. */
export function requireFound<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw notFound(what);
  return found;
}

/** The refusal in a deleted workspace (ERR-7). */
export const closed = (): ApiError => new ApiError("TENANT_DELETED", "This workspace is closed.");

export const conflict = (message: string): ApiError => new ApiError("CONFLICT", message);

/** A 409: every attempt lost against other writers. */
export const beingChanged = (): ApiError => conflict("Somebody else is changing this at the moment. Try again.");

type Fields = Record<string, string>;

function firstOf(fields: Fields): string {
  const [[name, reason] = ["body", "is invalid"]] = Object.entries(fields);
  return `${name}: ${reason}`;
}

const MAX_NAME = 256;

/** A refused name may come from the caller: an answer does not repeat a long one. */
function refusal(code: ErrorCode, reasons: Fields, message?: string): ApiError {
  const fields = Object.fromEntries(
    Object.entries(reasons).map(([name, reason]) => [name.slice(0, MAX_NAME).toWellFormed(), reason]),
  );
  return new ApiError(code, message ?? firstOf(fields), { fields });
}

/** A 400 about no field: its message says what is wrong. */
export const badRequest = (message: string): ApiError => new ApiError("BAD_REQUEST", message);

/** A 422 that names the faulty fields. */
export const invalid = (fields: Fields, message?: string): ApiError => refusal("VALIDATION_ERROR", fields, message);

/** A 400 that names the faulty fields (AMB-3). */
export const malformed = (fields: Fields, message?: string): ApiError => refusal("BAD_REQUEST", fields, message);

/** An error that is known by its name, as errors of AWS are. */
export const namedError = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The beginnings of messages of busy dependencies, some with a 400, and of our own. */
const BUSY =
  /^(?:InternalServer|KMSInternal|ProvisionedThroughput|Request(?:Limit|Throttled|Timeout)|ServiceUnavailable|Throttl|TimeoutError|TransactionConflict)/;

/** Codes of a connection that broke or was never made. */
const BROKEN = /^E(?:AI_AGAIN|CONNREFUSED|CONNRESET|PIPE|TIMEDOUT)$/;

/** An error of an SDK client has the status of the answer, and a network error has a code. */
function isUnavailable({
  name,
  code = "",
  $metadata,
}: Error & { code?: string; $metadata?: { httpStatusCode?: number } }): boolean {
  const status = $metadata?.httpStatusCode ?? 0;
  return BUSY.test(name) || BROKEN.test(code) || status >= 500 || status === 429;
}

/** Any thrown value as an `ApiError`: a 503 if a dependency was busy, else a 500 without details. */
export function toApiError(error: unknown, requestId: string): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof Error && error.name === "ItemTooLarge")
    return invalid({ body: "holds more than can be stored in one piece (400 KB)" });
  if (error instanceof Error && isUnavailable(error))
    return new ApiError("SERVICE_UNAVAILABLE", "A dependency of the service is busy. Try again.", {
      headers: { "retry-after": "1" },
    });
  return new ApiError("INTERNAL_ERROR", `Something went wrong on our side (request ${requestId}).`);
}
