// Bugs of journeys, segments, lists, campaigns, experiences and imports.
import type { Bug } from "./bug.ts";

const runs = "shared/store/journeys/runs.ts";
const runRows = "shared/store/journeys/run-rows.ts";
const stepJourney = "functions/workers/step-journey/index.ts";
const reactJourneys = "functions/workers/react/journeys.ts";
const memberships = "shared/store/lists/memberships.ts";
const leaves = "shared/store/lists/leaves.ts";
const fillLeaves = "shared/store/segments/fill-leaves.ts";
const campaignJobs = "shared/store/campaigns/jobs.ts";

export const audiencesBugs: readonly Bug[] = [
  {
    name: "a run is moved from wherever it is",
    area: "journeys",
    file: runs,
    find: 'when: all(is("id", run.id), is("seq", run.seq), oneOf("status", from)), counts',
    replace: 'when: oneOf<"status">("status", from), counts',
  },
  {
    name: "a subscriber enters a journey again while a run is active",
    area: "journeys",
    file: runRows,
    find: ' || row.status === "active") return undefined;',
    replace: ") return undefined;",
  },
  {
    name: "a run that moves is still counted where it was",
    area: "journeys",
    file: runs,
    find: "sumOf(before, statusAddends(status, step, 1)",
    replace: "sumOf(statusAddends(status, step, 1)",
  },
  {
    name: "a tick that comes early is dropped",
    area: "journeys",
    file: stepJourney,
    find: "    await tickLater(context, timers, Math.min(MAX_DELAY_SECONDS, Math.ceil((at - now) / SECOND)));",
    replace: "    if (at < now) await tickLater(context, timers, MAX_DELAY_SECONDS);",
  },
  {
    name: "an archived journey goes on",
    area: "journeys",
    file: reactJourneys,
    find: 'filter(becomes("archived")).map(sweeping("cancel")),',
    replace: 'filter(becomes("draft")).map(sweeping("cancel")),',
  },
  {
    name: "archiving a journey cancels only the first page of its runs",
    area: "journeys",
    file: "shared/store/journeys/sweeps.ts",
    find: "  } while (position);\n  return undefined;",
    replace: '  } while (position && mode !== "cancel");\n  return undefined;',
  },
  {
    name: "a member that enters twice is counted twice",
    area: "segments",
    file: memberships,
    find: '      any(absent(), is("member", false)),',
    replace: "      undefined,",
  },
  {
    name: "refused changes of memberships are counted",
    area: "lists",
    file: memberships,
    find: "countWrite(group, shard, sign * pending.length)",
    replace: "countWrite(group, shard, sign * batch.length)",
  },
  {
    name: "a leaf is written although it was changed since it was read",
    area: "segments",
    file: leaves,
    find: 'const isAsRead = asRead("at", i > 0 ? undefined : leaf.at);',
    replace: "const isAsRead = undefined;",
  },
  {
    name: "a page of a computation that is repeated counts twice",
    area: "segments",
    file: fillLeaves,
    find: "await failuresOf(store, [hold, ...leafWrites(segment.id, batch, at)]);",
    replace:
      "await store.transact(leafWrites(segment.id, batch, at).slice(-1)).then(() => failuresOf(store, [hold, ...leafWrites(segment.id, batch, at).slice(0, -1)]));",
  },
  {
    name: "an earlier computation goes on writing leaves",
    area: "segments",
    file: fillLeaves,
    find: '{ set: { run } }, all(is("run", run), absent("done")));',
    replace: "{ set: {}, initial: { run } });",
  },
  {
    name: "an erased subscriber that an in-app send had reached counts as a failure",
    area: "erasure",
    file: "shared/providers/in-app.ts",
    find: "gone.filter(isMissed).length",
    replace: "gone.length",
  },
  {
    name: "the total of a send in progress leaves out who is held out or skipped",
    area: "sending",
    file: "shared/store/sends/audience/audiences.ts",
    find: "people += peopleIn(chunk);",
    replace: "people += chunk.recipients.length;",
  },
  {
    name: "a window that ends changes no segment",
    area: "segments",
    file: "functions/workers/segment/index.ts",
    find: "  if (message.window)\n    add(message.window.subscriber, index.windowed, { firedAt: message.window.at, at: message.window.at });\n",
    replace: "",
  },
  {
    name: "a paused campaign holds nothing",
    area: "campaigns",
    file: campaignJobs,
    find: "isHeld(status) ? hold(store, campaign, job) : letGo(",
    replace: "isHeld(status) ? undefined : letGo(",
  },
];
