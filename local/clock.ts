// Service time of one local world: frozen in tests, ticking under `npm start`, moved only by `jumpTo`.
import type { Clock } from "../shared/clock.ts";

export interface ServiceClock extends Clock {
  /** Moves time forward to `at` (never back) and wakes every sleeper that is due by then. */
  jumpTo(at: number): void;
  /** When the next sleeper wants to wake, if anyone sleeps. */
  nextWake(): number | undefined;
  /** Stops time (an advance is under way); `false` lets a ticking clock go on. */
  hold(held: boolean): void;
  /** How far service time is ahead of the wall clock, in milliseconds. */
  offset(): number;
}

interface Sleeper {
  at: number;
  wake(): void;
}

export interface ClockOptions {
  /** Service time at the start, in milliseconds; a ticking clock goes on from here. */
  start: number;
  ticking: boolean;
}

export function createClock({ start, ticking }: ClockOptions): ServiceClock {
  const sleepers = new Set<Sleeper>();
  let base = start;
  let since = performance.now();
  let held = !ticking;
  let alarm: NodeJS.Timeout | undefined;

  const now = () => (held ? base : base + Math.floor(performance.now() - since));

  const nextWake = () => {
    let next: number | undefined;
    for (const { at } of sleepers) if (next === undefined || at < next) next = at;
    return next;
  };

  const wakeDue = () => {
    const due = [...sleepers].filter((sleeper) => sleeper.at <= now()).sort((a, b) => a.at - b.at);
    for (const sleeper of due) sleeper.wake();
    setAlarm();
  };

  const setAlarm = () => {
    clearTimeout(alarm);
    const next = nextWake();
    if (held || next === undefined) return;
    alarm = setTimeout(wakeDue, Math.min(Math.max(0, next - now()), 60_000));
    alarm.unref();
  };

  return {
    now,
    nextWake,
    offset: () => now() - Date.now(),
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper: Sleeper = {
          at: now() + Math.max(0, Math.ceil(ms)),
          wake: () => {
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", sleeper.wake);
            resolve();
          },
        };
        if (signal?.aborted) return resolve();
        sleepers.add(sleeper);
        signal?.addEventListener("abort", sleeper.wake);
        setAlarm();
      }),
    jumpTo: (at) => {
      base = Math.max(now(), at);
      since = performance.now();
      wakeDue();
    },
    hold: (stop) => {
      base = now();
      since = performance.now();
      held = stop || !ticking;
      setAlarm();
    },
  };
}
