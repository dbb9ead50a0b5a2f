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
    name: "a send to one subscriber is ended by a worker that held it before",
    area: "claims",
    file: single,
    find: "      when: isHeldBy(as),",
    replace: '      when: is("status", "processing"),',
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
    name: "a wait of a send to one subscriber is forgotten at its time",
    area: "timers",
    file: "functions/workers/fan-out/watch.ts",
    find: "  if (job.direct) return continueDirect(context, job);\n  const [first",
    replace: "  if (job.direct) return;\n  const [first",
  },
  {
    name: "the sends to one subscriber of a quarter-hour are watched once only",
    area: "timers",
    file: "functions/workers/fan-out/watch.ts",
    find: "  await timers.set([watchOf(quarter, clock.now())]);\n",
    replace: "",
  },
  {
    name: "the watch of a quarter-hour misses sends to one subscriber that were made before its last minutes",
    area: "timers",
    file: "shared/store/sends/send-watch.ts",
    find: "from: uuidPrefixOf(quarter * QUARTER_MS - MARGIN_MS),",
    replace: "from: uuidPrefixOf((quarter + 1) * QUARTER_MS - MARGIN_MS),",
  },
];
