// Storm: workers fail between any two of their AWS requests, replies of AWS are lost, and messages come twice.
import { workers } from "../../../functions/index.ts";
import type { Hooks, SqsFaults } from "../../../local/aws/index.ts";
import { randomFrom } from "../../simulator/random.ts";

export interface Storm {
  hooks(functionName: string): Hooks;
  queueFaults: SqsFaults;
  /** From now on nothing fails. */
  end(): void;
  /** How many faults struck. */
  struck(): number;
}

/** Of a call of AWS, before it is made and after it was. */
const CALL_FAILS = 0.01;
/** Calls without a fault after each, more where it strikes one worker again: no message fails as often as a queue bears. */
const PAUSE_CALLS = 30;
const MESSAGE_TWICE = 0.08;

/**
 * A worker that stops between the call of a provider and the record of it does not know what became of the message, and
 * says so (F1). So those that call providers meet repeated messages only.
 */
const CALLS_PROVIDERS: ReadonlySet<string> = new Set(["deliver", "ask-confirmation", "verify-channel", "post-webhook"]);
const mayFail: ReadonlySet<string> = new Set(
  workers.map(({ name }) => name).filter((name) => !CALLS_PROVIDERS.has(name)),
);

/** Nothing fails. */
export const stillness: Storm = {
  hooks: () => ({}),
  queueFaults: { duplicate: () => false, reorder: () => false },
  end: () => undefined,
  struck: () => 0,
};

export function createStorm(seed: number): Storm {
  const random = randomFrom(seed);
  let isOver = false;
  let struck = 0;
  let quiet = 0;
  let last = { name: "", times: 0 };
  const strikes = (probability: number): boolean => {
    if (isOver || !random.chance(probability)) return false;
    struck++;
    return true;
  };
  const fail = (name: string, when: string) => {
    quiet--;
    if (quiet >= 0 || !strikes(CALL_FAILS)) return;
    last = { name, times: name === last.name ? last.times + 1 : 1 };
    quiet = PAUSE_CALLS * last.times;
    throw new Error(`the storm ends this worker ${when} a call`);
  };
  return {
    hooks: (name) =>
      mayFail.has(name) ? { before: () => fail(name, "before"), after: () => fail(name, "after") } : {},
    queueFaults: { duplicate: () => strikes(MESSAGE_TWICE), reorder: () => !isOver && random.chance(0.3) },
    end: () => {
      isOver = true;
    },
    struck: () => struck,
  };
}
