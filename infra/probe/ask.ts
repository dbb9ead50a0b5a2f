// Requests and checks of the probe.
import { request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";

export interface Check {
  /** The lines of docs/edge.md that it checks. */
  lines: string;
  about: string;
  ok: boolean;
  seen: string;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

export type Ask = (method: string, path: string, headers?: Record<string, string>, body?: unknown) => Promise<Answer>;

/** Returns an observation. @throws the observation, if the contract says otherwise. */
type Observe = () => Promise<string>;

const PATIENCE_MS = 35_000;
const BODY_WAITS_MS = 2_000;
const OVER_LIMIT_BYTES = 10 * 1024 * 1024 + 1;

export const asker =
  (base: string): Ask =>
  async (method, path, headers = {}, body) => {
    const response = await fetch(base + path, {
      method,
      redirect: "manual",
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

export async function check(lines: string, about: string, look: Observe): Promise<Check> {
  try {
    return { lines, about, ok: true, seen: await look() };
  } catch (error) {
    return { lines, about, ok: false, seen: (error as Error).message };
  }
}

export function demand(holds: boolean, seen: string): string {
  if (!holds) throw new Error(seen);
  return seen;
}

/** The object of a JSON text; undefined for any other text. */
export function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The status that answers a body over 10 MB. A server may refuse by the length alone, so the body waits for its
 * response.
 */
export function statusOfLargeBody(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = url.startsWith("https:") ? secureRequest : plainRequest;
    const headers = { "content-type": "application/json", "content-length": OVER_LIMIT_BYTES };
    const asked = start(url, { method: "POST", headers, agent: false, timeout: PATIENCE_MS }, (response) => {
      clearTimeout(unrefused);
      resolve(response.statusCode ?? 0);
      asked.destroy();
    });
    asked.on("timeout", () => asked.destroy(new Error("no answer")));
    asked.on("error", reject);
    asked.flushHeaders();
    const unrefused = setTimeout(() => asked.end(Buffer.alloc(OVER_LIMIT_BYTES, " ")), BODY_WAITS_MS);
    asked.on("close", () => clearTimeout(unrefused));
  });
}
