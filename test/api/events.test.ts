// Ingestion of behavioral events: what each tier may send, and what is stored (EVT).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exportAll, exportPage, ingest } from "../support/events.ts";
import { addPeople } from "../support/people.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();
const event = (more: object = {}) => ({ event_name: "seen", anonymous_id: "visitor", ...more });

describe("what is stored", () => {
  it("an event is exported as it was sent, with the fields that the service adds (EVT-1, EVT-3, EVT-5, EVT-7, EVT-9, EVT-11, EXP-10)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = (await addPeople(world, tenant, 1)) as [string];
    const sent = {
      event_name: "bought",
      subscriber_id: id,
      platform: "kiosk",
      source: "forged",
      id: "mine",
      received_at: "x",
      properties: { price: 1_999, currency: "EUR", items: [{ sku: "a" }], gift: true, note: null },
      occurred_at: "2026-11-20T09:00:00.5+01:00",
    };
    const answer = await ingest(world, tenant, sent, "sdk");
    expect([answer.status, answer.body]).toEqual([202, { accepted: 1 }]);
    expect((await ingest(world, tenant, event())).body).toEqual({ accepted: 1 });
    expect((await ingest(world, tenant, event({ event_name: "left" }), "sdk")).status).toBe(202);
    await world.advance(SECOND);
    const received_at = timestamp(START);
    const [bought, ...others] = await exportAll(world, tenant);
    expect(bought).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      subscriber_id: id,
      anonymous_id: null,
      event_name: "bought",
      platform: "kiosk",
      properties: sent.properties,
      occurred_at: "2026-11-20T08:00:00.500Z",
      received_at,
      source: "client",
    });
    expect(others).toHaveLength(2);
    const rest = {
      subscriber_id: null,
      anonymous_id: "visitor",
      properties: {},
      occurred_at: received_at,
      received_at,
    };
    expect(others.find(({ event_name }) => event_name === "seen")).toMatchObject({
      ...rest,
      platform: "server",
      source: "server",
    });
    expect(others.find(({ event_name }) => event_name === "left")).toMatchObject({
      ...rest,
      platform: null,
      source: "client",
    });
  });

  it("a repeat of an idempotency key counts and stores nothing new, within a request and after (EVT-8, AMB-23, AMB-98)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const keyed = (properties: object) => event({ idempotency_key: "order-1", properties });
    expect((await ingest(world, tenant, { events: [keyed({ n: 1 }), keyed({ n: 2 }), event()] })).body).toEqual({
      accepted: 3,
    });
    await world.advance(DAY);
    expect((await ingest(world, tenant, keyed({ n: 3 }), "sdk")).body).toEqual({ accepted: 1 });
    expect((await ingest(world, other, keyed({ n: 4 }))).body).toEqual({ accepted: 1 });
    await world.advance(SECOND);
    const stored = await exportAll(world, tenant);
    expect(stored.map(({ properties }) => properties)).toEqual(expect.arrayContaining([{ n: 1 }, {}]));
    expect(stored).toHaveLength(2);
    expect(await exportAll(world, other)).toMatchObject([{ properties: { n: 4 } }]);
    expect((await tenant.call("GET /api/v1/billing")).body.usage.events).toBe(2);
  });

  it("the first event of a key stands: a repeat with another time or other content changes nothing (EVT-8, AMB-114)", async () => {
    const { world, tenant } = await withTenant();
    const keyed = (more: object) => event({ idempotency_key: "order-1", ...more });
    await ingest(world, tenant, keyed({ properties: { n: 1 } }));
    await world.advance(MINUTE);
    const first = await exportPage(world, tenant);
    expect(first.items).toHaveLength(1);
    const repeats = [
      {},
      { occurred_at: timestamp(START + 30 * SECOND) },
      { event_name: "left", anonymous_id: "other" },
    ];
    for (const more of repeats) expect((await ingest(world, tenant, keyed(more))).status).toBe(202);
    await world.advance(MINUTE);
    expect(await exportAll(world, tenant)).toEqual(first.items);
  });

  it("of requests that race with one key and other times one event stands, and it is paid for once (EVT-8, AMB-114)", async () => {
    const { world, tenant } = await withTenant();
    const race = Array.from({ length: 5 }, (_, n) =>
      ingest(world, tenant, {
        events: [
          event({ idempotency_key: "once", properties: { n }, occurred_at: timestamp(START - n * HOUR) }),
          event({ idempotency_key: `own ${n}` }),
        ],
      }),
    );
    expect((await Promise.all(race)).map(({ body }) => body)).toEqual(Array(5).fill({ accepted: 2 }));
    await world.advance(SECOND);
    const stored = await exportAll(world, tenant);
    expect([stored.length, new Set(stored.map(({ id }) => id)).size]).toEqual([6, 6]);
    expect((await tenant.call("GET /api/v1/billing")).body.usage.events).toBe(6);
  });

  it("unknown fields of an event are ignored, and the event is stored (AMB-115)", async () => {
    const { world, tenant } = await withTenant();
    const extended = event({ context: { library: "next" }, colour: "red" });
    expect((await ingest(world, tenant, extended, "sdk")).status).toBe(202);
    expect((await ingest(world, tenant, { events: [extended] })).body).toEqual({ accepted: 1 });
    await world.advance(SECOND);
    for (const row of await exportAll(world, tenant)) expect(Object.keys(row)).not.toContain("colour");
    expect(await exportAll(world, tenant)).toHaveLength(2);
  });

  it("an event without a key is stored every time (EVT-8)", async () => {
    const { world, tenant } = await withTenant();
    for (let n = 0; n < 3; n++) await ingest(world, tenant, event());
    await world.advance(SECOND);
    expect(new Set((await exportAll(world, tenant)).map(({ id }) => id)).size).toBe(3);
  });

  it("an external_id is resolved by the server tier, also of a subscriber that was erased and created again (EVT-4)", async () => {
    const { world, tenant } = await withTenant();
    const upsert = async () => await tenant.upsert({ external_id: "ada" });
    const first = await upsert();
    expect((await ingest(world, tenant, event({ anonymous_id: undefined, external_id: "ada" }))).status).toBe(202);
    await tenant.call(`DELETE /api/v1/subscribers/${first}`);
    const gone = await ingest(world, tenant, event({ anonymous_id: undefined, external_id: "ada" }));
    expect([gone.status, gone.body.fields]).toEqual([422, { external_id: "names no subscriber" }]);
    const second = await upsert();
    await ingest(world, tenant, event({ anonymous_id: undefined, external_id: "ada" }));
    await world.advance(SECOND);
    const actors = (await exportAll(world, tenant)).map(({ subscriber_id }) => subscriber_id);
    expect(actors).toHaveLength(2);
    expect(actors).toEqual(expect.arrayContaining([null, second]));
  });
});

