// Bugs of experiences, of the choice between channels, and of explanations.
import type { Bug } from "./bug.ts";

export const shownBugs: readonly Bug[] = [
  {
    name: "messages of an experience that ended are still shown",
    area: "experiences",
    file: "shared/rules/experience-states.ts",
    find: 'status === ("live" satisfies ExperienceStatus);',
    replace: 'status !== ("paused" satisfies ExperienceStatus);',
  },
  {
    name: "a paused experience outlives its end",
    area: "experiences",
    file: "functions/workers/end-experience/index.ts",
    find: '(experience?.status !== "live" && experience?.status !== "paused")',
    replace: 'experience?.status !== "live"',
  },
  {
    name: "a round that began by a clock behind is not in the explanation",
    area: "ledger",
    file: "shared/store/sends/reports/explain.ts",
    find: "Date.parse(dispatched) - CLOCK_TOLERANCE_MS",
    replace: "Date.parse(dispatched)",
  },
  {
    name: "a smart send goes on though a provider may have taken the message",
    area: "sending",
    file: "shared/rules/progress.ts",
    find: 'const isPermanent = outcome.status === "rejected" && !isOver(reason);',
    replace: "const isPermanent = !isOver(reason);",
  },
  {
    name: "a smart send ends with its first class",
    area: "sending",
    file: "shared/rules/progress.ts",
    find: "  if (!open.mayFallBack) return;",
    replace: "  if (!open.mayFallBack || progress.fallbackSteps >= 0) return;",
  },
];
