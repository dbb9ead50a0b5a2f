// Bugs of journeys, segments, lists, campaigns, experiences and imports.
import type { Bug } from "./bug.ts";

const runs = "shared/store/journeys/runs.ts";
const runRows = "shared/store/journeys/run-rows.ts";
const stepJourney = "functions/workers/step-journey/index.ts";
const reactJourneys = "functions/workers/react/journeys.ts";
const reactSegments = "functions/workers/react/segments.ts";
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
    find: "    statusAddends(run.status, run.current_step, -1),\n",
    replace: "",
  },
  {
    name: "a run that ends keeps its subscriber from entering again",
    area: "journeys",
    file: runRows,
    find: ' || row.status === "active") return undefined;',
    replace: " || row.id) return undefined;",
  },
  {
    name: "a tick that comes early is dropped",
    area: "journeys",
    file: stepJourney,
    find: "    await tickLater(context, some, Math.min(MAX_DELAY_SECONDS, Math.ceil((at - now) / SECOND)));",
    replace: "    if (at < now) await tickLater(context, some, MAX_DELAY_SECONDS);",
  },
  {
    name: "the tick of a run that is not stored yet is dropped",
    area: "journeys",
    file: stepJourney,
    find: "  await tickLater(context, missing.filter(mayAppear), APPEARING_RETRY_SECONDS);\n",
    replace: "",
  },
  {
    name: "a journey that goes on after a pause leaves its runs where they are",
    area: "journeys",
    file: reactJourneys,
    find: 'filter(becomes("active")).filter(wasPaused).map(sweeping("resume")),',
    replace: 'filter(becomes("draft")).filter(wasPaused).map(sweeping("resume")),',
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
    name: "a member that leaves twice is counted twice",
    area: "segments",
    file: memberships,
    find: 'change, is("member", true)), member];',
    replace: "change, present()), member];",
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
    find: 'const isAsRead = i > 0 || leaf.at === undefined ? absent("at") : is("at", leaf.at);',
    replace: "const isAsRead = undefined;",
  },
  {
    name: "a page of a computation that is repeated counts twice",
    area: "segments",
    file: fillLeaves,
    find: "outcome = await store.transact([hold, ...leafWrites(segment.id, some, at)]).then(",
    replace:
      "outcome = await store.transact(leafWrites(segment.id, some, at).slice(-1)).then(() => store.transact([hold, ...leafWrites(segment.id, some, at).slice(0, -1)])).then(",
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
    name: "the erased stay in static segments",
    area: "erasure",
    file: "shared/store/subscribers/erasure.ts",
    find: "memberships: await forgetStaticMemberships(store, subscriber)",
    replace: "memberships: 0",
  },
  {
    name: "changed attributes change no segment",
    area: "segments",
    file: reactSegments,
    find: "return changedKeys(change.before, change.after).flatMap((key) => byAttribute.get(key) ?? []);",
    replace: "return [];",
  },
  {
    name: "linked anonymous events change no segment",
    area: "segments",
    file: reactSegments,
    find: "const linked = (aliases.get(tenant) ?? []).map(({ after }) => ({ id: after.subscriber }));",
    replace: "const linked = [];",
  },
  {
    name: "a window that ends changes no segment",
    area: "segments",
    file: "functions/workers/segment/index.ts",
    find: "  if (message.window)\n    add(message.window.subscriber, index.windowed, { firedAt: message.window.at, at: message.window.at });\n",
    replace: "",
  },
  {
    name: "a window whose worker's clock is set back sets no next timer",
    area: "segments",
    file: "shared/store/segments/reevaluation.ts",
    find: "Math.max(store.clock.now(), subject.firedAt ?? 0)",
    replace: "store.clock.now()",
  },
  {
    name: "a segment is not computed when it is made",
    area: "segments",
    file: reactSegments,
    find: "  await queue.send(messages(fillParts, begun));\n",
    replace: "",
  },
  {
    name: "a paused campaign holds nothing",
    area: "campaigns",
    file: campaignJobs,
    find: "isHeld(status) ? holdJob(store, job.id) : letGo(",
    replace: "isHeld(status) ? undefined : letGo(",
  },
  {
    name: "a campaign that goes on leaves its jobs held",
    area: "campaigns",
    file: campaignJobs,
    find: "  if (!isMoved) return releaseJob(store, job.id);",
    replace: "  if (!isMoved) return;",
  },
  {
    name: "a campaign is over before its last job",
    area: "campaigns",
    file: campaignJobs,
    find: "!jobs.every((job) => job && isTerminal(job.status))",
    replace: "!jobs.some((job) => job && isTerminal(job.status))",
  },
  {
    name: "the send of an experience that ended is not canceled",
    area: "experiences",
    file: "shared/store/experiences/life.ts",
    find: "      ...(await cancelWrites(store, experience)),\n      ...endUseWrites",
    replace: "      ...endUseWrites",
  },
  {
    name: "subscribers that an import creates together are counted as one",
    area: "imports",
    file: "shared/store/subscribers/import-packs.ts",
    find: "changeItem(SubscriberCount, { shard }, countChange({ n }))",
    replace: "changeItem(SubscriberCount, { shard }, countChange({ n: 1 }))",
  },
  {
    name: "a slow computation of a segment writes by a rule that has changed",
    area: "segments",
    file: "shared/store/segments/fill.ts",
    find: "{ enter, leave, historical, hold: holdWrite(segment, part) }",
    replace: "{ enter, leave, historical }",
  },
];
