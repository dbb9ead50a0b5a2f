// Bugs of topics, quiet hours and frequency caps.
import type { Bug } from "./bug.ts";

const caps = "shared/store/sends/audience/caps.ts";
const rounds = "functions/workers/deliver/rounds.ts";

export const mannersBugs: readonly Bug[] = [
  {
    name: "skips of the plan are forgotten where a later skip has their reason",
    area: "counters",
    file: "functions/workers/deliver/tally.ts",
    find: "sumOf([plain, { ...NO_TALLY, skip_reasons }]).skip_reasons",
    replace: "{ ...plain.skip_reasons, ...skip_reasons }",
  },
  {
    name: "a choice of a topic does not count once the send is planned",
    area: "sending",
    file: "functions/workers/deliver/topic-choices.ts",
    find: "topic && profile && !isInTopic(contactOf(profile, []).consents, topic)",
    replace: "topic && profile && !profile",
  },
  {
    name: "choices of topics are not looked at again where nothing but inboxes is reached",
    area: "sending",
    file: "shared/store/sends/jobs/single.ts",
    find: "  topic === undefined &&\n",
    replace: "",
  },
  {
    name: "a late request replaces a choice of topics that was made after it",
    area: "sending",
    file: "shared/store/topics/preferences.ts",
    find: "all(isAlive(), ...consents.map(({ channel }) => isAsRead(channel)))",
    replace: "isAlive()",
  },
  {
    name: "the default of a topic overrides an earlier choice",
    area: "sending",
    file: "shared/rules/topics.ts",
    find: 'chosen === undefined ? byDefault === "in"',
    replace: 'chosen === undefined || byDefault === "in" ? byDefault === "in"',
  },
  {
    name: "a cap is counted without being checked",
    area: "counters",
    file: caps,
    find: "all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),",
    replace: "",
  },
  {
    name: "a wait longer than a queue's maximum delay never ends",
    area: "timers",
    file: "functions/workers/deliver/ledger.ts",
    find: 'if (ms > MAX_DELAY_MS) await timers.set([{ kind: "job-release", id: chunkRef.job, at: waits }]);',
    replace: "",
  },
  {
    name: "quiet hours are not checked when a round begins",
    area: "claims",
    file: rounds,
    find: "  waiting.putOff(progress);\n  await assignments",
    replace: "  await assignments",
    also: [
      {
        file: "functions/workers/deliver/round-start.ts",
        find: "  waiting.putOff(progress);\n",
        replace: "",
      },
      { file: "functions/workers/deliver/pacing.ts", find: "  waiting.putOff(progress);\n", replace: "" },
    ],
  },
  {
    name: "a recovery run writes to the inbox of recipients that a cap stopped",
    area: "inbox",
    file: "functions/workers/deliver/recovery.ts",
    find: "&& !rows[i] && !isCapped(i);",
    replace: "&& !rows[i];",
  },
  {
    name: "waiting recipients are counted again at every release",
    area: "counters",
    file: "shared/store/sends/chunks/claims.ts",
    find: "beyond({ deferred }, { deferred: lease.deferred })",
    replace: "beyond({ deferred }, {})",
  },
  {
    name: "counts that a range already has are added once more at the end",
    area: "counters",
    file: "shared/store/sends/chunks/closing.ts",
    find: "{ ...uncounted(closing), ...(deferred",
    replace: "{ ...addends(tally), ...(deferred",
  },
];
