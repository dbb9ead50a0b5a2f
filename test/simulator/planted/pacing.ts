// Bugs of the rates of channels.
import type { Bug } from "./bug.ts";

const pacing = "functions/workers/deliver/pacing.ts";

export const pacingBugs: readonly Bug[] = [
  {
    name: "a throttle uses up a try",
    area: "pacing",
    file: "shared/rules/progress.ts",
    find: '  if (outcome.kind === "retryable" && outcome.isThrottled)\n',
    replace: '  if (outcome.kind === "retryable" && outcome.isThrottled && unit.tries.length > 9)\n',
  },
  {
    name: "a group is larger than what goes in a second",
    area: "pacing",
    file: pacing,
    find: "    if (first > 0 && n > (slots[channel]?.rate ?? Number.POSITIVE_INFINITY)) return whole.slice(0, first);\n",
    replace: "",
  },
];
