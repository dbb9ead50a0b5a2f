// A program of a user of the SDK, in a project of its own with `strict`, written from the guides alone.
import { createClient } from "engagement-sdk";
import type { JourneyGraph } from "engagement-sdk/types";

/** The paths in a type at which the compiler knows nothing. */
type Loose<T, Path extends string, Deep extends 0[] = []> = Deep["length"] extends 7
  ? never
  : unknown extends T
    ? Path
    : T extends readonly (infer One)[]
      ? Loose<One, `${Path}[]`, [...Deep, 0]>
      : T extends object
        ? {
            [K in keyof T & string]-?: Loose<T[K], string extends K ? `${Path}.*` : `${Path}.${K}`, [...Deep, 0]>;
          }[keyof T & string]
        : never;
/** Does not compile where a value has such a path. */
function known<T>(value: T, ..._loose: [Loose<T, "it">] extends [never] ? [] : [Loose<T, "it">]): T {
  return value;
}

declare const process: { argv: string[] };

const [baseUrl = "", accessToken = "", sdkKey = ""] = process.argv.slice(2);
const service = createClient({ baseUrl, accessToken, sdkKey });
const key = known(
  await service.account.createServerKey({ name: "Orders", scopes: ["subscribers:write", "messages:send"] }),
);
const backend = createClient({ baseUrl, serverKey: key.key });

const segment = known(
  await service.segments.create({
    name: "Paying",
    is_dynamic: true,
    rule: {
      group: {
        op: "or",
        nodes: [{ attribute: { plan: { $in: ["pro", "team"] } } }, { event: { name: "order_paid", within: "30d" } }],
      },
    },
  }),
);
const { channels } = known(await service.channels.list());
const channel_ids = channels.filter(({ type }) => type === "in_app").map(({ id }) => id);
const send = (id: string, title: string, next: string) => ({
  id,
  type: "send" as const,
  send: { channel_ids, content: { title, body: "b" }, next },
});
const steps: JourneyGraph = {
  start: "is_paying",
  steps: {
    is_paying: {
      id: "is_paying",
      type: "branch",
      branch: { condition: { attribute: { plan: { $eq: "pro" } } }, then: "thanks", else: "is_active" },
    },
    is_active: {
      id: "is_active",
      type: "branch",
      branch: { condition: { event: { name: "app_opened", within: "7d" } }, then: "wait", else: "comeback" },
    },
    thanks: send("thanks", "Thank you", "end"),
    wait: {
      id: "wait",
      type: "wait_for_event",
      wait_for_event: { event_name: "order_paid", within: "24h", on_event: "end", on_timeout: "comeback" },
    },
    comeback: send("comeback", "We miss you", "end"),
    end: { id: "end", type: "exit" },
  },
};
const journey = known(
  await service.journeys.create({
    name: "Three ways",
    trigger: { type: "segment_entered", segment_id: segment.id },
    steps,
  }),
);
known(await service.journeys.activate(journey.id));
const ada = known(
  await backend.subscribers.upsertWithServerKey({ external_id: "strict-ada", attributes: { plan: "pro" } }),
);
const sent = known(
  await backend.notifications.createWithServerKey({
    external_ids: ["strict-ada"],
    title: "Shipped",
    body: "Tomorrow.",
  }),
);
await fetch(`${baseUrl}/_local/settle`, { method: "POST" });
const timeline = known(await service.subscribers.getTimeline(ada.id));
const branchesOf = Object.values(journey.steps.steps ?? {}).map((step) =>
  step.type === "branch" ? step.branch?.condition : undefined,
);
console.log(
  JSON.stringify({
    sent: sent.sent,
    branches: branchesOf.filter(Boolean).length,
    timeline: timeline.items.map((item) => item.kind).sort(),
  }),
);
