// The kernel: virtual time, a heap of events, and a trace. Every await of something outside waits for an event here.
import { createHash } from "node:crypto";
import { nextTick } from "node:process";
import { setImmediate as nextTurn } from "node:timers/promises";
import { HOUR } from "../../shared/kernel/clock.ts";
import type { Random } from "./random.ts";

interface Event {
  at: number;
  /** Tells events of one instant apart: in the order they were made. */
  order: number;
  action: () => void;
  /** Does not keep the world busy: it recurs for ever. */
  background: boolean;
  dropped: boolean;
}

export interface Line {
  at: number;
  text: string;
}

export interface Kernel {
  readonly random: Random;
  now(): number;
  /** Runs `handler` after `ms`; what it returns calls that off. */
  after(ms: number, action: () => void, options?: { background?: boolean }): () => void;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
  /** Writes a line into the trace. */
  note(text: string): void;
  readonly trace: readonly Line[];
  /** Events that keep the world busy. */
  pending(): number;
  /**
   * Runs events in their order until `reasonToEnd`, asked before each, gives one.
   * @returns why it ended: that reason, `idle` without any event left, or `endless` after so many events in all that the seed
   * would hardly end
   */
  run<Reason extends { kind: string }>(
    reasonToEnd: () => Reason | undefined,
  ): Promise<Reason | { kind: "idle" } | { kind: "endless" }>;
  /** Of the trace: the same seed gives the same. */
  hash(): string;
  /** Real SDK clients take real turns of the event loop: counted here while none of them waits for an event. */
  outside: { running: number };
}

/** Events after this time, such as what is due tomorrow, do not keep the world busy. */
export const HORIZON_MS = 5 * HOUR;
/** Ten times as many as the longest seeds have. */
const MAX_EVENTS = 400_000;

export function createKernel(start: number, random: Random): Kernel {
  const heap: Event[] = [];
  const trace: Line[] = [];
  const outside = { running: 0 };
  let now = start;
  let made = 0;
  let pending = 0;
  let events = 0;

  const after: Kernel["after"] = (ms, action, options = {}) => {
    const at = now + Math.max(0, Math.round(ms));
    const background = options.background === true || at > start + HORIZON_MS;
    const event: Event = { at, order: made++, action, background, dropped: false };
    push(heap, event);
    if (!background) pending++;
    return () => {
      if (event.dropped) return;
      event.dropped = true;
      if (!background) pending--;
    };
  };

  return {
    random,
    trace,
    outside,
    now: () => now,
    after,
    sleep: (ms) => new Promise((resolve) => void after(ms, resolve)),
    note: (text) => {
      trace.push({ at: now, text });
    },
    pending: () => pending,
    run: async (reasonToEnd) => {
      while (events < MAX_EVENTS) {
        const reason = reasonToEnd();
        if (reason) return reason;
        const event = pop(heap);
        if (!event) return { kind: "idle" };
        if (event.dropped) continue;
        event.dropped = true;
        events++;
        if (!event.background) pending--;
        now = event.at;
        event.action();
        await settled();
        while (outside.running > 0) await nextTurn();
      }
      return { kind: "endless" };
    },
    hash: () => {
      const text = trace.map((line) => `${line.at} ${line.text}\n`).join("");
      return createHash("sha256").update(text).digest("hex").slice(0, 16);
    },
  };
}

/** Resolves when no promise has anything left to do: far cheaper than a turn of the event loop. */
const settled = () => new Promise<void>((resolve) => queueMicrotask(() => nextTick(resolve)));

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Event[], event: Event): void {
  let at = heap.push(event) - 1;
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = event;
}

function pop(heap: Event[]): Event | undefined {
  const first = heap[0];
  const last = heap.pop();
  if (!first || !last || first === last) return first;
  let at = 0;
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return first;
}
