// Ingestion of behavioral events: what each tier may send, and what is stored (EVT).
import { describe, expect, it } from "vitest";
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { exportAll, ingest, paidEvents } from "../support/events.ts";
import { START, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant, withPeople } = worlds();
const event = (more: object = {}) => ({ event_name: "seen", anonymous_id: "visitor", ...more });

describe("what is stored", () => {
  it("an event is exported as it was sent, but for fields of the service (EVT-1, EVT-3, EVT-5, EVT-7, EVT-9, EXP-10)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const properties = { price: 1_999, currency: "EUR", items: [{ sku: "a" }], gift: true, note: null };
    const sent = { event_name: "bought", subscriber_id: ids[0], platform: "kiosk", properties };
    const forged = { id: "mine", source: "forged", received_at: "x" };
    const body = { ...sent, ...forged, occurred_at: "2026-11-20T09:00:00.5+01:00" };

    const answer = await ingest(world, tenant, body, "sdk");
    await world.advance(SECOND);

    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ accepted: 1 });
    expect(await exportAll(world, tenant)).toEqual([
      {
        ...sent,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        anonymous_id: null,
        occurred_at: "2026-11-20T08:00:00.500Z",
        received_at: timestamp(START),
        source: "client",
      },
    ]);
  });

  it.each([
    ["server" as const, { platform: "server", source: "server" }],
    ["sdk" as const, { platform: null, source: "client" }],
  ])("an event of the tier %s has the time and the platform of its arrival (EVT-9, EVT-11)", async (tier, of) => {
    const { world, tenant } = await withTenant();

    await ingest(world, tenant, event(), tier);
    await world.advance(SECOND);

    const now = timestamp(START);
    const rest = { subscriber_id: null, anonymous_id: "visitor", properties: {} };
    expect(await exportAll(world, tenant)).toMatchObject([{ ...rest, ...of, occurred_at: now, received_at: now }]);
  });

  it("unknown fields of an event are ignored, and the event is stored (AMB-115)", async () => {
    const { world, tenant } = await withTenant();
    const extended = event({ context: { library: "next" }, colour: "red" });

    await ingest(world, tenant, extended, "sdk");
    await ingest(world, tenant, { events: [extended] });
    await world.advance(SECOND);

    const rows = await exportAll(world, tenant);
    expect(rows).toHaveLength(2);
    for (const row of rows) expect(Object.keys(row)).not.toContain("colour");
  });

  it("an external_id is resolved by the server tier (EVT-4)", async () => {
    const { world, tenant } = await withTenant();
    const subscriber_id = await tenant.upsert({ external_id: "ada" });

    expect((await ingest(world, tenant, { event_name: "seen", external_id: "ada" })).status).toBe(202);
    await world.advance(SECOND);

    expect(await exportAll(world, tenant)).toMatchObject([{ subscriber_id }]);
  });

  it("an external_id names the subscriber who has it now, not an erased one (EVT-4)", async () => {
    const { world, tenant } = await withTenant();
    const erased = await tenant.upsert({ external_id: "ada" });
    await tenant.call(`DELETE /api/v1/subscribers/${erased}`);
    const gone = await ingest(world, tenant, { event_name: "seen", external_id: "ada" });
    const subscriber_id = await tenant.upsert({ external_id: "ada" });

    await ingest(world, tenant, { event_name: "seen", external_id: "ada" });
    await world.advance(SECOND);

    expect(gone).toMatchObject({ status: 422, body: { fields: { external_id: "names no subscriber" } } });
    expect(await exportAll(world, tenant)).toMatchObject([{ subscriber_id }]);
  });
});

