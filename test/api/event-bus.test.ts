// What happened goes to the event bus of the account: each event at least once, and nothing else waits for it.
import { describe, expect, it } from "vitest";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { BUS, entriesOnBus, onBus, upsert } from "../support/event-bus.ts";
import { ingest } from "../support/events.ts";
import { post } from "../support/notify.ts";
import { addPeople } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = () => withTenant({ env: { EVENT_BUS: BUS } });

const choose = (world: TestWorld, tenant: Tenant, on: boolean) =>
  world.call("POST /_local/operator", { body: { events_on_bus: { tenant_id: tenant.id, on } } });

describe("outbound events", () => {
  it("outbound events are on the bus as a webhook would get them, without any webhook (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const { id } = await upsert(world, tenant, "ada");
    await world.settle();
    const [event, ...others] = world.eventbridge.events(BUS);

    expect(others).toEqual([]);
    expect(event).toMatchObject({
      source: "engagement-messaging",
      "detail-type": "subscriber.created",
      detail: {
        event_type: "subscriber.created",
        tenant_id: tenant.id,
        sandbox: false,
        events: [
          {
            event_type: "subscriber.created",
            tenant_id: tenant.id,
            timestamp: new Date(world.clock.now()).toISOString(),
            data: { subscriber_id: id, external_id: "ada", created: true },
          },
        ],
      },
    });
  });

  it("outbound events of a send tell its start and its end on the bus (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const { id } = await upsert(world, tenant, "ada");
    const { body: job } = await post(world, tenant, { subscriberIds: [id] });
    await world.settle();
    expect(onBus(world, "notification.dispatched").map(({ data }) => data.job_id)).toEqual([job.id]);
    await world.advance(MINUTE);
    expect(onBus(world, "notification.terminal").map(({ data }) => data)).toMatchObject([
      { job_id: job.id, status: "completed", delivered: 1 },
    ]);
  });

  it("outbound events of one workspace and one type share entries of the bus of up to 64 KB (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    await addPeople(world, tenant, 200, (n) => ({ external_id: `user-${n}`, attributes: { note: "x".repeat(1_000) } }));
    await upsert(world, other, "grace");
    await world.settle();
    const entries = entriesOnBus(world, "subscriber.created");

    expect(Math.max(...entries.map((entry) => Buffer.byteLength(JSON.stringify(entry))))).toBeLessThan(64 * 1_024);
    expect(new Set(entries.map(({ tenant_id }) => tenant_id))).toEqual(new Set([tenant.id, other.id]));
    expect(entries.length).toBeLessThan(201 / 30);
    expect(new Set(onBus(world, "subscriber.created").map(({ id }) => id)).size).toBe(201);
    for (const { tenant_id, events } of entries)
      expect(new Set(events.map((event) => event.tenant_id))).toEqual(new Set([tenant_id]));
  });
});

describe("events that a workspace receives", () => {
  it("received events of a request share an entry of the bus (CLI-3)", async () => {
    const { world, tenant } = await setting();
    await choose(world, tenant, true);
    const { id } = await upsert(world, tenant, "ada");
    const bought = (n: number) => ({ subscriber_id: id, event_name: "bought", properties: { n } });
    await ingest(world, tenant, { events: Array.from({ length: 40 }, (_, n) => bought(n)) });
    await world.settle();

    const [entry, ...others] = entriesOnBus(world, "events.received");
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ tenant_id: tenant.id, event_type: "events.received" });
    expect(entry!.events).toHaveLength(40);
    expect(entry!.events[0]).toMatchObject({ subscriber_id: id, event_name: "bought", source: "server" });
  });

  it("received events of a workspace that the operator did not choose stay off the bus (CLI-3)", async () => {
    const { world, tenant } = await setting();
    await choose(world, await world.tenant(), true);
    await ingest(world, tenant, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
    await world.settle();

    expect(entriesOnBus(world, "events.received")).toEqual([]);
  });

  it("received events follow a change of the operator's choice within a minute (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const send = async () => {
      await ingest(world, tenant, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
      await world.advance(2 * MINUTE);
      return entriesOnBus(world, "events.received").length;
    };
    expect(await send()).toBe(0);
    await choose(world, tenant, true);
    expect(await send()).toBe(1);
    await choose(world, tenant, false);
    expect(await send()).toBe(1);
  });

  it("an operator's choice for a workspace that does not exist is refused (CLI-3)", async () => {
    const { world, tenant } = await setting();

    const { body } = await choose(world, { ...tenant, id: "nobody" as Tenant["id"] }, true);

    expect(body).toEqual({ error: "not_found" });
  });
});

it("the local service shows what is on the bus (CLI-3)", async () => {
  const { world, tenant } = await setting();
  await upsert(world, tenant, "ada");
  await world.settle();
  const { body } = await world.call("GET /_local/event-bus");

  expect(body.items).toMatchObject([{ "detail-type": "subscriber.created", detail: { tenant_id: tenant.id } }]);
});

it("without a bus nothing is published (CLI-3)", async () => {
  const { world, tenant } = await withTenant();
  await upsert(world, tenant, "ada");
  await world.advance(HOUR);

  expect(world.eventbridge.meter()).toEqual({ requests: 0, entries: 0 });
});
