// Bugs of events, webhooks, quotas, erasure, revocation and suspension.
import type { Bug } from "./bug.ts";

const erasure = "shared/store/subscribers/erasure.ts";
const deliveries = "shared/store/webhooks/deliveries.ts";

export const promisesBugs: readonly Bug[] = [
  {
    name: "a shard takes more than its share of the quota of events",
    area: "quotas",
    file: "shared/store/events/usage.ts",
    find: 'any(absent("events"), atMost("events", shareOf(quota, key.shard) - n))',
    replace: 'any(absent("events"), atMost("events", quota - n))',
  },
  {
    name: "events are refused when one shard has too few left",
    area: "quotas",
    file: "shared/store/events/usage.ts",
    find: "    if (total + n > quota) throw",
    replace: "    if (total + n > quota || attempt === 0) throw",
  },
  {
    name: "the events of the erased keep their actor",
    area: "erasure",
    file: erasure,
    find: "const { changed, isUnfinished } = await eraseEvents(store, subscriber, how);",
    replace: "const [changed, isUnfinished] = [0, false];",
  },
  {
    name: "an erasure is not in the register that exports read",
    area: "erasure",
    file: "shared/store/subscribers/subscribers.ts",
    find: "    putItem(ErasingActor, { actor: actorText(subscriberActor(id)) }, { erase_properties }),\n",
    replace: "",
  },
  {
    name: "an erased subscriber is still counted",
    area: "counters",
    file: "shared/store/subscribers/subscribers.ts",
    find: "    countWrite(id, -1),\n",
    replace: "    countWrite(id, 0),\n",
  },
  {
    name: "a revoked key is still accepted",
    area: "revocation",
    file: "shared/http/authenticate.ts",
    find: 'if (!row || row.revoked_at || row.kind !== "server") throw unauthorized();',
    replace: 'if (!row || row.kind !== "server") throw unauthorized();',
  },
  {
    name: "a suspended workspace may call every endpoint",
    area: "suspension",
    file: "shared/http/gates.ts",
    find: 'if (status === "suspended" && effect !== "session" && !openWhileSuspended)',
    replace: 'if (status === "suspended" && effect === undefined)',
  },
  {
    name: "an answer that allows a send counts however long it took",
    area: "suspension",
    file: "functions/workers/deliver/send-gates.ts",
    find: "const OLD_MS = 3 * SECOND;",
    replace: "const OLD_MS = 300 * SECOND;",
  },
  {
    name: "a second worker repeats an attempt at a webhook",
    area: "webhooks",
    file: deliveries,
    find: 'all(is("outcome", "pending"), is("attempt_count", n - 1), is("earlier", earlier)),',
    replace: 'is("outcome", "pending"),',
  },
  {
    name: "reading all messages reads those that come later",
    area: "inbox",
    file: "shared/store/sends/inbox/inbox.ts",
    find: "{ subscriber, message: newest }, { initial });",
    replace: '{ subscriber, message: newest.slice(0, 8).concat("-ffff-7fff-bfff-ffffffffffff") }, { initial });',
  },
];