describe("idempotency keys", () => {
  const keyed = (more: object = {}) => event({ idempotency_key: "order-1", ...more });

  it("an event without an idempotency key is stored every time (EVT-8)", async () => {
    const { world, tenant } = await withTenant();

    for (let n = 0; n < 3; n++) await ingest(world, tenant, event());
    await world.advance(SECOND);

    expect(new Set((await exportAll(world, tenant)).map(({ id }) => id)).size).toBe(3);
  });

  it("a repeat of an idempotency key is accepted, and neither stored nor paid for, within a request (EVT-8, AMB-23)", async () => {
    const { world, tenant } = await withTenant();

    const { body } = await ingest(world, tenant, { events: [keyed({ properties: { n: 1 } }), keyed(), event()] });
    await world.advance(SECOND);

    const stored = (await exportAll(world, tenant)).map(({ properties }) => properties);
    expect(body).toEqual({ accepted: 3 });
    expect(stored).toHaveLength(2);
    expect(stored).toEqual(expect.arrayContaining([{ n: 1 }, {}]));
    expect(await paidEvents(tenant)).toBe(2);
  });

  it.each([
    ["the same", {}],
    ["another time", { occurred_at: timestamp(START + 30 * SECOND) }],
    ["a time that is too long ago by now", { occurred_at: timestamp(START - 2 * DAY) }],
    ["other content", { event_name: "left", anonymous_id: "other" }],
  ])("a later event of an idempotency key with %s changes nothing (EVT-8, AMB-98, AMB-114)", async (_, more) => {
    const { world, tenant } = await withTenant();
    await ingest(world, tenant, keyed({ properties: { n: 1 } }));
    await world.advance(DAY);
    const before = await exportAll(world, tenant);

    expect((await ingest(world, tenant, keyed(more), "sdk")).body).toEqual({ accepted: 1 });
    await world.advance(MINUTE);

    expect(before).toHaveLength(1);
    expect(await exportAll(world, tenant)).toEqual(before);
  });

  it("an event with a new idempotency key and a time that is too long ago is 422 that names it (EVT-17, AMB-22)", async () => {
    const { world, tenant } = await withTenant();
    const old = keyed({ occurred_at: timestamp(START - 3 * DAY) });

    const { status, body } = await ingest(world, tenant, { events: [event(), old] }, "sdk");

    expect([status, Object.keys(body.fields)]).toEqual([422, ["events[1].occurred_at"]]);
    expect(await exportAll(world, tenant)).toEqual([]);
  });

  it("an idempotency key is of one workspace (EVT-8, AMB-23)", async () => {
    const { world, tenant } = await withTenant();
    const other = await world.tenant();
    await ingest(world, tenant, keyed());

    await ingest(world, other, keyed());
    await world.advance(SECOND);

    expect(await exportAll(world, other)).toHaveLength(1);
  });

  it("of requests that race with one key and other times one event stands, and it is paid for once (EVT-8, AMB-114)", async () => {
    const { world, tenant } = await withTenant();
    const race = Array.from({ length: 5 }, (_, n) =>
      ingest(world, tenant, {
        events: [keyed({ occurred_at: timestamp(START - n * HOUR) }), keyed({ idempotency_key: `own ${n}` })],
      }),
    );

    for (const { body } of await Promise.all(race)) expect(body).toEqual({ accepted: 2 });
    await world.advance(SECOND);

    expect(new Set((await exportAll(world, tenant)).map(({ id }) => id)).size).toBe(6);
    expect(await exportAll(world, tenant)).toHaveLength(6);
    expect(await paidEvents(tenant)).toBe(6);
  });
});

