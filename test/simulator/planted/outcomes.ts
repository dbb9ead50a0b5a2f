// Bugs of what becomes of one message: its outcome, its retries, the lease of its chunk.
import type { Bug } from "./bug.ts";

const progress = "shared/rules/progress.ts";
const claims = "shared/store/sends/chunks/claims.ts";
const take = "functions/workers/deliver/take.ts";

export const outcomesBugs: readonly Bug[] = [
  {
    name: "accepted messages of providers never count as delivered",
    area: "counters",
    file: progress,
    find: "    noteReached(progress, unit, target.channel);",
    replace: '    if (target.channel === "in_app") noteReached(progress, unit, target.channel);',
  },
  {
    name: "a message without an answer is tried again",
    area: "retries",
    file: progress,
    find: '  if (outcome.kind === "retryable" && wait !== undefined) {\n    const due = at + Math.max(wait, 1_000 * (outcome.retryAfterSeconds ?? 0));',
    replace:
      '  if ((outcome.kind === "retryable" && wait !== undefined) || (outcome.kind === "unknown" && tries.length < 3)) {\n    const due = at + 60_000;',
  },
  {
    name: "a claim is taken over without looking at its lease",
    area: "claims",
    file: take,
    find: '  if (claim.lease >= now) return { kind: "wait", ms: claim.lease + 1 - now };\n',
    replace: "",
    also: [
      {
        file: claims,
        find: 'all<string>(isOpen, below("lease", now), isAsRead)',
        replace: 'isOnJob(chunkRef) ? all<string>(isOpen, below("lease", now), isAsRead) : isOpen',
      },
    ],
  },
  {
    name: "the claim of an inbox chunk is taken without looking at its lease",
    area: "claims",
    file: claims,
    find: 'all(absent("closed"), any(absent("owner"), is("owner", owner), below("lease", now))),',
    replace: 'absent("closed"),',
  },
  {
    name: "a group is claimed by a worker that held the chunk before",
    area: "claims",
    file: claims,
    find: "step === 0 ? isUnclaimed : isHeld(lease, isOpen)",
    replace: "step === 0 ? isUnclaimed : isOpen",
  },
  {
    name: "the deliveries of a chunk that waits are in no hour",
    area: "counters",
    file: claims,
    find: "[...range, ...hours]",
    replace: "isOnJob(chunkRef) ? [...range, ...hours] : range",
  },
  {
    name: "the ranges of a dispatched job are not announced",
    area: "sending",
    file: "functions/workers/fan-out/dispatch.ts",
    find: "  if (dispatched) await announce({ ...work, job: dispatched });",
    replace: "",
  },
  {
    name: "a timer that fires before its job is stored is dropped",
    area: "timers",
    file: "functions/workers/fan-out/index.ts",
    find: "  if (clock.now() < setAt(message) + APPEARING_MS)\n",
    replace: "  if (clock.now() < setAt(message))\n",
  },
  {
    name: "a job is fired early by the difference of two clocks",
    area: "timers",
    file: "functions/workers/fan-out/decide.ts",
    find: "  if (now < at) {",
    replace: "  if (now < 0) {",
  },
  {
    name: "due rows of the next two minutes wait for the sweep",
    area: "timers",
    file: "functions/workers/react/timers.ts",
    find: '  await dueQueue.send(soon.map(({ pk, sk }) => ({ kind: "row", row: { pk, sk } })));\n',
    replace: "",
  },
  {
    name: "the sweep skips a minute",
    area: "timers",
    file: "functions/workers/due/index.ts",
    find: "const first = Math.max(swept + 1, last - MAX_MINUTES);",
    replace: "const first = Math.max(swept + 2, last - MAX_MINUTES);",
  },
];
