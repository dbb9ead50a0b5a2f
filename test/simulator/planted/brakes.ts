// Bugs of the brake of a send.
import type { Bug } from "./bug.ts";

export const brakesBugs: readonly Bug[] = [
  {
    name: "a halted send goes on with what it has begun",
    area: "sending",
    file: "shared/store/sends/jobs/send-state.ts",
    find: '  if (halted) return "halted";\n  if (record',
    replace: "  if (record",
  },
  {
    name: "runs take a step that halted",
    area: "journeys",
    file: "shared/store/journeys/step-admission.ts",
    find: "if (breach || view.state?.halted) return",
    replace: "if (breach) return",
  },
  {
    name: "a worker that is at work while its send halts and is resumed halts it no more",
    area: "sending",
    file: "functions/workers/deliver/brake.ts",
    find: "      job = newest;\n      local = noFigures();\n",
    replace: "",
  },
];
