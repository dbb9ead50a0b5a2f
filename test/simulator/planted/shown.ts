// Bugs of experiences and of the choice between channels, and of what both leave in statistics and explanations.
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
    name: "reports of an arm are counted for the other",
    area: "counters",
    file: "shared/store/sends/interactions/totals.ts",
    find: "v|$".concat("{variant_id}|$", "{REPORTS}|"),
    replace: "v|a|$".concat("{REPORTS}|"),
  },
  {
    name: "a round that began by a clock behind is not in the explanation",
    area: "ledger",
    file: "shared/store/sends/reports/explain.ts",
    find: "Date.parse(dispatched) - CLOCK_TOLERANCE_MS",
    replace: "Date.parse(dispatched)",
  },
  {
    name: "the list of recipients does not say why an inbox got no message",
    area: "ledger",
    file: "shared/store/sends/ledger/recipient-list.ts",
    find: "isInLedger || messages.length > 0 ? known : await readLedger()",
    replace: "known",
  },
  {
    name: "a recipient is explained by the first of its failed addresses",
    area: "ledger",
    file: "shared/store/sends/ledger/recipient-outcome.ts",
    find: "countedReason(attempts.flatMap(({ reason }) => reason ?? []))",
    replace: "attempts.flatMap(({ reason }) => reason ?? [])[0]",
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
