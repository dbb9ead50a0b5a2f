// Programs: commands that name what they make and use by handles, so that any of them can be left out.
import { type Body, isRecord } from "../model/kit.ts";
import type { Reference } from "../model/reference.ts";
import type { SessionStep } from "../model/sessions.ts";
import type { Bindings } from "./unify.ts";

export interface Call {
  kind: "call";
  /** Time that passes before it. */
  wait: number;
  as: string;
  method: string;
  path: string;
  query?: Record<string, string>;
  body?: Body;
  headers?: Record<string, string>;
  /** What it makes is known to later commands by this name. */
  handle?: string;
  /** A body of one of the credential endpoints. */
  upload?: string;
  /** The text of an imported file. */
  file?: string;
}
interface FaultCommand {
  kind: "fault";
  wait: number;
  channel: string;
  outcome: string;
  times?: number;
  person?: string;
}
interface Wait {
  kind: "wait";
  wait: number;
}
/** Time passes, and what falls due is done only at its end: workers are late. */
interface Late {
  kind: "late";
  wait: number;
}
/** Somebody opens a link of a mail: the newest that has one, or one before it. */
export interface Link {
  kind: "link";
  wait: number;
  link: "click" | "unsubscribe" | "confirm" | "preferences";
  /** Keys of topics: those that the page of preferences showed, and those of them that were ticked. */
  form?: { shown: string[]; in: string[] };
  method: "GET" | "POST";
  /** 0 is the newest. */
  mail: number;
}
/** The provider tells late what became of a mail: so long before, if it was sent by then. */
export interface Report {
  kind: "report";
  wait: number;
  fate: "bounce" | "complaint" | "arrival";
  ago: number;
  /** 0 is the newest. */
  mail: number;
}
/** The operator sets what was sent this month. */
export interface Usage {
  kind: "usage";
  wait: number;
  sends: number;
}
/** What receivers of webhooks answer from now on. */
interface Receiver {
  kind: "receiver";
  wait: number;
  status: number;
}
/** The app of a person opens its stream, where it left off, or its connection ends. */
export interface Stream {
  kind: "stream";
  wait: number;
  person: string;
  does: "open" | "close";
}
interface ClearFaults {
  kind: "clear faults";
  wait: number;
}
/** A user signs in, or uses what a session gave (AMB-145). */
interface SessionCommand extends SessionStep {
  kind: "session";
  wait: number;
}
export type Command =
  | Call
  | FaultCommand
  | Wait
  | Late
  | Link
  | Report
  | Usage
  | Receiver
  | Stream
  | ClearFaults
  | SessionCommand;

export interface Program {
  seed: number;
  /** In milliseconds. */
  start: number;
  commands: Command[];
}

/** A name that stands for nothing: the same unknown id on both sides. */
function nobody(handle: string): string {
  let sum = 7;
  for (const char of handle) sum = (sum * 31 + char.charCodeAt(0)) % 0xffff_ffff;
  return `00000000-0000-4000-8000-0000${sum.toString(16).padStart(8, "0")}`;
}

/** Which of our ids a handle means: `@p1`, `@msg(p1,0)` (inbox message), `@delivery(h1,0)` (of a webhook), `@job(c1,0)` (send of a campaign or experience), `@approval(c1,0)`, `@run(j1,0)` (of a journey). */
export function idOf(reference: Reference, handles: Map<string, string>, text: string): string | undefined {
  const { world } = reference;
  const inner = /^@(\w+)\((\w+),(\d+)\)$/.exec(text);
  if (!inner) return handles.get(text.slice(1));
  const [, kind, name, number] = inner;
  const owner = handles.get(name!);
  if (kind === "delivery") return world.hookDeliveries.filter(({ hook_id }) => hook_id === owner)[Number(number)]?.id;
  if (kind === "msg") return world.inbox.filter(({ subscriber_id }) => subscriber_id === owner)[Number(number)]?.id;
  if (kind === "run") return world.runs.filter(({ journey_id }) => journey_id === owner)[Number(number)]?.id;
  const campaign = world.campaigns.find(({ id }) => id === owner);
  if (kind === "approval") return campaign?.approval?.id;
  if (campaign) return campaign.messages[Number(number)]?.job_id;
  return world.experiences.find(({ id }) => id === owner)?.job_id ?? undefined;
}

/** A name in a path. */
export const HANDLE = /@\w+(?:\(\w+,\d+\))?/g;
/** E-mail addresses and texts keep their at-sign: a handle stands alone, or between slashes. */
const WHOLE = /^@\w+(?:\(\w+,\d+\))?$/;

/** Replaces handles in everything a command sends. */
export function resolve(value: Body, find: (text: string) => string): Body {
  if (typeof value === "string") return WHOLE.test(value) ? find(value) : value;
  if (Array.isArray(value)) return value.map((item) => resolve(item, find));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, find)]));
}
export const resolvePath = (path: string, find: (text: string) => string): string => path.replace(HANDLE, find);

/** The two ways to read a handle. */
export function readers(reference: Reference, handles: Map<string, string>, bindings: Bindings) {
  const ours = (text: string) => idOf(reference, handles, text) ?? nobody(text);
  const theirs = (text: string) => {
    const id = idOf(reference, handles, text);
    return id === undefined ? nobody(text) : (bindings.product.get(id) ?? nobody(text));
  };
  return { ours, theirs };
}
