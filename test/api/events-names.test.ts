// Names of events and attributes that ingestion records, and which events trigger a worker.
import { expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { HISTORY } from "../../shared/store/events/history.ts";
import { unpackEvents } from "../../shared/store/events/packing.ts";
import { watchWrites } from "../../shared/store/events/watchers.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { SegmentItem } from "../../shared/store/segments/items.ts";
import { type NamedKind, namesOf } from "../../shared/store/subscribers/names.ts";
import { ingest, someEvents } from "../support/events.ts";
import { addPeople, quickStore, wholeTable } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const namesIn = (world: TestWorld, tenant: Tenant, kind: NamedKind) => namesOf(quickStore(world, tenant), kind);

it("an event name is learned with its first event, by one write (EVT-2)", async () => {
  const { world, tenant } = await withTenant();
  await ingest(world, tenant, { events: someEvents(40, (n) => ({ event_name: `name ${n % 4}` })) });

  const { by_operation } = await spent(world, () => ingest(world, tenant, { events: someEvents(1) }));

  expect(by_operation.UpdateItem?.requests).toBe(1);
  expect(await namesIn(world, tenant, "events")).toEqual(["name 0", "name 1", "name 2", "name 3", "seen"]);
});

it("an event name that is known costs nothing (EVT-2)", async () => {
  const { world, tenant } = await withTenant();
  await ingest(world, tenant, { events: someEvents(1) });

  const { by_operation } = await spent(world, () => ingest(world, tenant, { events: someEvents(40) }));

  expect(by_operation.UpdateItem).toBeUndefined();
});

it("as many event names are kept as are ever shown, and further names cost nothing (SEG-11, SEG-12)", async () => {
  const { world, tenant } = await withTenant();
  const batch = (from: number) => ({ events: someEvents(150, (n) => ({ event_name: `name ${from + n}` })) });
  for (const from of [0, 150]) await ingest(world, tenant, batch(from));

  const beyond = await spent(world, () => ingest(world, tenant, batch(300)));

  expect(beyond.by_operation.UpdateItem).toBeUndefined();
  expect(await namesIn(world, tenant, "events")).toHaveLength(200);
});

it("attribute keys are learned from subscribers, without the service's own fields (SUB-3)", async () => {
  const { world, tenant } = await withTenant();

  await addPeople(world, tenant, 30, (n) => ({
    email: "a@example.com",
    attributes: { [`key ${n % 3}`]: n, plan: "pro" },
  }));

  expect(await namesIn(world, tenant, "attributes")).toEqual(["key 0", "key 1", "key 2", "plan"]);
});

it("paths through attributes that are too long to be names keep nothing else from following (SUB-3, SEG-11, SEG-14)", async () => {
  const { world, tenant } = await withTenant({ plan: "enterprise" });
  const rule = { attribute: { plan: { $eq: "pro" } } };
  const { id } = (await tenant.call("POST /api/v1/segments", { name: "Pro", is_dynamic: true, rule })).body;
  await addPeople(world, tenant, 30, (n) => ({ attributes: { [`a${n}`]: { ["x".repeat(15_000)]: 1 } } }));
  await addPeople(world, tenant, 3, () => ({ attributes: { plan: "pro" } }));

  expect((await tenant.call(`GET /api/v1/segments/${id}`)).body.count).toBe(3);
  expect(await namesIn(world, tenant, "attributes")).toHaveLength(31);
});

type Watcher = Parameters<typeof watchWrites>[0];
it.each<[watched: string, reaction: string | undefined, watchers: Watcher[], before: Watcher[]]>([
  ["that nothing watches", undefined, [], []],
  ["that a segment watches", "events", ["segment"], []],
  ["that a journey watches", "events", ["journey"], []],
  ["that both watch", "events", ["segment", "journey"], []],
  ["that one of both watches no more", "events", ["journey"], ["segment"]],
  ["that nothing watches any more", undefined, [], ["segment"]],
])("an event %s has at once the reaction %s (EVT-12)", async (_, reaction, watchers, before) => {
  const { world, tenant } = await withTenant();
  const store = quickStore(world, tenant);
  for (const kind of [...watchers, ...before]) await store.transact(watchWrites(kind, "one", ["bought"]));
  await ingest(world, tenant, { event_name: "seen", anonymous_id: "a" });
  for (const kind of before) await store.transact(watchWrites(kind, "one", []));

  await ingest(world, tenant, { event_name: "bought", anonymous_id: "a" });
  await world.advance(SECOND);

  const histories = (await wholeTable(world)).filter(({ sk }) => sk.S.startsWith(HISTORY));
  const reactions = histories.map(({ events, react }) => {
    const [event] = unpackEvents(Buffer.from(events.B, "base64"));
    return [event?.event_name, react?.S];
  });
  expect(Object.fromEntries(reactions)).toEqual({ seen: undefined, bought: reaction });
});

const exit = { type: "exit", id: "exit" };
const journeyOf = (trigger: object, steps: object = { start: "exit", steps: { exit } }) => ({
  name: "J",
  trigger,
  steps,
});
const seen = { type: "event", event_name: "seen" };
const waitFor = { type: "wait_for_event", id: "wait", wait_for_event: { event_name: "$seen", on_event: "exit" } };

it.each<[what: string, route: string, body: object, field: string, reason?: string]>([
  [
    "the trigger of a journey",
    "POST /api/v1/journeys",
    journeyOf({ type: "event", event_name: "$seen" }),
    "trigger.event_name",
  ],
  [
    "what a step of a journey waits for",
    "POST /api/v1/journeys",
    journeyOf(seen, { start: "wait", steps: { wait: waitFor, exit } }),
    "steps.steps.wait.wait_for_event.event_name",
  ],
  [
    "what ends the runs of a journey",
    "POST /api/v1/journeys",
    journeyOf(seen, { start: "exit", steps: { exit }, exit_conditions: [{ event: { name: "$seen" } }] }),
    "steps.exit_conditions[0].event",
    "must be an object with the name of an event",
  ],
  [
    "a rule of a segment",
    "POST /api/v1/segments",
    { name: "S", is_dynamic: true, rule: { event: { name: "$seen" } } },
    "rule.event.name",
  ],
  ["a conversion", "POST /api/v1/insights/config", { event_name: "$seen" }, "event_name"],
])(
  "an event name that ingestion refuses is refused as %s too (JNY-2, D-EVTYPE)",
  async (_, route, body, field, reason = "must not begin with $: such names are the service's own") => {
    const { tenant } = await withTenant();

    const answer = await tenant.call(route, body);

    expect([answer.status, answer.body.fields]).toEqual([422, { [field]: reason }]);
  },
);

it("a rule that was stored before such names were refused matches nobody by them, and the other rules of its workspace go on (D-EVTYPE)", async () => {
  const { world, tenant } = await withTenant();
  const segmentOf = async (name: string) => {
    const rule = { event: { name } };
    return (await tenant.call("POST /api/v1/segments", { name, is_dynamic: true, rule })).body.id;
  };
  const old = await segmentOf("former");
  await tenant.store.change(SegmentItem, { id: old }, { set: { rule: toJson({ event: { name: "$seen" } }) } });
  const other = await segmentOf("seen");
  await addPeople(world, tenant, 1, () => ({ external_id: "ada" }));
  await ingest(world, tenant, { events: [{ event_name: "seen", external_id: "ada" }] });
  await world.settle();

  const countOf = async (id: string) => (await tenant.call(`GET /api/v1/segments/${id}`)).body.count;
  expect([await countOf(old), await countOf(other)]).toEqual([0, 1]);
});
