// The frame of every embedded provider: it responds to requests, applies faults, and puts accepted messages into the
// outbox.
import { createHash } from "node:crypto";
import { type Clock, timestamp } from "../../shared/kernel/clock.ts";
import type { Ids } from "../../shared/kernel/ids.ts";
import type { Fault, Faults } from "../faults.ts";
import type { Outbox, OutboxItem } from "../outbox.ts";

export interface SinkRequest {
  method: string;
  host: string;
  /** The path without the query. */
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  body: Buffer;
}

export interface SinkAnswer {
  status: number;
  headers?: Record<string, string>;
  /** JSON unless it is text. */
  body?: object | string;
}

/** Never responds: the caller times out. */
export const HANGS = Symbol("hangs");
type Hangs = typeof HANGS;

export type Sink = (request: SinkRequest) => SinkAnswer | Hangs;

type SinkChannel = OutboxItem["channel"];

export interface SinkDeps {
  clock: Clock;
  ids: Ids;
  outbox: Pick<Outbox, "add">;
  faults: Pick<Faults, "take">;
}

type Message = Omit<OutboxItem, "id" | "at" | "subscriber_id" | "job_id" | "title" | "body"> &
  Partial<Record<"subscriber_id" | "job_id" | "title" | "body", unknown>>;

/** Puts one accepted message into the outbox. */
export function record({ clock, ids, outbox }: SinkDeps, item: Message): string {
  const id = ids.uuidAt(clock.now());
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const { subscriber_id, job_id, title, body, headers, ...rest } = item;
  const whose = { subscriber_id: text(subscriber_id), job_id: text(job_id), title: text(title), body: text(body) };
  outbox.add({ id, ...rest, headers: withoutCredentials(headers), ...whose, at: timestamp(clock.now()) });
  return id;
}

/** The outbox keeps no credential of a provider, only digits by which credentials can be told apart. */
function withoutCredentials({ authorization, ...headers }: Record<string, string>): Record<string, string> {
  if (authorization === undefined) return headers;
  const digits = createHash("sha256").update(authorization).digest("hex").slice(0, 8);
  return { ...headers, authorization: `${authorization.split(" ", 1)[0]} [redacted ${digits}]` };
}

/** How the provider responds to this message, if a fault applies to it. */
export const faultOf = (
  { faults }: Pick<SinkDeps, "faults">,
  channel: SinkChannel,
  subscriber: unknown,
): Fault["outcome"] | undefined =>
  faults.take(channel, typeof subscriber === "string" ? subscriber : undefined)?.outcome;

export type Refusal = Exclude<Fault["outcome"], "timeout">;

/** Accepts a valid message into the outbox, unless a fault refuses it. */
export function accept(
  deps: SinkDeps,
  message: Message,
  refuse: (fault: Refusal) => SinkAnswer,
  accepted: (id: string) => SinkAnswer,
): SinkAnswer | Hangs {
  const fault = faultOf(deps, message.channel, message.subscriber_id);
  if (fault === "timeout") return HANGS;
  return fault ? refuse(fault) : accepted(record(deps, message));
}

/** The error of the credentials, if a fault applies; a fault without a message uses the provider's. */
export function refusedCredentials(
  { faults }: SinkDeps,
  channel: SinkChannel,
  words: string,
): { said: string } | Hangs | undefined {
  const fault = faults.take(`verify:${channel}`);
  if (!fault) return undefined;
  return fault.outcome === "timeout" ? HANGS : { said: fault.message ?? words };
}

/** Accepts valid credentials with `fine`, unless a fault refuses them. `words` are those of the provider. */
export function acceptCredentials(
  deps: SinkDeps,
  channel: SinkChannel,
  { words, refuse, fine }: { words: string; refuse: (said: string) => SinkAnswer; fine: SinkAnswer },
): SinkAnswer | Hangs {
  const refused = refusedCredentials(deps, channel, words);
  if (refused === HANGS) return HANGS;
  return refused ? refuse(refused.said) : fine;
}

/** The parts of a JWT, unverified; undefined if it is not a JWT. */
export function readToken(
  token: string,
): { header: Record<string, unknown>; claims: Record<string, unknown> } | undefined {
  const [header, claims, signature, more] = token.split(".");
  if (!header || !claims || !signature || more !== undefined) return undefined;
  try {
    const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString());
    return { header: read(header), claims: read(claims) };
  } catch {
    return undefined;
  }
}

export function readJson(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
