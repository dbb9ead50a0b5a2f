// Service time of one local world: frozen in tests, ticking under `npm start`, moved only by `jumpTo`.
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import type { EventEmitter } from "node:events";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../shared/kernel/clock.ts";

/** The reason with which waits are aborted. One shared reason: a new one for each abort would cost a stack trace. */
export const OVER = Symbol("over");

/** Code that runs on service time, such as an invocation of the Lambda host. */
export interface Runner {
  /** How many of its sleeps are pending. */
  asleep: number;
  /** How many of its requests to something real are open. */
  outside: number;
  /** Called when one of these numbers has changed. */
  changed(): void;
}

/** The runner whose code is running now. A sleep belongs to it, so that an advance knows which runners sleep. */
export const runner = new AsyncLocalStorage<Runner | undefined>();

/** Counts a request of a runner as open. @returns a function that ends it; further calls do nothing */
function beginOutside(caller: Runner): () => void {
  caller.outside++;
  caller.changed();
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    caller.outside--;
    caller.changed();
  };
}

// A runner that waits for a real response must not count as one that waits for service time.
subscribe("http.client.request.created", (message) => {
  const caller = runner.getStore();
  if (!caller) return;
  const end = beginOutside(caller);
  const { request } = message as { request: EventEmitter };
  request.once("close", end);
  // A request to an embedded provider does not count: it is answered within the process, at once or never.
  request.once("socket", (socket: unknown) => {
    if (!(socket instanceof Socket)) end();
  });
});

/** Counts the wait of the running code for a promise of something real, such as a connection. */
export async function outside<T>(promise: Promise<T>): Promise<T> {
  const caller = runner.getStore();
  if (!caller) return promise;
  const end = beginOutside(caller);
  try {
    return await promise;
  } finally {
    end();
  }
}

/** Events of a socket by which its peer has answered, or never will. */
const ANSWERS: ReadonlySet<string | symbol> = new Set(["data", "error", "close"]);

/**
 * Counts the waits of running code for a real peer, from what is written until something is heard.
 * @param isGreeted whether the peer speaks first
 */
export function countWaits(socket: Duplex, isGreeted: boolean): Duplex {
  const { write, emit } = socket;
  let end: (() => void) | undefined;
  const wait = () => {
    const caller = end ? undefined : runner.getStore();
    if (caller) end = beginOutside(caller);
  };
  socket.write = (...piece: unknown[]) => {
    wait();
    return write.apply(socket, piece as Parameters<Duplex["write"]>);
  };
  socket.emit = (name: string | symbol, ...given: unknown[]) => {
    if (ANSWERS.has(name)) {
      end?.();
      end = undefined;
    }
    return emit.call(socket, name, ...given);
  };
  if (isGreeted) wait();
  return socket;
}

/** What ends a wait early. An `AbortSignal` fits, but takes as long to make as a short invocation. */
export interface Ending {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** The ending of one wait. */
export function createEnding(): Ending & { abort(): void } {
  let aborted = false;
  const listeners = new Set<() => void>();
  return {
    get aborted() {
      return aborted;
    },
    addEventListener: (_, listener) => void listeners.add(listener),
    removeEventListener: (_, listener) => void listeners.delete(listener),
    abort: () => {
      aborted = true;
      for (const listener of listeners) listener();
    },
  };
}

/** A clock whose waits end early by any `Ending`. */
export interface WaitingClock extends Clock {
  sleep(ms: number, signal?: Ending): Promise<void>;
}

export interface ServiceClock extends WaitingClock {
  /** Whether time passes by itself while it is not held. */
  readonly ticking: boolean;
  /** Moves time forward to `at` (never back) and ends every sleep that is due by then, earliest first. */
  jumpTo(at: number): void;
  /** When the next sleep of these runners ends; undefined if none of them sleeps. */
  nextTimer(of?: (runner: Runner | undefined) => boolean): number | undefined;
  /** Stops time during an advance; `false` lets a ticking clock continue. */
  hold(held: boolean): void;
  isHeld(): boolean;
  /** How far service time is ahead of the wall clock, in milliseconds. */
  offset(): number;
}

interface Sleeper {
  at: number;
  runner: Runner | undefined;
  resume(): void;
}

interface ClockOptions {
  /** Service time at the start, in milliseconds; a ticking clock continues from here. */
  start: number;
  ticking: boolean;
}

const ALARM_CAP = 60_000;

export function createClock({ start, ticking }: ClockOptions): ServiceClock {
  const sleepers = new Set<Sleeper>();
  let base = start;
  let since = performance.now();
  let held = !ticking;
  let alarm: NodeJS.Timeout | undefined;

  const now = () => (held ? base : base + Math.floor(performance.now() - since));

  const nextTimer: ServiceClock["nextTimer"] = (of) => {
    let next: number | undefined;
    for (const sleeper of sleepers) {
      if ((next === undefined || sleeper.at < next) && (!of || of(sleeper.runner))) next = sleeper.at;
    }
    return next;
  };

  const fireDue = () => {
    const due = [...sleepers].filter((sleeper) => sleeper.at <= now()).sort((a, b) => a.at - b.at);
    for (const sleeper of due) sleeper.resume();
    setAlarm();
  };

  const setAlarm = () => {
    clearTimeout(alarm);
    if (held) return;
    const next = nextTimer();
    if (next === undefined) return;
    alarm = setTimeout(fireDue, Math.min(Math.max(0, next - now()), ALARM_CAP));
    alarm.unref();
  };

  const sleep = (ms: number, signal?: Ending) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper: Sleeper = {
        at: now() + Math.max(0, Math.ceil(ms)),
        runner: runner.getStore(),
        resume: () => {
          if (!sleepers.delete(sleeper)) return;
          signal?.removeEventListener("abort", sleeper.resume);
          if (sleeper.runner) sleeper.runner.asleep--;
          sleeper.runner?.changed();
          resolve();
        },
      };
      sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.resume);
      if (sleeper.runner) sleeper.runner.asleep++;
      sleeper.runner?.changed();
      setAlarm();
    });

  return {
    ticking,
    now,
    nextTimer,
    sleep,
    offset: () => now() - Date.now(),
    jumpTo: (at) => {
      base = Math.max(now(), at);
      since = performance.now();
      fireDue();
    },
    isHeld: () => held,
    hold: (stop) => {
      base = now();
      since = performance.now();
      held = stop || !ticking;
      if (!held) fireDue();
      else clearTimeout(alarm);
    },
  };
}
