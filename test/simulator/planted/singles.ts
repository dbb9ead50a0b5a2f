// Bugs of sends whose recipient is on the row of the job: the claim on that row, its release and its end.
import type { Bug } from "./bug.ts";

const claims = "shared/store/sends/chunks/claims.ts";
const closing = "shared/store/sends/chunks/closing.ts";
const quarters = "shared/store/sends/chunks/quarters.ts";
const ahead = "shared/store/workspaces/sends-ahead.ts";

export const singlesBugs: readonly Bug[] = [
  {
    name: "the claim of a send to one subscriber is taken over without looking at its lease",
    area: "claims",
    file: claims,
    find: 'all<string>(isOpen, below("lease", now), isAsRead)',
    replace: 'isOnJob(chunkRef) ? isOpen : all<string>(isOpen, below("lease", now), isAsRead)',
    also: [
      {
        file: "functions/workers/deliver/take.ts",
        find: '  if (claim.lease >= now) return { kind: "wait", ms: claim.lease + 1 - now };\n',
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
    file: closing,
    find: "const add = uncounted(closing);",
    replace: "const add = addends(tally);",
  },
  {
    name: "the delivery of a send that still waits for another address is in no hour",
    area: "counters",
    file: claims,
    find: "[...range, ...hours]",
    replace: "isOnJob(chunkRef) ? range : [...range, ...hours]",
  },
  {
    name: "a late round of a send to one inbox does not look for a message of the former one",
    area: "claims",
    file: "functions/workers/deliver/deliver-inbox.ts",
    find: 'written.size > 0 ? { kind: "begun", at } : beginRound(',
    replace: "beginRound(",
  },
  {
    name: "an environment uses one send more than it took ahead",
    area: "counters",
    file: ahead,
    find: "held.left += n - 1;",
    replace: "held.left += n;",
  },
  {
    name: "what was taken ahead and not used is returned twice",
    area: "counters",
    file: quarters,
    find: "remove: [name] }, is(name, taken))",
    replace: "})",
  },
  {
    name: "what was taken ahead is returned before a partition is settled",
    area: "counters",
    file: "functions/workers/fan-out/watch.ts",
    find: "  const { open } = await settleQuarter(store, secrets, quarter, only);\n  await returnUnused(store, quarter, lanes);\n",
    replace:
      "  await returnUnused(store, quarter, []);\n  const { open } = await settleQuarter(store, secrets, quarter, only);\n",
  },
  {
    name: "every settlement counts a quarter-hour again",
    area: "counters",
    file: quarters,
    find: "beyond(totals, former ? fromJson(former.totals) : {})",
    replace: "totals",
  },
  {
    name: "two settlements of a quarter-hour at once both count it",
    area: "counters",
    file: quarters,
    find: 'former ? is("rev", former.rev) : absent();',
    replace: "undefined;",
  },
  {
    name: "a send that ends after the settlement of its quarter-hour is in no day",
    area: "counters",
    file: quarters,
    find: "if (former && former.seals === sealed && Object.keys(counted).length === 0)",
    replace: "if (former)",
  },
];
