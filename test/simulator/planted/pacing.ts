// Bugs of the rates of channels.
import type { Bug } from "./bug.ts";

const pacing = "functions/workers/deliver/pacing.ts";

export const pacingBugs: readonly Bug[] = [
  {
    name: "a chunk is sent at once in its slot",
    area: "pacing",
    file: pacing,
    find: "  if (at > clock.now()) await clock.sleep(at - clock.now());\n",
    replace: "",
    also: [{ file: pacing, find: "  if (at >= work.until) return at - clock.now();\n", replace: "" }],
  },
  {
    name: "chunks begin in the same slot",
    area: "pacing",
    file: "shared/store/channels/pace.ts",
    find: "const { after, ...slot } = nextSlot(",
    replace: "const { after: _, ...slot } = nextSlot(",
    also: [
      {
        file: "shared/store/channels/pace.ts",
        find: "{ set: after }, when)",
        replace: "{ set: {}, initial: { cut: 0 } }, when)",
      },
    ],
  },
  {
    name: "a throttle uses up a try",
    area: "pacing",
    file: "shared/rules/progress.ts",
    find: '  if (outcome.status === "retryable" && outcome.isThrottled)\n',
    replace: '  if (outcome.status === "retryable" && outcome.isThrottled && unit.tries.length > 9)\n',
  },
  {
    name: "a channel that is throttled does not slow down",
    area: "pacing",
    file: pacing,
    find: "    await slowDown(work.store, id);\n",
    replace: "",
  },
  {
    name: "a group is larger than what goes in a second",
    area: "pacing",
    file: pacing,
    find: "    if (first > 0 && n > (slots[channel]?.rate ?? Number.POSITIVE_INFINITY)) return whole.slice(0, first);\n",
    replace: "",
  },
];
