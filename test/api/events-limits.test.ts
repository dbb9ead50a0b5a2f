// Limits of event ingestion, and times of devices whose clock is wrong.
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exportAll, ingest, someEvents } from "../support/events.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const event = (more: object = {}) => ({ event_name: "seen", anonymous_id: "visitor", ...more });

describe("limits", () => {
  it("an event whose values are at their limits is accepted (EVT-2, EVT-6)", async () => {
    const { world, tenant } = await withTenant();
    const properties = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`${n}`.padEnd(256, "k"), "v".repeat(256)]),
    );
    for (const tier of ["sdk", "server"] as const)
      expect((await ingest(world, tenant, event({ event_name: "n".repeat(128), properties }), tier)).status).toBe(202);
  });

  it.each([
    ["sdk", 128],
    ["server", 32],
  ] as const)(
    "an event of the tier %s has at most %i KB as bytes of JSON, not as characters (EVT-15)",
    async (tier, max) => {
      const { world, tenant } = await withTenant();
      const textOf = (euros: number) => event({ properties: { k: Array(200).fill("€".repeat(euros)) } });
      const fits = Math.floor((max * 1024) / 3 / 200) - 2;

      expect((await ingest(world, tenant, textOf(fits), tier)).status).toBe(202);
      expect((await ingest(world, tenant, textOf(fits + 3), tier)).status).toBe(422);
    },
  );

  it.each([
    ["sdk", 50],
    ["server", 1_000],
  ] as const)("a request of the tier %s has at most %i events (EVT-14)", async (tier, max) => {
    const { world, tenant } = await withTenant();

    const fits = await ingest(world, tenant, { events: someEvents(max) }, tier);
    const beyond = await ingest(world, tenant, { events: someEvents(max + 1) }, tier);
    await world.advance(SECOND);

    expect(fits.body).toEqual({ accepted: max });
    expect(beyond.status).toBe(422);
    expect(Object.keys(beyond.body.fields)).toEqual(["events"]);
    expect(await exportAll(world, tenant)).toHaveLength(max);
  });

  it("a body of events of 500 KB is accepted from a server key and one byte more is 413, while from a client only its events are limited (EVT-15, AMB-20)", async () => {
    const { world, tenant } = await withTenant();
    const body = (bytes: number) => {
      const text = JSON.stringify({ events: someEvents(100) });
      return Buffer.from(text.padEnd(bytes, " "));
    };
    const send = (raw: Buffer, as = tenant.server) =>
      world.call("POST /v1/events", { as, raw, headers: { "content-type": "application/json" } });
    expect((await send(body(512_000))).status).toBe(202);
    const beyond = await send(body(512_001));
    expect(beyond.status).toBe(413);
    expect(beyond.body.code).toBe("FILE_TOO_LARGE");
    const broken = await send(Buffer.alloc(512_001, "{"));
    expect(broken.status).toBe(413);
    expect((await send(body(512_001), tenant.sdk)).status).toBe(422);
    const max = { events: someEvents(50, () => ({ properties: { k: Array(40).fill("x".repeat(256)) } })) };
    expect((await ingest(world, tenant, max, "sdk")).status).toBe(202);
  });

  const statusAt = async (tier: "sdk" | "server") => {
    const { world, tenant } = await withTenant();
    return async (ms: number) =>
      (await ingest(world, tenant, event({ occurred_at: timestamp(START + ms) }), tier)).status;
  };

  it.each([
    ["sdk", "48 hours", 48 * HOUR],
    ["server", "90 days", 90 * DAY],
  ] as const)("an event of the tier %s may be %s old, to the millisecond (EVT-17)", async (tier, _, age) => {
    const at = await statusAt(tier);

    expect(await at(-age)).toBe(202);
    expect(await at(-age - 1)).toBe(422);
  });

  it("a server's event is at most five minutes ahead (EVT-17, AMB-24, AMB-117)", async () => {
    const at = await statusAt("server");

    expect(await at(5 * MINUTE)).toBe(202);
    expect(await at(5 * MINUTE + 1)).toBe(422);
  });
});

describe("the clock of a device", () => {
  /** The times of the events of a batch, in milliseconds from now, as they were stored. */
  async function storedTimes(body: { sent_at?: string }, times: readonly number[]) {
    const { world, tenant } = await withTenant();
    const events = times.map((ms, n) => event({ properties: { n }, occurred_at: timestamp(START + ms) }));
    const answer = await ingest(world, tenant, { ...body, events }, "sdk");
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ accepted: times.length });
    await world.advance(SECOND);
    const stored = await exportAll(world, tenant);
    return times.map((_, n) => {
      const { occurred_at } = stored.find(({ properties }) => properties.n === n);
      return Date.parse(occurred_at) - START;
    });
  }

  it("an event ahead is taken as when it is received, and costs the others of the batch nothing (AMB-135)", async () => {
    expect(await storedTimes({}, [10 * MINUTE, DAY, -HOUR])).toEqual([0, 0, -HOUR]);
  });

  it.each([
    ["fast by ten minutes", 10 * MINUTE],
    ["slow by three days", -3 * DAY],
  ])("times of a device that is %s are shifted by what its sent_at is wrong (AMB-135)", async (_, error) => {
    const times = await storedTimes({ sent_at: timestamp(START + error) }, [
      error - HOUR,
      error - MINUTE,
      error + MINUTE,
    ]);

    expect(times).toEqual([-HOUR, -MINUTE, 0]);
  });

  it("a sent_at within a minute changes no time of an event (AMB-135)", async () => {
    expect(await storedTimes({ sent_at: timestamp(START - MINUTE) }, [-HOUR])).toEqual([-HOUR]);
  });

  it("the window of 48 hours counts after the correction by the device's clock (AMB-135)", async () => {
    const { world, tenant } = await withTenant();
    const body = { sent_at: timestamp(START + HOUR), events: [event({ occurred_at: timestamp(START - 47.5 * HOUR) })] };
    const answer = await ingest(world, tenant, body, "sdk");

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["events[0].occurred_at"]);
  });

  it.each([
    ["a sent_at that is no time", { sent_at: "now" }, "sdk", "sent_at"],
    ["sent_at with a server key", { sent_at: timestamp(START) }, "server", "sent_at"],
    ["historical that is no boolean", { historical: "yes" }, "server", "historical"],
    ["historical with an SDK key", { historical: true }, "sdk", "historical"],
  ] as const)("events are refused with 422 for %s (AMB-134, AMB-135)", async (_, more, tier, field) => {
    const { world, tenant } = await withTenant();
    for (const body of [{ ...more, events: [event()] }, event(more)]) {
      const answer = await ingest(world, tenant, body, tier);
      expect(answer.status).toBe(422);
      expect(Object.keys(answer.body.fields)).toEqual([field]);
    }
  });

  it("an event of a batch that says historical for itself is refused, and starts nothing unseen (AMB-134)", async () => {
    const { world, tenant } = await withTenant();
    const answer = await ingest(world, tenant, { events: [event(), event({ historical: true })] }, "server");

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual(["events[1].historical"]);
  });
});
