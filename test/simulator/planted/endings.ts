// Bugs of the end of a workspace: its purge after 30 days, and its restoration before.
import type { Bug } from "./bug.ts";

const purge = "shared/store/workspaces/purge.ts";

export const endingsBugs: readonly Bug[] = [
  {
    name: "the purge of a workspace has one pass",
    area: "purge",
    file: purge,
    find: "  if (found > 0) return releasePurge(context, claimed, PAUSE_MS);\n",
    replace: "",
  },
  {
    name: "rows outside of a purged workspace that name it stay",
    area: "purge",
    file: "shared/store/workspaces/rows.ts",
    find: " OR (#tenant = :tenant AND NOT begins_with",
    replace: " OR (#tenant = :own AND NOT begins_with",
  },
  {
    name: "who waits when a send is stopped fails",
    area: "counters",
    file: "shared/rules/progress-notes.ts",
    find: '  for (const unit of progress.next) noteReason(progress, unit, "canceled");\n',
    replace: "",
  },
  {
    name: "what a stopped send did not use is not returned",
    area: "counters",
    file: "shared/store/sends/chunks/ranges.ts",
    find: "if (sent === (job.reserved ?? 0)) return done(undefined);",
    replace: "if (sent <= (job.reserved ?? 0)) return done(undefined);",
  },
  {
    name: "a chunk of a stopped send stays open",
    area: "cancel",
    file: "functions/workers/deliver/index.ts",
    find: 'end.kind === "close" ? [end.closing] : []',
    replace: 'end.kind === "close" && !end.closing.isStopped ? [end.closing] : []',
  },
  {
    name: "a worker that continues a canceled send writes the inbox messages of a claim that counted against a cap",
    area: "cancel",
    file: "functions/workers/deliver/recovery.ts",
    find: "const isWriting = missing.length > 0 && !isStopped;",
    replace: "const isWriting = missing.length > 0;",
  },
  {
    name: "an inbox message that was written right before its send was stopped counts as not sent",
    area: "counters",
    file: "functions/workers/deliver/wind-up.ts",
    find: 'noteReached(progress, unit, "in_app");',
    replace: "void unit;",
  },
];
