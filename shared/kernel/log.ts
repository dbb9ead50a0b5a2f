// One JSON line per entry. Secret and personal values are removed by the name of their field and by their form.
import type { LogEntry } from "./deps.ts";

/** Fields that are never logged, whatever their value. */
const SECRET_FIELDS =
  /^(authorization|x-sdk-key|sdk_key|cookie|password|secret|token|access_token|refresh_token|api_key|api_secret|app_secret|private_key|key_file|email|phone|attributes|properties|body|title|external_id)$/i;

/** Secrets that are recognized by their form. */
const SECRET_LOOKS: readonly RegExp[] = [
  /service_(?:srv|mcp)_[A-Za-z0-9_-]{8,64}/g,
  /whsec_[A-Za-z0-9_-]{8,64}/g,
  /sk_[A-Za-z0-9_-]{8,128}\.[A-Za-z0-9_-]{8,128}/g,
  /eyJ[A-Za-z0-9_-]{8,2048}\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]{0,1024})?/g,
  /-----BEGIN [A-Z ]{3,32}-----/g,
];

const CUT = "[redacted]";
const DEEPEST = 6;

/** A copy of a value that may be logged. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return SECRET_LOOKS.reduce((text, looks) => text.replaceAll(looks, CUT), value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEEPEST) return CUT;
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, SECRET_FIELDS.test(name) ? CUT : redact(item, depth + 1)]),
  );
}

export const errorFields = (error: unknown): { error: string; stack?: string | undefined } =>
  error instanceof Error ? { error: `${error.name}: ${error.message}`, stack: error.stack } : { error: "unknown" };

export const logLine = (entry: LogEntry): string => JSON.stringify(redact(entry));

/** The log of a deployed function: standard output, where the platform collects it. */
export const writeLog = (entry: LogEntry): void => {
  process.stdout.write(`${logLine(entry)}\n`);
};