it("characters are counted as code points (EVT-2, EVT-6)", async () => {
  const { world, tenant } = await withTenant();
  const long = (n: number) => ({
    event_name: "🎉".repeat(n),
    properties: { ["🔑".repeat(2 * n)]: "🎁".repeat(2 * n) },
  });
  expect((await ingest(world, tenant, event(long(128)))).status).toBe(202);
  expect(Object.keys((await ingest(world, tenant, event(long(129)))).body.fields)).toEqual([
    "event_name",
    "properties",
  ]);
});

describe("requests that are refused as a whole", () => {
  const cases: [string, object, string, ("sdk" | "server")?][] = [
    ["EVT-2 no name", { event_name: undefined }, "event_name"],
    ["EVT-2 an empty name", { event_name: "" }, "event_name"],
    ["EVT-2 a name of 129 characters", { event_name: "x".repeat(129) }, "event_name"],
    ["EVT-2 a name that is no text", { event_name: 7 }, "event_name"],
    ["D-EVTYPE a reserved name", { event_name: "$bounced" }, "event_name"],
    ["EVT-10 no actor", { anonymous_id: undefined }, "subscriber_id"],
    ["EVT-10 two actors", { subscriber_id: UNKNOWN }, "subscriber_id"],
    ["EVT-10 two other actors", { external_id: "ada" }, "subscriber_id"],
    ["EVT-3 a subscriber_id that is no UUID", { anonymous_id: undefined, subscriber_id: "ada" }, "subscriber_id"],
    ["AMB-58 an unknown subscriber", { anonymous_id: undefined, subscriber_id: UNKNOWN }, "subscriber_id"],
    ["EVT-4 an unknown external_id", { anonymous_id: undefined, external_id: "nobody" }, "external_id"],
    ["AMB-25 an external_id from the client", { anonymous_id: undefined, external_id: "ada" }, "external_id", "sdk"],
    [
      "EVT-6 51 properties",
      { properties: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n])) },
      "properties",
    ],
    ["EVT-6 a key of 257 characters", { properties: { ["k".repeat(257)]: 1 } }, "properties"],
    ["EVT-6 a text of 257 characters", { properties: { k: "x".repeat(257) } }, "properties"],
    ["EVT-6 such a text deeper down", { properties: { k: [{ k: "x".repeat(257) }] } }, "properties"],
    ["GEN-3 a text that was cut within a character", { properties: { k: ["\ud83d"] } }, "properties.k[0]"],
    ["ERR-13 a key that no object may have", { properties: { constructor: 1 } }, "properties"],
    ["EVT-6 properties that are an array", { properties: [] }, "properties"],
    ["EVT-7 a time that is none", { occurred_at: "yesterday" }, "occurred_at"],
    ["EVT-8 an empty key", { idempotency_key: "" }, "idempotency_key"],
    ["EVT-16 AMB-21 an event over 32 KB", { properties: { k: Array(300).fill("x".repeat(250)) } }, ""],
  ];

  it.each(cases)(
    "%s: 422 naming it, alone and in a batch, and nothing is stored (AMB-22)",
    async (_, more, field, tier = "server") => {
      const { world, tenant } = await withTenant();
      const single = await ingest(world, tenant, event(more), tier);
      expect([single.status, single.body.code, Object.keys(single.body.fields)]).toEqual([
        422,
        "VALIDATION_ERROR",
        [field || "body"],
      ]);
      const batch = await ingest(world, tenant, { events: [event(), event(more), event()] }, tier);
      const named = field ? `events[1].${field}` : "events[1]";
      expect([batch.status, Object.keys(batch.body.fields)]).toEqual([422, [named]]);
      await world.advance(SECOND);
      expect(await exportAll(world, tenant)).toEqual([]);
      expect((await tenant.call("GET /api/v1/billing")).body.usage.events).toBe(0);
    },
  );

  it.each([
    ["no events", { events: [] }, "events"],
    ["events that are no array", { events: {} }, "events"],
    ["an event that is no object", { events: [event(), "x"] }, "events[1]"],
    ["a list in an event's place", { events: [[]] }, "events[0]"],
    ["something beside the events", { events: [event()], source: "x" }, "source"],
  ])("%s: 422 (EVT-11)", async (_, body, field) => {
    const { world, tenant } = await withTenant();
    const answer = await ingest(world, tenant, body);
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, [field]]);
  });

  it("an erased subscriber is refused, and one of another workspace is unknown (EVT-13, AMB-58)", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const [mine] = (await addPeople(world, tenant, 1)) as [string];
    const [foreign] = (await addPeople(world, other, 1)) as [string];
    await tenant.call(`DELETE /api/v1/subscribers/${mine}`);
    const bodies = [];
    for (const subscriber_id of [mine, foreign, UNKNOWN])
      bodies.push((await ingest(world, tenant, event({ anonymous_id: undefined, subscriber_id }), "sdk")).body);
    expect(bodies[0].fields).toEqual({ subscriber_id: "names no subscriber" });
    expect([bodies[1], bodies[2]]).toEqual([bodies[0], bodies[0]]);
  });
});
