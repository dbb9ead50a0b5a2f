// A program under way: names of what it has made so far, and values that collide.
import { type Random, randomFrom } from "../../../simulator/random.ts";
import type { Body } from "../../model/kit.ts";
import type { Call, Command } from "../program.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type Kind =
  | "suppression"
  | "preview"
  | "plan"
  | "person"
  | "list"
  | "template"
  | "topic"
  | "channel"
  | "send"
  | "segment"
  | "journey"
  | "campaign"
  | "schedule"
  | "experience"
  | "hook"
  | "note"
  | "device";

export interface Draft {
  random: Random;
  commands: Command[];
  now: number;
  made: Record<Kind, string[]>;
  /** Types of the channels by their handle. */
  types: Map<string, string>;
}

export function openDraft(seed: number, now: number): Draft {
  const none = (): string[] => [];
  return {
    ...{ random: randomFrom(seed), commands: [], now, types: new Map() },
    made: {
      ...{ person: none(), list: none(), template: none(), topic: none(), channel: none(), send: none() },
      ...{ segment: none(), journey: none(), campaign: none(), schedule: none(), experience: none() },
      ...{ hook: none(), device: none(), suppression: none(), preview: none(), plan: none(), note: none() },
    },
  };
}

/**
 * Mostly short, sometimes to just before or after a boundary of an hour, a day, a month. Whole seconds, because timers go
 * through queues that know no smaller delay (ARC-4).
 */
export function waitOf({ random }: Draft): number {
  if (random.chance(0.8)) return random.pick([SECOND, SECOND, SECOND, 2 * SECOND, 59 * SECOND]);
  const long = random.pick([MINUTE, 5 * MINUTE, 30 * MINUTE, 36 * MINUTE, HOUR, HOUR, 6 * HOUR, DAY, DAY, 3 * DAY]);
  return long + random.pick([-1, 0, 0, 1, 1]) * SECOND;
}

/** A command, with the time that passes before it. */
export function add(draft: Draft, command: Omit<Call, "kind" | "wait">, kind?: Kind, wait = waitOf(draft)): string {
  const { random, commands } = draft;
  draft.now += wait;
  const isRehearsed = command.file !== undefined && command.body.dry_run === undefined && random.chance(0.5);
  const { handle: _, ...rehearsal } = { ...command, body: { ...command.body, dry_run: "true" } };
  if (isRehearsed) commands.push({ kind: "call", wait, ...rehearsal });
  commands.push({ kind: "call", wait: isRehearsed ? 0 : wait, ...command });
  if (kind && command.handle && !draft.made[kind].includes(command.handle)) draft.made[kind].push(command.handle);
  return command.handle ?? "";
}

export function newHandle(draft: Draft, prefix: string): string {
  const taken = draft.commands.filter((command) => command.kind === "call" && command.handle?.startsWith(prefix));
  return `${prefix}${taken.length + 1}`;
}

/** One that was made; seldom one that never was. */
export function someOf(draft: Draft, kind: Kind): string {
  const { random, made } = draft;
  if (made[kind].length === 0 || random.chance(0.03)) return `@no_${kind}`;
  return `@${random.pick(made[kind])}`;
}

/** The owner mostly; seldom a credential that may not. */
export function dashboardOf({ random }: Draft): string {
  if (random.chance(0.93)) return "owner";
  return random.pick(["admin", "marketer", "developer", "analyst", "viewer", "readonly", "sdk", "server", "none"]);
}

export const iso = (at: number) => new Date(at).toISOString();

/** Around now: before, at, and after. */
export const momentAround = ({ random, now }: Draft): number =>
  now + random.pick([-3 * DAY, -HOUR, -MINUTE, MINUTE, 5 * MINUTE, HOUR, DAY]);

export const NAMES = ["Summer", "summer", "Winter", "Sum"];
export const PEOPLE = ["a", "b", "c", "d", "e"];
export const EVENTS = ["cart", "buy", "open", "visit"];

/** Few keys, few values, on both sides of what comparisons ask for. */
export function attributesOf({ random }: Draft): Body {
  const values: Record<string, Body[]> = {
    tier: ["gold", "silver", "Gold"],
    score: [0, 1, 2, 10, 9.5, -1],
    vip: [true, false],
    city: ["Berlin", "Rome", ""],
    since: ["2026-11-01T00:00:00Z", "2026-11-01T01:00:00+01:00", "2026-12-01T00:00:00Z"],
    first_name: ["Ada", "Bo & Co"],
    last_name: ["Lovelace", "adams"],
    phone: ["+4915112345678", "+15005550006", "0151", "+49"],
  };
  const keys = random.some(Object.keys(values), random.between(0, 3));
  const drawn = keys.map((key) => [key, random.chance(0.1) ? null : random.pick(values[key]!)]);
  return Object.fromEntries(drawn);
}

/** A comparison on one of those attributes. */
export function predicateOf({ random }: Draft): Body {
  const key = random.pick(["tier", "score", "vip", "city", "since", "nowhere"]);
  const operands: Record<string, Body[]> = {
    tier: ["gold", "silver", "bronze"],
    score: [0, 1, 2, 10, "10"],
    vip: [true, false],
    city: ["Berlin", "Rome", ""],
    since: ["2026-11-01T00:00:00Z", "2026-11-15T00:00:00Z"],
    nowhere: ["x", 1],
  };
  const own = operands[key] ?? ["x"];
  const operand = random.pick(own);
  const kind = random.between(0, 9);
  if (kind < 3) return { [key]: { $eq: operand } };
  if (kind < 4) return { [key]: { $ne: operand } };
  if (kind < 5) return { [key]: { $in: random.some(own, random.between(0, 2)) } };
  if (kind < 6) return { [key]: { $nin: random.some(own, random.between(0, 2)) } };
  if (kind < 7) return { [key]: { $exists: random.chance(0.5) } };
  const bound = typeof operand === "boolean" ? 1 : operand;
  return { [key]: { [random.pick(["$gt", "$gte", "$lt", "$lte"])]: bound } };
}
