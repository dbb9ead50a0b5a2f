// Functions that crash between any two of their AWS requests.
import { runner } from "../../local/clock.ts";

type Moment = "before" | "after";
/** A death at the n-th step, before or after it was carried out. */
export type Death = readonly [n: number, moment: Moment];

/** A function that dies at its n-th step, before or after it was carried out, and stays dead until revived. */
export function mortal(worker: string) {
  let left = Number.POSITIVE_INFINITY;
  let when: Moment = "before";
  let isDead = false;
  let steps = 0;
  let trace: { moment: Moment; invocation: unknown }[] = [];
  const step = (moment: Moment) => {
    if (moment === "before") steps++;
    trace.push({ moment, invocation: runner.getStore() });
    if (!isDead && moment === when) left--;
    if (left === 0) isDead = true;
    if (isDead) throw new Error("the worker died");
  };
  return {
    hooks: (name: string) => (name === worker ? { before: () => step("before"), after: () => step("after") } : {}),
    dieAt: (n: number, moment: Moment) => {
      [left, when, isDead, steps, trace] = [n, moment, false, 0, []];
    },
    revive: () => {
      [left, isDead] = [Number.POSITIVE_INFINITY, false];
    },
    steps: () => steps,
    /**
     * The deaths that leave different things behind, where each invocation has one message: before each step, and after the
     * last one of each invocation. After another step it is the same as before the next one.
     */
    deaths: (): Death[] => {
      const of = { before: 0, after: 0 };
      return trace.flatMap(({ moment, invocation }, at) => {
        const death: Death = [++of[moment], moment];
        if (moment === "before") return [death];
        const next = trace.slice(at + 1).find((later) => later.moment === "before");
        return next?.invocation === invocation ? [] : [death];
      });
    },
  };
}
