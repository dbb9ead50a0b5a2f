// Simulated Lambda environments: each is one `create` of a function, serves one invocation at a time, and may die.
import { type Clock, SECOND } from "../../shared/kernel/clock.ts";
import { type Ids, idsFrom } from "../../shared/kernel/ids.ts";
import type { Kernel } from "./kernel.ts";
import type { Random } from "./random.ts";

export interface Process {
  /** `deliver/3` */
  label: string;
  name: string;
  alive: boolean;
  clock: Clock;
  /** Its clock is set anew. */
  jump(): void;
  ids: Ids;
  random: Random;
  /** Whose data the present invocation may touch. */
  tenants: ReadonlySet<string>;
  /** Ends the present invocation. */
  end: ((outcome: Outcome) => void) | undefined;
}

export type Outcome = { answer: unknown } | { failed: string };

// biome-ignore lint/suspicious/noExplicitAny: handlers of several kinds of events, each given its own
export type Handler = (event: any, context: any) => Promise<unknown>;

interface Work {
  tenants: Iterable<string>;
  timeoutSeconds: number;
  /** Called with the process that does it. */
  begins?(process: Process): void;
}

export interface Fleet {
  invoke(name: string, event: unknown, work: Work): Promise<Outcome>;
  /** The process is gone at once: whatever it waits for never comes. */
  crash(process: Process, why: string): void;
  /** Ended from outside, as when a client goes away: no mishap. */
  stop(process: Process, why: string): void;
  crashes(): number;
}

/** A warm environment is taken more often than a new one is made. */
const WARM = 0.85;

export function createFleet(
  kernel: Kernel,
  { skewMs, create }: { skewMs: number; create(process: Process): Handler },
): Fleet {
  const idle = new Map<string, { process: Process; handler: Handler }[]>();
  const dice = kernel.random.fork();
  let made = 0;
  let crashes = 0;

  const start = (name: string) => {
    const random = dice.fork();
    let skew = random.between(-skewMs, skewMs);
    const process: Process = {
      label: `${name}/${++made}`,
      name,
      alive: true,
      random,
      jump: () => {
        skew = random.between(-skewMs, skewMs);
      },
      ids: idsFrom(random.bytes),
      clock: {
        now: () => kernel.now() + skew,
        sleep: (ms) => new Promise((resolve) => void kernel.after(ms, () => process.alive && resolve())),
      },
      tenants: new Set(),
      end: undefined,
    };
    return { process, handler: create(process) };
  };

  const take = (name: string) => {
    const pool = idle.get(name) ?? [];
    idle.set(name, pool);
    if (pool.length === 0 || !dice.chance(WARM)) return start(name);
    return pool.splice(dice.between(0, pool.length - 1), 1)[0]!;
  };

  const stop: Fleet["stop"] = (process, why) => {
    if (!process.alive) return;
    process.alive = false;
    kernel.note(`${process.label} died: ${why}`);
    process.end?.({ failed: why });
  };
  const crash: Fleet["crash"] = (process, why) => {
    if (process.alive) crashes++;
    stop(process, why);
  };

  return {
    crash,
    stop,
    crashes: () => crashes,
    invoke: (name, event, { tenants, timeoutSeconds, begins }) =>
      new Promise((resolve) => {
        const place = take(name);
        const { process, handler } = place;
        process.tenants = new Set(tenants);
        begins?.(process);
        const callOff = kernel.after(timeoutSeconds * SECOND, () => crash(process, "timeout"));
        process.end = (outcome) => {
          callOff();
          process.end = undefined;
          if (process.alive) idle.get(name)!.push(place);
          resolve(outcome);
        };
        handler(event, { awsRequestId: process.label }).then(
          (answer) => process.alive && process.end?.({ answer }),
          (error: unknown) => process.alive && process.end?.({ failed: String(error) }),
        );
      }),
  };
}
