// The one error that the clients throw, and how a refusal of the service is read.

interface Details {
  /** HTTP status; 0 where there was no answer. */
  status: number;
  /** Stable: `VALIDATION_ERROR`, `NOT_FOUND`, …; `NETWORK_ERROR` or `TIMEOUT` where there was no answer. */
  code: string;
  /** What is wrong with which field. */
  fields?: Record<string, string> | undefined;
  /** Name it when asking for help. */
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** The body as it came. */
  body?: unknown;
  cause?: unknown;
}

/** A request that was refused, or never answered. */
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

/** Reads a refusal: the envelope, a refusal by plan (`error`), the per-minute limit, or what a gateway says. */
export async function errorOf(response: Response): Promise<ServiceError> {
  const text = await response.text().catch(() => "");
  const body = parsed(text);
  const credentials: KnownBody = typeof body === "object" && body !== null ? body : {};
  const header = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterSeconds = Number.isFinite(header) ? header : credentials.retry_after;
  const code = credentials.code ?? codeOf(response.status, credentials.error);
  return new ServiceError(credentials.message ?? credentials.error ?? `The service answered ${response.status}.`, {
    ...{ status: response.status, code, fields: credentials.fields, body, retryAfterSeconds },
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
