// Names of events and attributes that ingestion records, and which events trigger a worker.
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { HISTORY } from "../../shared/store/events/history.ts";
import { unpackEvents } from "../../shared/store/events/packing.ts";
import { watchWrites } from "../../shared/store/events/watchers.ts";
import { type Named, namesOf } from "../../shared/store/subscribers/names.ts";
import { ingest, someEvents } from "../support/events.ts";
import { addPeople, quickStore, wholeTable } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const namesIn = (world: TestWorld, tenant: Tenant, kind: Named) => namesOf(quickStore(world, tenant), kind);

describe("names", () => {
  it("event names are learned once, and cost nothing afterwards (EVT-2)", async () => {
    const { world, tenant } = await withTenant();
    const batch = { events: someEvents(40, (n) => ({ event_name: `name ${n % 4}`, anonymous_id: "a" })) };
    await ingest(world, tenant, batch);
    expect(await namesIn(world, tenant, "events")).toEqual(["name 0", "name 1", "name 2", "name 3"]);
    const again = await spent(world, () => ingest(world, tenant, batch));
    expect(again.by_operation.UpdateItem).toBeUndefined();
    const other = { event_name: "name 9", anonymous_id: "a" };
    expect((await spent(world, () => ingest(world, tenant, other))).by_operation.UpdateItem?.requests).toBe(1);
    expect(await namesIn(world, tenant, "events")).toHaveLength(5);
  });

  it("as many names are kept as are ever shown, and further names cost nothing (SEG-11, SEG-12)", async () => {
    const { world, tenant } = await withTenant();
    const batch = (from: number) => ({ events: someEvents(150, (n) => ({ event_name: `name ${from + n}` })) });
    for (const from of [0, 150]) await ingest(world, tenant, batch(from));
    expect(await namesIn(world, tenant, "events")).toHaveLength(200);
    const beyond = await spent(world, () => ingest(world, tenant, batch(300)));
    expect(beyond.by_operation.UpdateItem).toBeUndefined();
  });

  it("attribute keys are learned from subscribers, without the service's own fields (SUB-3)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 30, (n) => ({
      email: "a@example.com",
      attributes: { [`key ${n % 3}`]: n, plan: "pro" },
    }));
    expect(await namesIn(world, tenant, "attributes")).toEqual(["key 0", "key 1", "key 2", "plan"]);
  });
});

describe("watched events", () => {
  const stored = async (world: TestWorld) =>
    (await wholeTable(world))
      .filter(({ sk }) => sk.S.startsWith(HISTORY))
      .map(({ events, react }) => [unpackEvents(Buffer.from(events.B, "base64"))[0]?.event_name, react?.S]);

  it("an event triggers a reaction only while something of the workspace watches its name, at once in every environment (EVT-12)", async () => {
    const { world, tenant } = await withTenant();
    const store = quickStore(world, tenant);
    const send = (event_name: string) => ingest(world, tenant, { event_name, anonymous_id: "a" });
    const watch = (kind: "segment" | "journey", names: string[]) => store.transact(watchWrites(kind, "one", names));
    await send("early");
    await watch("segment", ["bought", "left"]);
    await watch("journey", ["bought"]);
    await send("bought");
    await send("left");
    await send("seen");
    await watch("segment", []);
    await send("left again");
    await watch("journey", ["left again"]);
    await send("left again");
    await world.advance(SECOND);
    expect((await stored(world)).sort()).toEqual(
      [
        ["bought", "events"],
        ["early", undefined],
        ["left", "events"],
        ["left again", undefined],
        ["left again", "events"],
        ["seen", undefined],
      ].sort(),
    );
  });
});
