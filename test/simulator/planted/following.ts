// Bugs of what follows from a write: timers, reactions, queues; of erasure, the walls between tenants, and the inbox.
import type { Bug } from "./bug.ts";

const due = "functions/workers/due/index.ts";
const fanOut = "functions/workers/fan-out/index.ts";
const worker = "shared/worker.ts";

export const followingBugs: readonly Bug[] = [
  {
    name: "due rows are dropped before they are sent on",
    scenario: "timers",
    profile: "storm",
    area: "timers",
    file: due,
    find: "  await Promise.all(\n    [...sendings].map(",
    replace:
      "  await platform.writeAll(rows.map(({ pk, sk }) => ({ remove: { pk, sk } })));\n  await Promise.all(\n    [...sendings].map(",
  },
  {
    name: "a send held by a suspension is not looked at again",
    area: "timers",
    file: fanOut,
    find: 'return timers.set([{ kind: "job", id: job.id, at: now + HELD_RETRY_MS }]);',
    replace: "return;",
    scenario: "suspension",
  },
  {
    name: "a suspension holds nothing",
    area: "timers",
    file: fanOut,
    find: 'if (workspace?.status !== "active")',
    replace: "if (workspace === undefined)",
    scenario: "suspension",
  },
  {
    name: "only the first minute of a batch gets its schedule",
    area: "reactions",
    file: "functions/workers/react/timers.ts",
    find: "for (const minute of minutes) await",
    replace: "for (const minute of [...minutes].slice(0, 1)) await",
    scenario: "timers",
  },
  {
    name: "a job that is fired is not dispatched",
    area: "reactions",
    file: "functions/workers/react/sends.ts",
    find: 'filter(becomes("queued"))',
    replace: 'filter((change) => change.before === undefined && becomes("queued")(change))',
  },
  {
    name: "a batch of the stream that failed is taken for done",
    profile: "firstLine",
    area: "reactions",
    file: worker,
    find: "          throw error;\n",
    replace: "",
  },
  {
    name: "a message that failed is taken for done",
    profile: "firstLine",
    area: "reactions",
    file: worker,
    find: "return [{ itemIdentifier: messageId }];",
    replace: "return [];",
  },
  {
    name: "erasure has no second pass",
    area: "erasure",
    file: "functions/workers/erase/index.ts",
    find: "if (pass === 1) await queue.send(",
    replace: "if (pass === 2) await queue.send(",
    scenario: "sends",
  },
  {
    name: "an upsert revives the erased",
    area: "erasure",
    file: "shared/store/subscribers.ts",
    find: 'const when = mayCreate ? absent("erased_at") : ',
    replace: "const when = mayCreate ? undefined : ",
  },
  {
    name: "the profile of the erased keeps its attributes",
    area: "erasure",
    file: "shared/store/erasure.ts",
    find: "if (remove.length > 0) await store.update(",
    replace: "if (remove.length < 0) await store.update(",
  },
  {
    name: "a worker stays bound to the first workspace it worked for",
    area: "tenancy",
    file: worker,
    find: "await task(message, { ...bind(tenant), clock, ids, log, tenant });",
    replace:
      "parts.bound ??= new Map(); if (!parts.bound.has(bind)) parts.bound.set(bind, bind(tenant)); await task(message, { ...parts.bound.get(bind), clock, ids, log, tenant });",
  },
  {
    name: "a batch of the stream belongs to the workspace of its first record",
    area: "tenancy",
    file: "functions/workers/react/sends.ts",
    find: '.filter(becomes("queued")).map(({ tenant, after }) => ({ tenant, job',
    replace: '.filter(becomes("queued")).map(({ after }) => ({ tenant: jobs[0].tenant, job',
  },
  {
    name: "a read is taken back by the next one",
    area: "inbox",
    file: "shared/store/inbox.ts",
    find: "update(keys.messageState(store.tenant, subscriber, id), { initial });",
    replace: "update(keys.messageState(store.tenant, subscriber, id), { set: initial });",
    scenario: "inbox",
  },
  {
    name: "the live stream looks back no further than its last message",
    area: "inbox",
    file: "functions/stream/feed.ts",
    find: "const OVERLAP_MS = 60 * SECOND;",
    replace: "const OVERLAP_MS = 0;",
    scenario: "live",
  },
  {
    name: "the live stream sends nothing that was there when it resumed",
    area: "inbox",
    file: "functions/stream/feed.ts",
    find: "if (resumeAt === undefined) for",
    replace: "for",
    scenario: "live",
  },
  {
    name: "a batch of events loses its last one",
    area: "events",
    file: "shared/store/event-intake.ts",
    find: "await store.writeAll(rows.map((put) => ({ put })));",
    replace: "await store.writeAll(rows.slice(0, Math.max(1, rows.length - 1)).map((put) => ({ put })));",
    scenario: "events",
  },
  {
    name: "the first link of an anonymous id does not win",
    area: "events",
    file: "shared/store/aliases.ts",
    find: "...row }, when: absent() },",
    replace: "...row } },",
    scenario: "events",
  },
];
