// Bugs of journeys whose runs move in packs, or to another version.
import type { Bug } from "./bug.ts";

const packs = "shared/store/journeys/packs.ts";
const sends = "shared/store/journeys/sends.ts";
const ticks = "shared/store/journeys/ticks.ts";
const entryPacks = "shared/store/journeys/entry-packs.ts";
const runPacks = "shared/store/journeys/run-packs.ts";
const runRows = "shared/store/journeys/run-rows.ts";
const runs = "shared/store/journeys/runs.ts";

const simulations = "shared/store/journeys/simulations.ts";

export const packsBugs: readonly Bug[] = [
  {
    name: "two workers count the pages of a simulation",
    area: "journeys",
    file: "shared/store/leased-jobs.ts",
    find: 'action: "begin", change, when }',
    replace: 'action: "begin", change }',
    also: [
      {
        file: "shared/store/leased-jobs.ts",
        find: 'change: { set }, when: is("lease", lease) }',
        replace: "change: { set } }",
      },
      {
        file: simulations,
        find: '      when: is("lease", lease),\n    },\n  );\n}',
        replace: "    },\n  );\n}",
      },
    ],
  },
  {
    name: "a run that is moved to another version begins its delay anew",
    area: "journeys",
    file: "shared/store/journeys/migrations.ts",
    find: "position: { ...run.position, step }",
    replace: "position: { ...run.position, since: store.clock.now(), step }",
  },
  {
    name: "a run that another worker moved stays a recipient of its pack",
    area: "journeys",
    file: sends,
    find: "const senders = moving.filter((sender) => recipients.has(sender));",
    replace: "const senders = [...recipients.keys()];",
  },
  {
    name: "a run that another worker moved stays in the counts of its pack",
    area: "journeys",
    file: packs,
    find: "const moved = new Map(open.map((move)",
    replace: "const moved = new Map(pack.map((move)",
    also: [
      {
        file: packs,
        find: "const rows = written.flatMap(({ move, rows: moveRows })",
        replace: "const rows = written.filter(({ move }) => open.includes(move)).flatMap(({ move, rows: moveRows })",
      },
    ],
  },
  {
    name: "a pack beyond the quota is sent",
    area: "quotas",
    file: sends,
    find: "  if (deliverySettings && isReserved) {",
    replace: "  if (deliverySettings) {",
  },
  {
    name: "a subscriber who is twice in a message enters once for each",
    area: "journeys",
    file: ticks,
    find: "turnsOf(candidates, ({ subscriber }) => subscriber)",
    replace: "[candidates]",
  },
  {
    name: "an event for a run that another worker moves is left to the next timer",
    area: "journeys",
    file: ticks,
    find: "[...driven.lost].map((candidate)",
    replace: "[...driven.held].map((candidate)",
  },
  {
    name: "what happens while a run begins is left to its next timer",
    area: "journeys",
    file: ticks,
    find: "if (!move.isBetweenSteps && !(candidate.entry && isLookedAtAgain)) return [];",
    replace: "if (!move.isBetweenSteps) return [];",
  },
  {
    name: "a pack is sealed before it is known which of its runs moved",
    area: "journeys",
    file: packs,
    find: "moved: members.filter((_, i) => hasMoved[i]) });",
    replace: "moved: members });",
  },
  {
    name: "a run that moved by a write whose reply was lost is not counted in its pack",
    area: "journeys",
    file: runPacks,
    find: "await store.change(RunItem, key, change, when).catch(onConditionFailed(RunItem, (old) => old));",
    replace: "await store.change(RunItem, key, change, when).catch(onConditionFailed(RunItem, () => undefined));",
  },
  {
    name: "a run moves in a pack that another worker has ended",
    area: "journeys",
    file: runPacks,
    find: '{ set: { seq: seq + 1 }, remove: ["pack"] }',
    replace: '{ remove: ["pack"] }',
  },
  {
    name: "a run that began by a write whose reply was lost is not counted in its pack",
    area: "journeys",
    file: entryPacks,
    find: "if (other && !isOf(other, pack, row.id)) return",
    replace: "if (other) return",
  },
  {
    name: "a run that begins in a pack is found by its subscriber only",
    area: "journeys",
    file: entryPacks,
    find: '    await putEntry(store, row);\n    return { kind: "begun" };',
    replace: '    return { kind: "begun" };',
  },
  {
    name: "a worker that failed leaves its packs to the night",
    area: "journeys",
    file: "functions/workers/step-journey/index.ts",
    find: "    if (context.isRepeated) await settleLeftPacks",
    replace: "    if (!context) await settleLeftPacks",
  },
  {
    name: "two workers begin a run of one subscriber",
    area: "journeys",
    file: runRows,
    find: "if (!row) return { when: absent() };",
    replace: 'if (!row) return { when: absent("pack") };',
  },
  {
    name: "two workers begin the next run of one subscriber",
    area: "journeys",
    file: runRows,
    find: "{ when: isAsRead(row), former: row }",
    replace: '{ when: is("journey_id", row.journey_id), former: row }',
  },
  {
    name: "a run is lost when its subscriber enters again",
    area: "journeys",
    file: runRows,
    find: "return [begin, putItem(RunItem, { ...place, run: former.id }, kept)];",
    replace: "return kept.id === former.id ? [begin] : [];",
  },
  {
    name: "a run that has ended begins again by a message that is delivered again",
    area: "journeys",
    file: runs,
    find: "{ subscriber, status }, absent()),",
    replace: "{ subscriber, status }),",
  },
  {
    name: "a run does not look back to its trigger",
    area: "journeys",
    file: "shared/store/journeys/facts.ts",
    find: "    enteredAt: startOf(run),",
    replace: "    enteredAt: now,",
  },
];
