// Bugs of topics, quiet hours and frequency caps.
import type { Bug } from "./bug.ts";

const caps = "shared/store/sends/audience/caps.ts";

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
    name: "a late request replaces a choice of topics that was made after it",
    area: "sending",
    file: "shared/store/topics/preferences.ts",
    find: "all(isAlive(), ...confirmed.when, ...consents.map(({ channel }) => isAsRead(channel)))",
    replace: "all(isAlive(), ...confirmed.when)",
  },
  {
    name: "a cap is counted without being checked",
    area: "counters",
    file: caps,
    find: "all(...together.map((cap) => any(absent(counterOf(cap)), below(counterOf(cap), cap.max)))),",
    replace: "",
  },
  {
    name: "a recovery run writes to the inbox of recipients that a cap stopped",
    area: "inbox",
    file: "functions/workers/deliver/recovery.ts",
    find: 'unit.entry.kind === "none" && !unit.isCapped;',
    replace: 'unit.entry.kind === "none";',
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
