// Bugs of sends whose recipient is on the row of the job: the claim on that row, its release and its end.
import type { Bug } from "./bug.ts";

const claims = "shared/store/sends/job-claims.ts";
const single = "shared/store/sends/single.ts";

export const singlesBugs: readonly Bug[] = [
  {
    name: "the claim of a send to one subscriber is taken over without looking at its lease",
    area: "claims",
    file: claims,
    find: 'all(is("status", "processing"), below("lease", now), isAsRead)',
    replace: 'is("status", "processing")',
    also: [
      {
        file: "functions/workers/deliver/rounds.ts",
        find: "  if (claim.lease >= now) return { retryInMs: claim.lease + 1 - now };\n",
        replace: "",
      },
    ],
  },
  {
    name: "the message of a send to one subscriber is claimed by two workers at once",
    area: "claims",
    file: claims,
    find: 'all(oneOf("status", jobMoves.dispatch.from), absent("owner"))',
    replace: 'oneOf("status", ["queued", "processing"])',
  },
  {
    name: "what a send to one subscriber counted before a wait is counted again at its end",
    area: "counters",
    file: single,
    find: '"owner" in as ? as.reported : {}',
    replace: "{}",
  },
  {
    name: "the delivery of a send that still waits for another address is in no hour",
    area: "counters",
    file: claims,
    find: "changeItem(JobItem, { job }, released, when), ...hours])",
    replace: "changeItem(JobItem, { job }, released, when)])",
  },
  {
    name: "a send to one subscriber that was claimed is not sent again by its watch",
    area: "timers",
    file: "functions/workers/fan-out/watch.ts",
    find: "  await continueDirect(context, ...open);\n",
    replace: "",
  },
  {
    name: "a late round of a send to one inbox does not look for a message of the former one",
    area: "claims",
    file: "functions/workers/deliver/solo.ts",
    find: "written.size > 0 ? round : beginRound(",
    replace: "beginRound(",
  },
];
