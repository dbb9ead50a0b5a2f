// One-off sends: request, record, references, idempotency, list (NTF-1 to NTF-21, D-NTF).
import { describe, expect, it } from "vitest";
import { DAY, SECOND } from "../../shared/clock.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { addPeople, inboxOf, operate, reachedOf, send } from "../support/people.ts";
import { worlds } from "../support/worlds.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";

const { fresh, withTenant } = worlds();
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
const everybody = { target: { type: "all" } };

async function withPeople(count: number, options = {}) {
  const { world, tenant } = await withTenant(options);
  return { world, tenant, ids: await addPeople(world, tenant, count) };
}

describe("create", () => {
  it("NTF-1 NTF-2 NTF-3 AMB-35 AMB-38 answers 201 {id, sent} and delivers to exactly the given subscribers", async () => {
    const { world, tenant, ids } = await withPeople(3);
    const answer = await post(world, tenant, { subscriberIds: ids.slice(0, 2) });
    expect([answer.status, answer.body]).toEqual([201, { id: expect.any(String), sent: 2 }]);
    expect(await reachedOf(world, tenant, ids)).toEqual([]);
    await world.settle();
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.slice(0, 2));
    const [message] = await inboxOf(world, tenant, ids[0]!);
    expect(message).toMatchObject({ notification_id: answer.body.id, content: { title: "Hello", body: "World" } });
  });

  it("NTF-19 D-NTF AMB-105 the record shows everything that was asked for and how it ended", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const asked = {
      subscriberIds: ids,
      name: "first",
      category: "transactional",
      data: { order: { id: 7 } },
      subscriber_filters: { external_id: { $exists: true } },
      bypass_quiet_hours: true,
    };
    const { answer, job } = await send(world, tenant, asked);
    const now = new Date(START).toISOString();
    expect(job).toEqual({
      id: answer.id,
      status: "completed",
      name: "first",
      category: "transactional",
      title: "Hello",
      body: "World",
      data: { order: { id: 7 } },
      template_id: null,
      channel_ids: [expect.any(String)],
      target: null,
      subscriber_ids_count: 2,
      device_filters: null,
      subscriber_filters: { external_id: { $exists: true } },
      scheduled_at: null,
      channel_arbitration_mode: "explicit",
      holdout_percentage: 0,
      split_percentage: null,
      variant_b: null,
      source: { type: "api", id: null },
      sent: 2,
      counts: { total: 2, sent: 2, delivered: 2, failed: 0, skipped: 0, held_out: 0 },
      skip_reasons: {},
      error: null,
      created_at: now,
      dispatched_at: now,
      completed_at: now,
    });
  });

  it("NTF-11 SMA-9 the mode is explicit unless said, and an explicit send has no arbitration readout", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const { job } = await send(world, tenant, { subscriberIds: ids, channel_arbitration_mode: "explicit" });
    expect(job.channel_arbitration_mode).toBe("explicit");
    expect(job).not.toHaveProperty("channel_arbitration");
  });

  it("SMA-1 smart mode needs Growth: 403 with its own body on Starter", async () => {
    const { world, tenant } = await withTenant();
    await operate(world, tenant, { plan: "starter" });
    const { status, body } = await post(world, tenant, { ...everybody, channel_arbitration_mode: "smart" });
    expect([status, body]).toEqual([403, { error: "feature_not_available", feature: "smart_channel" }]);
  });

  it.each([
    ["target", {}],
    ["target", { ...everybody, subscriberIds: [UNKNOWN] }],
    ["target.type", { target: { type: "everyone" } }],
    ["target.type", { target: {} }],
    ["target", { target: "all" }],
    ["target.list_id", { target: { type: "list" } }],
    ["target.list_id", { target: { type: "list", list_id: "nonsense" } }],
    ["target.list_id", { target: { type: "list", list_id: UNKNOWN } }],
    ["target.segment_id", { target: { type: "segment" } }],
    ["target.segment_id", { target: { type: "segment", segment_id: UNKNOWN } }],
    ["target.list_id", { target: { type: "all", list_id: UNKNOWN } }],
    ["subscriberIds", { subscriberIds: [] }],
    ["subscriberIds", { subscriberIds: UNKNOWN }],
    ["subscriberIds.0", { subscriberIds: [7] }],
    ["subscriberIds.0", { subscriberIds: [""] }],
    ["subscriberIds.1", { subscriberIds: [UNKNOWN, "two words"] }],
    ["subscriberIds", { subscriberIds: Array.from({ length: 10_001 }, () => UNKNOWN) }],
    ["subscriber_ids", { subscriber_ids: [UNKNOWN], ...everybody }],
    ["title", { ...everybody, title: undefined }],
    ["body", { ...everybody, body: undefined }],
    ["title", { ...everybody, title: "" }],
    ["body", { ...everybody, body: "{{ broken" }],
    ["template_id", { ...everybody, template_id: UNKNOWN }],
    ["data", { ...everybody, data: [] }],
    ["data", { ...everybody, data: "text" }],
    ["data", { ...everybody, data: { big: "x".repeat(300_000) } }],
    ["scheduled_at", { ...everybody, scheduled_at: "tomorrow" }],
    ["scheduled_at", { ...everybody, scheduled_at: "2026-11-21" }],
    ["scheduled_at", { ...everybody, scheduled_at: new Date(START - 1).toISOString() }],
    ["scheduled_at", { ...everybody, scheduled_at: new Date(START).toISOString() }],
    ["channel_arbitration_mode", { ...everybody, channel_arbitration_mode: "clever" }],
    ["category", { ...everybody, category: "spam" }],
    ["channel_ids", { ...everybody, channel_ids: [] }],
    ["channel_ids.0", { ...everybody, channel_ids: [UNKNOWN] }],
    ["holdout_percentage", { ...everybody, holdout_percentage: 100 }],
    ["holdout_percentage", { ...everybody, holdout_percentage: -1 }],
    ["holdout_percentage", { ...everybody, holdout_percentage: 0.5 }],
    ["split_percentage", { ...everybody, split_percentage: 50 }],
    ["split_percentage", { ...everybody, split_percentage: 0, variant_b: { title: "t", body: "b" } }],
    ["split_percentage", { ...everybody, split_percentage: 100, variant_b: { title: "t", body: "b" } }],
    ["variant_b.body", { ...everybody, variant_b: { title: "t" } }],
    ["device_filters", { ...everybody, device_filters: [] }],
    ["subscriber_filters", { ...everybody, subscriber_filters: { plan: "pro" } }],
    ["subscriber_filters", { ...everybody, subscriber_filters: { plan: { $like: "p" } } }],
    ["subscriber_filters", { ...everybody, subscriber_filters: { $or: [] } }],
    ["idempotency_key", { ...everybody, idempotency_key: "" }],
    ["surprise", { ...everybody, surprise: 1 }],
  ])("NTF-6 NTF-7 NTF-8 AMB-93 answers 422 naming %s", async (field, body) => {
    const { world, tenant } = await withTenant();
    const answer = await post(world, tenant, body);
    expect([answer.status, answer.body.code]).toEqual([422, "VALIDATION_ERROR"]);
    expect(Object.keys(answer.body.fields)).toContain(field);
    const list = await world.call("GET /api/v1/notifications", { as: await tenant.dashboard() });
    expect(list.body.items).toEqual([]);
  }, 10_000);

  it("NTF-21 AMB-89 a template_id that leads nowhere is 422 TEMPLATE_NOT_FOUND, also another workspace's", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const body = { name: "theirs", content: { title: "t", body: "b" } };
    const foreign = (await world.call("POST /api/v1/templates", { as: await other.dashboard(), body })).body.id;
    for (const template_id of [UNKNOWN, foreign, "nonsense", "", "x".repeat(2_000)]) {
      const answer = await post(world, tenant, { ...everybody, template_id, title: undefined, body: undefined });
      expect([answer.status, answer.body.code]).toEqual([422, "TEMPLATE_NOT_FOUND"]);
    }
  });

  it("GEN-8 another workspace's channel is 422, its notification 404, and nobody of it is reached", async () => {
    const world = await fresh();
    const [tenant, other] = [await world.tenant(), await world.tenant()];
    const mine = await addPeople(world, tenant, 2);
    const theirs = await addPeople(world, other, 2);
    const { job } = await send(world, other, { subscriberIds: theirs });
    const answer = await post(world, tenant, { ...everybody, channel_ids: job.channel_ids });
    expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ["channel_ids.0"]]);
    const as = await tenant.dashboard();
    for (const route of [`GET /api/v1/notifications/${job.id}`, `POST /api/v1/notifications/${job.id}/cancel`])
      expect((await world.call(route, { as })).status).toBe(404);
    expect((await world.call("GET /api/v1/notifications", { as })).body.items).toEqual([]);
    const foreign = await send(world, tenant, { subscriberIds: [theirs[0]!, mine[0]!] });
    expect(foreign.answer.sent).toBe(1);
    expect(await inboxOf(world, other, theirs[0]!)).toHaveLength(1);
  });

  it("AMB-57 AMB-95 unknown ids are skipped with their reason, and counted in the total only", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const { answer, job } = await send(world, tenant, { subscriberIds: [...ids, UNKNOWN, "not-a-uuid"] });
    expect(answer.sent).toBe(2);
    expect(job).toMatchObject({
      status: "completed",
      sent: 2,
      subscriber_ids_count: 4,
      counts: { total: 4, sent: 2, delivered: 2, failed: 0, skipped: 2, held_out: 0 },
      skip_reasons: { unknown_subscriber: 2 },
    });
  });

  it("NTF-2 an id given twice is reached once, whatever the case of its letters", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const { answer, job } = await send(world, tenant, { subscriberIds: [ids[0], ids[0], ids[0]!.toUpperCase()] });
    expect([answer.sent, job.subscriber_ids_count, job.counts.total]).toEqual([1, 1, 1]);
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });

  it("D-NTF-STATE a send to nobody completes; one without a usable channel fails and says why", async () => {
    const { world, tenant } = await withTenant();
    expect((await send(world, tenant, everybody)).job).toMatchObject({ status: "completed", sent: 0, error: null });
    expect((await send(world, tenant, { subscriberIds: [UNKNOWN] })).job.status).toBe("completed");
    await addPeople(world, tenant, 1);
    await operate(world, tenant, { plan: "free" });
    const { job } = await send(world, tenant, everybody);
    expect(job).toMatchObject({ status: "failed", error: expect.stringContaining("channel"), counts: { delivered: 0 } });
    expect(job.completed_at).not.toBeNull();
  });

  it("ERR-3 ERR-4 AMB-87 a send beyond the workspace's cap is refused whole with 402, and takes nothing", async () => {
    const { world, tenant, ids } = await withPeople(3);
    await operate(world, tenant, { monthly_send_cap: 2 });
    const refused = await post(world, tenant, everybody);
    expect([refused.status, refused.body.code]).toEqual([402, "SEND_CAP_REACHED"]);
    expect(refused.body.message).toMatch(/0 of 2/);
    expect((await post(world, tenant, { subscriberIds: ids.slice(0, 2) })).status).toBe(201);
    expect((await post(world, tenant, { subscriberIds: ids.slice(0, 1) })).status).toBe(402);
    await world.settle();
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.slice(0, 2));
  });

  it("NTF-4 D-LIQUID data and attributes personalise what each recipient reads", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 2, (n) => ({ attributes: n ? { first_name: "Ada" } : {} }));
    await send(world, tenant, {
      subscriberIds: ids,
      title: 'Hi {{ subscriber.attributes.first_name | default: "there" }}',
      body: "Order {{ data.order }}",
      data: { order: 7 },
    });
    const contents = await Promise.all(ids.map(async (id) => (await inboxOf(world, tenant, id))[0].content));
    expect(contents).toEqual([
      { title: "Hi there", body: "Order 7" },
      { title: "Hi Ada", body: "Order 7" },
    ]);
  });
});

