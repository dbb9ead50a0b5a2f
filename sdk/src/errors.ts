// The error that the clients throw, and how an error response of the service is parsed.

interface Details {
  /** HTTP status; 0 if there was no response. */
  status: number;
  /** Stable: `VALIDATION_ERROR`, `NOT_FOUND`, …; `NETWORK_ERROR` or `TIMEOUT` if there was no response. */
  code: string;
  /** What is wrong with each field. */
  fields?: Record<string, string> | undefined;
  /** Include it in support requests. */
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** The body as received. */
  body?: unknown;
  cause?: unknown;
}

/** A request that was rejected or got no response. */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: Record<string, string> | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly body: unknown;

  constructor(message: string, { status, code, fields, requestId, retryAfterSeconds, body, cause }: Details) {
    super(message, { cause });
    this.name = "ServiceError";
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
    this.body = body;
  }
}

interface KnownBody {
  code?: string;
  message?: string;
  fields?: Record<string, string>;
  error?: string;
  retry_after?: number;
}

/** Parses an error response: the envelope, a plan error (`error`), the per-minute limit, or a gateway's own body. */
export async function errorOf(response: Response): Promise<ServiceError> {
  const text = await response.text().catch(() => "");
  const body = parsed(text);
  const envelope: KnownBody = typeof body === "object" && body !== null ? body : {};
  const header = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(header) ? header : envelope.retry_after;
  const code = envelope.code ?? codeOf(response.status, envelope.error);
  return new ServiceError(envelope.message ?? envelope.error ?? `The service answered ${response.status}.`, {
    status: response.status,
    code,
    fields: envelope.fields,
    body,
    retryAfterSeconds,
    requestId: response.headers.get("x-request-id") ?? undefined,
  });
}

function codeOf(status: number, error: string | undefined): string {
  if (status === 429) return "RATE_LIMITED";
  if (status === 403 && error) return "FEATURE_NOT_AVAILABLE";
  if (status === 413) return "BODY_TOO_LARGE";
  return `HTTP_${status}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
