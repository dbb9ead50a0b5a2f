// What happened goes to the event bus of the account: each event at least once, and nothing else waits for it.
import { describe, expect, it } from "vitest";
import type { EntryFailure } from "../../local/aws/index.ts";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { ingest } from "../support/events.ts";
import { post } from "../support/notify.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const BUS = "engagement";
const setting = () => withTenant({ env: { EVENT_BUS: BUS } });
const REFUSED: EntryFailure = { ErrorCode: "InternalFailure", ErrorMessage: "Try again." };

interface Detail {
  id: string;
  event_type: string;
  tenant_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any data
  data: any;
}

const onBus = ({ eventbridge }: TestWorld, type: string): Detail[] =>
  eventbridge.events(BUS).flatMap((event) => (event["detail-type"] === type ? [event.detail as Detail] : []));

const upsert = async (world: TestWorld, tenant: Tenant, external_id: string) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } })).body;

const choose = (world: TestWorld, tenant: Tenant, on: boolean) =>
  world.call("POST /_local/operator", { body: { events_on_bus: { tenant_id: tenant.id, on } } });

describe("outbound events", () => {
  it("are on the bus as a webhook would get them, without any webhook (CLI-3)", async () => {
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
        timestamp: new Date(world.clock.now()).toISOString(),
        data: { subscriber_id: id, external_id: "ada", created: true },
      },
    });
  });

  it("of a send tell its start and its end (CLI-3)", async () => {
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

  it("that the bus refused in a successful answer are sent again, and only those (CLI-3)", async () => {
    const { world, tenant } = await setting();
    for (let n = 0; n < 25; n++) await upsert(world, tenant, `user-${n}`);
    let failures = 2;
    world.eventbridge.refuse(({ Detail }) =>
      String(Detail).includes('"user-7"') && failures-- > 0 ? REFUSED : undefined,
    );
    await world.advance(MINUTE);
    const people = onBus(world, "subscriber.created").map(({ data }) => data.external_id);
    expect(people.toSorted()).toEqual(Array.from({ length: 25 }, (_, n) => `user-${n}`).toSorted());
    expect(world.eventbridge.meter()).toEqual({ requests: 3 + 2, entries: 25 + 2 });
  });

  it("of a bus that refuses for an hour are all there later, and messages go on meanwhile (CLI-3)", async () => {
    const { world, tenant } = await setting();
    world.eventbridge.refuse(() => REFUSED);
    const { id } = await upsert(world, tenant, "ada");
    for (let minute = 0; minute < 60; minute += 20) {
      const { body: job } = await post(world, tenant, { subscriberIds: [id] });
      await world.advance(MINUTE);
      const { body: sent } = await tenant.call(`GET /api/v1/notifications/${job.id}`);
      expect(sent.status).toBe("completed");
      await world.advance(19 * MINUTE);
    }
    expect(world.eventbridge.events(BUS)).toEqual([]);
    expect(world.logs.filter(({ message }) => message === "the bus refuses events")[0]).toMatchObject({
      error: "InternalFailure",
    });

    world.eventbridge.refuse();
    await world.advance(2 * MINUTE);
    expect(onBus(world, "subscriber.created")).toHaveLength(1);
    expect(onBus(world, "notification.dispatched")).toHaveLength(3);
    expect(onBus(world, "notification.terminal")).toHaveLength(3);
  });

  it("of a request that was throttled are put again (CLI-3)", async () => {
    const { world, tenant } = await setting();
    await world.call("POST /_local/faults", { body: { channel: "aws:eventbridge", times: 2 } });
    await upsert(world, tenant, "ada");
    await world.settle();
    expect(onBus(world, "subscriber.created")).toHaveLength(1);
    expect(world.eventbridge.meter()).toEqual({ requests: 1, entries: 1 });
  });

  it("that come again have the same id (CLI-3)", async () => {
    const { world, tenant } = await setting();
    let isRefusing = true;
    world.eventbridge.refuse(({ Detail }) => (isRefusing && String(Detail).includes('"ada"') ? REFUSED : undefined));
    for (const name of ["ada", "grace"]) await upsert(world, tenant, name);
    await world.advance(5 * MINUTE);
    isRefusing = false;
    await world.advance(2 * MINUTE);
    const ids = (name: string) =>
      onBus(world, "subscriber.created").flatMap(({ id, data }) => (data.external_id === name ? [id] : []));
    expect(ids("ada")).toHaveLength(1);
    expect(ids("grace").length).toBeGreaterThan(1);
    expect(new Set(ids("grace")).size).toBe(1);
  });
});

describe("events that a workspace receives", () => {
  it("go to the bus only where the operator chose so, many in one entry (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    await choose(world, tenant, true);
    const { id } = await upsert(world, tenant, "ada");
    await world.settle();
    world.eventbridge.clear();
    const events = Array.from({ length: 40 }, (_, n) => ({
      subscriber_id: id,
      event_name: "bought",
      properties: { n },
    }));
    await ingest(world, tenant, { events });
    await ingest(world, other, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
    await world.settle();
    const [entry, ...others] = onBus(world, "events.received");
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ tenant_id: tenant.id, event_type: "events.received" });
    expect(entry!.data.events).toHaveLength(40);
    expect(entry!.data.events[0]).toMatchObject({ subscriber_id: id, event_name: "bought", source: "server" });
  });

  it("follow a change of the choice within a minute (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const send = async () => {
      await ingest(world, tenant, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
      await world.advance(2 * MINUTE);
      return onBus(world, "events.received").length;
    };
    expect(await send()).toBe(0);
    await choose(world, tenant, true);
    expect(await send()).toBe(1);
    await choose(world, tenant, false);
    expect(await send()).toBe(1);
    expect((await choose(world, { ...tenant, id: "nobody" as Tenant["id"] }, true)).body).toEqual({
      error: "not_found",
    });
  });
});

it("the local service shows what is on the bus (CLI-3)", async () => {
  const { world, tenant } = await setting();
  await upsert(world, tenant, "ada");
  await world.settle();
  const { body } = await world.call("GET /_local/event-bus");
  expect(body.items).toMatchObject([{ "detail-type": "subscriber.created", detail: { tenant_id: tenant.id } }]);
});

it("without the setting nothing is published (CLI-3)", async () => {
  const { world, tenant } = await withTenant();
  await upsert(world, tenant, "ada");
  await world.advance(HOUR);
  expect(world.eventbridge.meter()).toEqual({ requests: 0, entries: 0 });
});