describe("what cannot be rendered", () => {
  it("D-NTF-STATE one recipient whose message grows too large fails alone; the others are reached", async () => {
    const { world, tenant } = await withTenant();
    const ids = await addPeople(world, tenant, 5, (n) => ({ attributes: { text: n === 2 ? "x".repeat(240_000) : "small" } }));
    const text = "{{ subscriber.attributes.text }}";
    const { job } = await send(world, tenant, { subscriberIds: ids, title: text, body: text });
    expect(job).toMatchObject({ status: "completed", counts: { total: 5, sent: 5, delivered: 4, failed: 1 } });
    expect(await reachedOf(world, tenant, ids)).toEqual(ids.filter((_, n) => n !== 2));
  });
});

describe("idempotency", () => {
  const body = (ids: string[]) => ({ subscriberIds: ids, data: { n: 1 } });

  it("AMB-94 the same key and body give 200, the first answer and a header, and reach nobody twice", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const key = { "idempotency-key": "order-7" };
    const first = await post(world, tenant, body(ids), key);
    expect([first.status, first.headers["idempotent-replayed"]]).toEqual([201, undefined]);
    const second = await post(world, tenant, body(ids), key);
    expect([second.status, second.headers["idempotent-replayed"], second.body]).toEqual([200, "true", first.body]);
    const third = await post(world, tenant, { ...body(ids), idempotency_key: "order-7" });
    expect([third.status, third.body]).toEqual([200, first.body]);
    await world.settle();
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });

  it("D-NTF the same key with another body is 409, also from another credential of the workspace", async () => {
    const { world, tenant, ids } = await withPeople(2);
    await post(world, tenant, { ...body(ids), idempotency_key: "k" });
    const other = await post(world, tenant, { ...body(ids), title: "Other", idempotency_key: "k" });
    expect([other.status, other.body.code]).toEqual([409, "CONFLICT"]);
  });

  it("D-NTF racing requests of one key make one send", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => post(world, tenant, body(ids), { "idempotency-key": "race" })),
    );
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    await world.settle();
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });

  it("D-NTF a key is remembered for 24 hours and by its workspace only", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const other = await world.tenant();
    const key = { "idempotency-key": "k" };
    const first = await post(world, tenant, body(ids), key);
    expect((await post(world, other, body(ids), key)).status).toBe(201);
    await world.advance(DAY - SECOND);
    expect((await post(world, tenant, body(ids), key)).body.id).toBe(first.body.id);
    await world.advance(2 * SECOND);
    const late = await post(world, tenant, body(ids), key);
    expect(late.status).toBe(201);
    expect(late.body.id).not.toBe(first.body.id);
  });

  it("D-NTF an empty or overlong header is 422 and never a key that two sends share", async () => {
    const { world, tenant, ids } = await withPeople(1);
    for (const key of ["", "x".repeat(256)]) {
      const answer = await post(world, tenant, body(ids), { "idempotency-key": key });
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ["Idempotency-Key"]]);
    }
  });

  it("D-NTF a refused request leaves its key free", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const key = { "idempotency-key": "k" };
    await post(world, tenant, { ...body(ids), channel_ids: [UNKNOWN] }, key);
    expect((await post(world, tenant, body(ids), key)).status).toBe(201);
  });
});

