// Bugs of what follows from a write: timers, reactions, queues; of erasure, the walls between tenants, and the inbox.
import type { Bug } from "./bug.ts";

const due = "functions/workers/due/index.ts";
const decisions = "functions/workers/fan-out/decide.ts";
const worker = "shared/runtime/worker.ts";

export const followingBugs: readonly Bug[] = [
  {
    name: "due rows are dropped before they are sent on",
    area: "timers",
    file: due,
    find: "  for (const [queue, dueEntries] of Map.groupBy(entries",
    replace: "  await platform.removeRows(rows);\n  for (const [queue, dueEntries] of Map.groupBy(entries",
  },
  {
    name: "a send held by a suspension is not looked at again",
    area: "timers",
    file: decisions,
    find: 'return { kind: "hold", timer: { kind: "job", id: job.id, at: now + HELD_RETRY_MS } };',
    replace: 'return drop("it is held");',
  },
  {
    name: "only the first minute of a batch gets its schedule",
    area: "reactions",
    file: "functions/workers/react/timers.ts",
    find: "chunksOf([...minutes], AT_ONCE)",
    replace: "chunksOf([...minutes].slice(0, 1), AT_ONCE)",
  },
  {
    name: "a batch of the stream that failed is taken for done",
    area: "reactions",
    file: worker,
    find: "    throw error;\n",
    replace: "    return { batchItemFailures: [] };\n",
  },
  {
    name: "a message that failed is taken for done",
    area: "reactions",
    file: worker,
    find: "return messageIds.map((itemIdentifier) => ({ itemIdentifier }));",
    replace: "return [];",
  },
  {
    name: "erasure has no second pass",
    area: "erasure",
    file: "functions/workers/erase/index.ts",
    find: "const isLast = pass === 2 && !isImporting && !isUnfinished;",
    replace: "const isLast = !isImporting && !isUnfinished;",
  },
  {
    name: "an upsert revives the erased",
    area: "erasure",
    file: "shared/store/subscribers/profile-writes.ts",
    find: "const when = all(isAlive(), ...keepsConfirmed(input.email), ...hasRoom(input));",
    replace: 'const when: ReturnType<typeof isAlive> = (n) => "attribute_exists(" + n.name("id") + ")";',
  },
  {
    name: "a worker stays bound to the first workspace it worked for",
    area: "tenancy",
    file: worker,
    find: "=> work({ ...bind(tenant), clock, ids, log });",
    replace: "=> work({ ...((ordinary as any).bound ??= bind(tenant)), clock, ids, log });",
  },
  {
    name: "a batch of the stream belongs to the workspace of its first record",
    area: "tenancy",
    file: "functions/workers/react/sends.ts",
    find: "queued.filter(isSingle).map(({ tenant, after }) => namedSingle(tenant, after))",
    replace: "queued.filter(isSingle).map(({ after }) => namedSingle(queued[0].tenant, after))",
  },
  {
    name: "a read is taken back by the next one",
    area: "inbox",
    file: "shared/store/sends/inbox/inbox.ts",
    find: "store.change(MessageState, key, { initial });",
    replace: "store.change(MessageState, key, { set: initial });",
  },
  {
    name: "the live stream looks back no further than its last message",
    area: "inbox",
    file: "functions/stream/feed.ts",
    find: "timeOfUuid(id) >= cursor - OVERLAP_MS || late_at >= since - OVERLAP_MS",
    replace: "timeOfUuid(id) >= cursor || late_at === since",
  },
  {
    name: "a keyed event is stored again by a request that races",
    area: "events",
    file: "shared/store/events/completion.ts",
    find: "found[i] && found[i].block !== text",
    replace: "found[i] && text === undefined",
  },
  {
    name: "a batch of events that ended early is not completed",
    area: "events",
    file: "functions/workers/react/events.ts",
    find: "await queue.send(messages, { delaySeconds: ENDED_SECONDS });",
    replace: "await queue.send(messages.slice(messages.length), { delaySeconds: ENDED_SECONDS });",
  },
];
