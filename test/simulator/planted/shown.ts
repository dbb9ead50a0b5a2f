// Bugs of experiences, of the choice between channels, and of explanations.
import type { Bug } from "./bug.ts";

export const shownBugs: readonly Bug[] = [
  {
    name: "messages of an experience that ended are still shown",
    area: "experiences",
    file: "shared/rules/experience-states.ts",
    find: 'status === ("live" satisfies ExperienceStatus) && (until === undefined || now < Date.parse(until));',
    replace: 'status !== ("paused" satisfies ExperienceStatus);',
  },
  {
    name: "a round that began by a clock behind is not in the explanation",
    area: "ledger",
    file: "shared/store/sends/reports/explain.ts",
    find: "const from = since - CLOCK_TOLERANCE_MS;",
    replace: "const from = since;",
  },
  {
    name: "a smart send goes on though a provider may have taken the message",
    area: "sending",
    file: "shared/rules/progress.ts",
    find: 'const isPermanent = outcome.kind === "rejected" && !isOver(reason);',
    replace: "const isPermanent = !isOver(reason);",
  },
];
