// What every page of the reference stands on: requests, answers, refusals, and answers that leave freedom.
import { createHash } from "node:crypto";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

// biome-ignore lint/suspicious/noExplicitAny: bodies are whatever a client sends
export type Body = any;

export interface Credential {
  kind: "sdk" | "server" | "dashboard" | "agent" | "none";
  role?: string;
  readOnly?: boolean;
  /** Of a server key made with explicit scopes. */
  scopes?: readonly string[];
}

export interface Request {
  method: string;
  path: string;
  query: Record<string, string>;
  body: Body;
  as: Credential;
  headers: Record<string, string>;
  /** What the product answered: where the specification leaves a draw open, the reference takes it from here. */
  given: Body;
}

export interface Answer {
  status: number;
  body?: Body;
}

/** A refusal of the standard envelope (ERR-0). The message is free; `fields` are names only. */
export class Refusal extends Error {
  readonly status: number;
  readonly body: Body;
  constructor(status: number, body: Body) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

/** What follows is not promised: two things of one instant compete, say. A program is compared up to there. */
export class Unpromised extends Error {}

/** 422 naming the field (ERR-13). */
export function invalid(...fields: string[]): never {
  throw new Refusal(422, { code: "VALIDATION_ERROR", ...(fields.length > 0 && { fields: new Keys(fields) }) });
}
export function notFound(): never {
  throw new Refusal(404, { code: "NOT_FOUND" });
}
export function conflict(): never {
  throw new Refusal(409, { code: "CONFLICT" });
}
/** AMB-89. */
export function templateNotFound(): never {
  throw new Refusal(422, { code: "TEMPLATE_NOT_FOUND" });
}

/** Checks whose order is not promised: several faults at once may be told by any of them. */
export function together(...checks: (() => unknown)[]): void {
  const refusals = checks.flatMap((check) => {
    try {
      check();
      return [];
    } catch (error) {
      if (error instanceof Refusal) return [error];
      throw error;
    }
  });
  if (refusals.length === 1) throw refusals[0];
  if (refusals.length > 1) throw new Refusal(422, { code: new OneOf(refusals.map(({ body }) => body.code)) });
}

/** What an answer holds where the promise leaves something open. */
class Some<T> {
  readonly of: T;
  constructor(of: T) {
    this.of = of;
  }
}
/** The promise leaves the order of these open. */
export class Unordered extends Some<Body[]> {}
/** The promise leaves the order open among neighbours of an equal key, such as one instant. */
export class OrderedBy {
  readonly items: Body[];
  readonly keys: (string | number)[];
  constructor(items: Body[], keyOf: (item: Body) => string | number) {
    this.items = items;
    this.keys = items.map(keyOf);
  }
}
/** As many as fit of these, from the front. */
export class FirstOf {
  readonly ordered: OrderedBy;
  readonly limit: number;
  constructor(ordered: OrderedBy, limit: number) {
    this.ordered = ordered;
    this.limit = limit;
  }
}
/** Any of these is right. */
export class OneOf extends Some<Body[]> {}
/** A JSON text of this value (SUB-3). */
export class JsonText extends Some<Body> {}
/** An object with at least these keys. */
export class Keys extends Some<string[]> {}
/** Exactly this object: no key more. */
export class Exactly extends Some<Body> {}
/** A number that floating point may round. */
export class About extends Some<number> {}
/** A key that must not be there. */
export const ABSENT = Symbol("absent");
/** Whatever the product says here is not promised. */
export const ANY = Symbol("any");

/** GEN-2: RFC 3339 in UTC with milliseconds. */
export const iso = (at: number) => new Date(at).toISOString();
export const isoOrNull = (at: number | null | undefined) => (at == null ? null : iso(at));

/** An RFC 3339 instant in milliseconds, or undefined. */
export function instant(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text))
    return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** Rulings 3: the deterministic split. */
export function bucketOf(purpose: string, unit: string, subscriber: string): number {
  return createHash("sha256").update(`${purpose}:${unit}:${subscriber}`).digest().readUInt32BE(0) % 10_000;
}

/** A whole unit duration: `15m`, `72h`, `3d` (JND-4, JND-16), or undefined. */
export function duration(text: unknown): number | undefined {
  const found = typeof text === "string" && /^([1-9]\d*)([mhd])$/.exec(text);
  if (!found) return undefined;
  return Number(found[1]) * { m: MINUTE, h: HOUR, d: DAY }[found[2] as "m" | "h" | "d"];
}

export const isRecord = (value: unknown): value is Record<string, Body> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isUuid = (value: unknown) =>
  typeof value === "string" &&
  (value.startsWith("#") || /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(value));

export const same = (a: Body, b: Body) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));

export function sorted(value: Body): Body {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** D-EVTYPE: clients send no event of such a name. */
export const isOwnName = (name: unknown): boolean => typeof name === "string" && name.startsWith("$");