describe("read", () => {
  const list = async (world: TestWorld, tenant: Tenant, query = "") =>
    world.call(`GET /api/v1/notifications${query}`, { as: await tenant.dashboard() });

  it("NTF-17 answers 404 for an unknown id and 401 to other credentials", async () => {
    const { world, tenant } = await withTenant();
    for (const id of [UNKNOWN, "nonsense"])
      expect((await world.call(`GET /api/v1/notifications/${id}`, { as: await tenant.dashboard() })).status).toBe(404);
    for (const as of [{}, tenant.sdk, tenant.server])
      expect((await world.call(`GET /api/v1/notifications/${UNKNOWN}`, { as })).status).toBe(401);
  });

  it("D-NTF decision 30 a page closes at 4 MB with a cursor, whatever the limit", async () => {
    const { world, tenant } = await withTenant();
    const large = "€".repeat(21_000);
    const body = { ...everybody, body: large, variant_b: { title: "t", body: large }, data: { large: "x".repeat(60_000) } };
    for (let n = 0; n < 36; n++) expect((await post(world, tenant, body)).status).toBe(201);
    const first = (await list(world, tenant, "?limit=100")).body;
    const second = (await list(world, tenant, `?limit=100&cursor=${first.next_cursor}`)).body;
    expect(first.items.length).toBeGreaterThan(20);
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(36);
    expect(second.next_cursor).toBe("");
  });

  it("D-NTF lists newest first by cursor, filters by status, clamps the limit", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      const body = n % 5 ? everybody : { ...everybody, scheduled_at: inMs(world, DAY) };
      ids.unshift((await post(world, tenant, body)).body.id);
      await world.advance(1);
    }
    const first = (await list(world, tenant)).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 20));
    const second = (await list(world, tenant, `?cursor=${first.next_cursor}`)).body;
    expect(second.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(20));
    expect(second.next_cursor).toBe("");
    const scheduled = (await list(world, tenant, "?status=scheduled&limit=3")).body;
    expect(scheduled.items).toHaveLength(3);
    const rest = (await list(world, tenant, `?status=scheduled&limit=1000&cursor=${scheduled.next_cursor}`)).body;
    expect(rest.items).toHaveLength(2);
    expect((await list(world, tenant, "?source_type=campaign")).body.items).toEqual([]);
    expect(first.items[0]).toEqual(await jobOf(world, tenant, ids[0]!));
    for (const query of ["?limit=0", "?status=gone", "?cursor=x"]) expect((await list(world, tenant, query)).status).toBe(422);
  });
});