describe("requests that are refused as a whole", () => {
  const untouched = shared((own) => own.withTenant());
  const long = (n: number) => ({
    event_name: "🎉".repeat(n),
    properties: { ["🔑".repeat(2 * n)]: "🎁".repeat(2 * n) },
  });

  it("lengths of events are counted in code points (EVT-2, EVT-6)", async () => {
    const { world, tenant } = await withTenant();

    const fits = await ingest(world, tenant, event(long(128)));
    const tooLong = await ingest(world, tenant, event(long(129)));

    expect(fits.status).toBe(202);
    expect(Object.keys(tooLong.body.fields)).toEqual(["event_name", "properties"]);
  });

  const nobody = { anonymous_id: undefined };
  const properties = (value: unknown) => ({ properties: { k: value } });
  const numbered = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`k${n}`, n]));

  it.each<[string, object, string, ("sdk" | "server")?]>([
    ["no name (EVT-2)", { event_name: undefined }, "event_name"],
    ["an empty name (EVT-2)", { event_name: "" }, "event_name"],
    ["a name of 129 characters (EVT-2)", { event_name: "x".repeat(129) }, "event_name"],
    ["a name that is no text (EVT-2)", { event_name: 7 }, "event_name"],
    ["a reserved name (D-EVTYPE)", { event_name: "$bounced" }, "event_name"],
    ["no actor (EVT-10)", nobody, "subscriber_id"],
    ["two actors (EVT-10)", { subscriber_id: UNKNOWN }, "subscriber_id"],
    ["two other actors (EVT-10)", { external_id: "ada" }, "subscriber_id"],
    ["a subscriber_id that is no UUID (EVT-3)", { ...nobody, subscriber_id: "ada" }, "subscriber_id"],
    ["an unknown subscriber (AMB-58)", { ...nobody, subscriber_id: UNKNOWN }, "subscriber_id"],
    ["an unknown external_id (EVT-4)", { ...nobody, external_id: "nobody" }, "external_id"],
    ["an external_id from the client (AMB-25)", { ...nobody, external_id: "ada" }, "external_id", "sdk"],
    ["51 properties (EVT-6)", { properties: numbered }, "properties"],
    ["a key of 257 characters (EVT-6)", { properties: { ["k".repeat(257)]: 1 } }, "properties"],
    ["a text of 257 characters (EVT-6)", properties("x".repeat(257)), "properties"],
    ["such a text deeper down (EVT-6)", properties([{ k: "x".repeat(257) }]), "properties"],
    ["a text that was cut within a character (GEN-3)", properties(["\ud83d"]), "properties.k[0]"],
    ["a key that no object may have (ERR-13)", { properties: { constructor: 1 } }, "properties"],
    ["properties that are an array (EVT-6)", { properties: [] }, "properties"],
    ["a time that is none (EVT-7)", { occurred_at: "yesterday" }, "occurred_at"],
    ["an empty key (EVT-8)", { idempotency_key: "" }, "idempotency_key"],
    ["over 32 KB (EVT-16, AMB-21)", properties(Array(300).fill("x".repeat(250))), ""],
  ])("an event is refused with 422 for %s, alone and in a batch (AMB-22)", async (_, more, field, tier = "server") => {
    const { world, tenant } = await untouched();

    const single = await ingest(world, tenant, event(more), tier);
    const batch = await ingest(world, tenant, { events: [event(), event(more), event()] }, tier);
    await world.advance(SECOND);

    expect(single.status).toBe(422);
    expect(single.body.code).toBe("VALIDATION_ERROR");
    expect(Object.keys(single.body.fields)).toEqual([field || "body"]);
    expect(batch.status).toBe(422);
    expect(Object.keys(batch.body.fields)).toEqual([field ? `events[1].${field}` : "events[1]"]);
    expect(await exportAll(world, tenant)).toEqual([]);
    expect(await paidEvents(tenant)).toBe(0);
  });

  it.each([
    ["no events", { events: [] }, "events"],
    ["events that are no array", { events: {} }, "events"],
    ["an event that is no object", { events: [event(), "x"] }, "events[1]"],
    ["a list in an event's place", { events: [[]] }, "events[0]"],
    ["something beside the events", { events: [event()], source: "x" }, "source"],
  ])("a batch is refused with 422 for %s (EVT-11)", async (_, body, field) => {
    const { world, tenant } = await untouched();

    const answer = await ingest(world, tenant, body);

    expect(answer.status).toBe(422);
    expect(Object.keys(answer.body.fields)).toEqual([field]);
  });

  it("an event of an erased subscriber is refused as of an unknown one (EVT-13, AMB-58)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    await tenant.call(`DELETE /api/v1/subscribers/${ids[0]}`);
    const refusalOf = async (subscriber_id?: string) =>
      (await ingest(world, tenant, { event_name: "seen", subscriber_id }, "sdk")).body;

    const unknown = await refusalOf(UNKNOWN);

    expect(unknown.fields).toEqual({ subscriber_id: "names no subscriber" });
    expect(await refusalOf(ids[0])).toEqual(unknown);
  });
});
