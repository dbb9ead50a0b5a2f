// Safe repetition, reading and listing of sends (AMB-94, NTF-17, D-NTF).
import { describe, expect, it } from "vitest";
import { DAY, SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { fromJson, toJson } from "../../shared/store/json-text.ts";
import { type JobSource, jobIdOf, laneOf } from "../../shared/store/sends/jobs/job-ids.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { inboxOf, quickStore } from "../support/people.ts";
import { spentByCall } from "../support/spending.ts";
import { START, type Tenant, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const everybody = { target: { type: "all" } };
const titleOf = ({ title }: { title: string }) => title;

describe("idempotency", () => {
  const body = (ids: string[]) => ({ subscriberIds: ids, data: { n: 1 } });

  it("the same key and body give 200, the first response and a header, and no double send (AMB-94)", async () => {
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

  it("the same key with another body is 409, also from another credential of the workspace (D-NTF)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    await post(world, tenant, { ...body(ids), idempotency_key: "k" });
    const other = await post(world, tenant, { ...body(ids), title: "Other", idempotency_key: "k" });
    expect([other.status, other.body.code]).toEqual([409, "CONFLICT"]);
  });

  it("the answer says which of the given ids are of no subscriber, and a repeat says the same (AMB-125)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const strangers = Array.from({ length: 101 }, () => world.ids.uuid());
    const given = { subscriberIds: [...ids, ...strangers] };
    for (const [n, more] of [{}, { scheduled_at: inMs(world, DAY) }].entries()) {
      const key = { "idempotency-key": `with-strangers-${n}` };
      const { body } = await post(world, tenant, { ...given, ...more }, key);
      expect(body).toMatchObject({ unknown: 101, unknown_ids: strangers.slice(0, 100) });
      expect((await post(world, tenant, { ...given, ...more }, key)).body).toEqual(body);
    }
    expect((await post(world, tenant, everybody)).body).not.toHaveProperty("unknown");
  });

  it("racing requests of one key make one send (D-NTF)", async () => {
    const { world, tenant, ids } = await withPeople(2);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => post(world, tenant, body(ids), { "idempotency-key": "race" })),
    );
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    await world.settle();
    expect(await inboxOf(world, tenant, ids[0]!)).toHaveLength(1);
  });

  it("a key is remembered for 24 hours and by its workspace only (D-NTF)", async () => {
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

  it("an empty or overlong header is 422 and never a key that two sends share (D-NTF)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    for (const key of ["", "x".repeat(256)]) {
      const answer = await post(world, tenant, body(ids), { "idempotency-key": key });
      expect([answer.status, Object.keys(answer.body.fields)]).toEqual([422, ["Idempotency-Key"]]);
    }
  });

  it("a refused request leaves its key free (D-NTF)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const key = { "idempotency-key": "k" };
    await post(world, tenant, { ...body(ids), channel_ids: [UNKNOWN] }, key);
    expect((await post(world, tenant, body(ids), key)).status).toBe(201);
  });
});

describe("read", () => {
  const list = async (tenant: Tenant, query = "") => tenant.call(`GET /api/v1/notifications${query}`);

  it("docs/decisions/0021#page-size a page closes at 4 MB with a cursor, whatever the limit (D-NTF)", async () => {
    const { world, tenant } = await withTenant();
    const large = "€".repeat(21_000);
    const body = {
      ...everybody,
      body: large,
      variant_b: { title: "t", body: large },
      data: { large: "x".repeat(60_000) },
    };
    const { id } = (await post(world, tenant, body)).body;
    const job = await tenant.store.get(JobItem, { job: id });
    if (!job) throw new Error("The job is not there.");
    const { pk, sk, ...row } = job;
    const copies = Array.from({ length: 35 }, () => {
      const copy = world.ids.uuidAt(START - 1);
      return putItem(JobItem, { job: copy }, { ...row, id: copy });
    });
    await quickStore(world, tenant).writeAll(copies);
    const first = (await list(tenant, "?limit=100")).body;
    const second = (await list(tenant, `?limit=100&cursor=${first.next_cursor}`)).body;
    expect(first.items.length).toBeGreaterThan(20);
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(36);
    expect(second.next_cursor).toBe("");
  });

  it("lists newest first by cursor, filters by status, clamps the limit (D-NTF)", async () => {
    const { world, tenant } = await withTenant();
    const ids: string[] = [];
    for (let n = 0; n < 25; n++) {
      const body = n % 5 ? everybody : { ...everybody, scheduled_at: inMs(world, DAY) };
      ids.unshift((await post(world, tenant, body)).body.id);
      await world.advance(1);
    }
    const first = (await list(tenant)).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 20));
    const second = (await list(tenant, `?cursor=${first.next_cursor}`)).body;
    expect(second.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(20));
    expect(second.next_cursor).toBe("");
    const scheduled = (await list(tenant, "?status=scheduled&limit=3")).body;
    expect(scheduled.items).toHaveLength(3);
    const rest = (await list(tenant, `?status=scheduled&limit=1000&cursor=${scheduled.next_cursor}`)).body;
    expect(rest.items).toHaveLength(2);
    expect((await list(tenant, "?source_type=campaign")).body.items).toEqual([]);
    expect(first.items[0]).toEqual(await jobOf(tenant, ids[0]!));
    for (const query of ["?limit=0", "?status=gone", "?cursor=x"]) expect((await list(tenant, query)).status).toBe(422);
  });

  it("a cursor fits any period, before, in and after it; a period that ends before it begins is 422 (D-NTF)", async () => {
    const { world, tenant } = await withTenant();
    for (let n = 0; n < 3; n++) {
      await post(world, tenant, { ...everybody, title: `${n}` });
      await world.advance(SECOND);
    }
    const listed = (query: object) =>
      tenant.call(`GET /api/v1/notifications?${new URLSearchParams({ limit: "1", ...query })}`);
    const { body: first } = await listed({});
    const cursor = first.next_cursor;
    const titles = async (query: object) => (await listed({ cursor, ...query })).body.items.map(titleOf);
    expect(await titles({ from: "2030-01-01T00:00:00Z" })).toEqual([]);
    expect(await titles({ from: "2020-01-01T00:00:00Z", to: new Date(START).toISOString() })).toEqual(["0"]);
    expect(await titles({ to: "2030-01-01T00:00:00Z" })).toEqual(["1"]);
    expect(await titles({ to: "0001-01-01T00:00:00Z" })).toEqual([]);
    const wrong = await listed({ from: "2026-11-21T00:00:00Z", to: "2026-11-20T00:00:00Z" });
    expect([wrong.status, wrong.body.fields]).toEqual([422, { to: "must not be before from" }]);
  });

  it("the list is newest first whatever made the jobs, and never reads thousands of a source it leaves out (AMB-127)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const { id: own } = (await post(world, tenant, { subscriberIds: ids })).body;
    await world.settle();
    const job = await tenant.store.get(JobItem, { job: own });
    if (!job) throw new Error("The job is not there.");
    const { pk, sk, ...row } = job;
    const made: { id: string; source: JobSource }[] = Array.from({ length: 4_600 }, (_, n) => {
      const source: JobSource = n % 46 === 0 ? (n % 92 === 0 ? "campaign" : "api") : "journey";
      const id = jobIdOf(source, START + 1_000 + n, world.ids.bytes(10));
      return { id, source };
    });
    const copies = made.map(({ id, source }) =>
      putItem(
        JobItem,
        { job: id },
        {
          ...row,
          id,
          details: toJson({ ...(row.details && fromJson(row.details)), source: { type: source, id: null } }),
          source_type: source,
        },
      ),
    );
    await quickStore(world, tenant).writeAll(copies);
    const all = made.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    const newest = (...sources: string[]) =>
      all
        .filter(({ source }) => sources.includes(source))
        .slice(0, 20)
        .map(({ id }) => id);
    const idsOf = (answer: { body: { items: { id: string }[] } }) => answer.body.items.map(({ id }) => id);
    expect(idsOf(await list(tenant))).toEqual(newest("api", "campaign", "journey"));
    expect(idsOf(await list(tenant, "?exclude_source_type=journey"))).toEqual(newest("api", "campaign"));
    expect(idsOf(await list(tenant, "?source_type=journey"))).toEqual(newest("journey"));
    expect((await list(tenant, "?exclude_source_type=nonsense")).status).toBe(422);
    const as = await tenant.dashboard();
    const route = "GET /api/v1/notifications?source_type=api&limit=20";
    const cost = await spentByCall(world, { as, route, refused: { route: "GET /api/v1/notifications?limit=0" } });
    expect(idsOf(await list(tenant, "?source_type=api&limit=20"))).toEqual(newest("api"));
    expect(cost.rcu).toBeLessThanOrEqual(8);
    expect(cost.requests).toBeLessThanOrEqual(4);
    const pages: string[] = [];
    let cursor = "";
    do {
      const page = (await list(tenant, `?source_type=campaign&limit=7&cursor=${cursor}`.replace(/&cursor=$/, ""))).body;
      pages.push(...page.items.map(({ id }: { id: string }) => id));
      cursor = page.next_cursor;
    } while (cursor !== "");
    expect(pages).toEqual(all.filter(({ source }) => source === "campaign").map(({ id }) => id));
  });

  it("the jobs of a busy second are spread, and the list has each once at any size of its pages (AMB-127)", async () => {
    const { world, tenant, ids } = await withPeople(1);
    const made: string[] = [];
    for (let n = 0; n < 26; n++) made.push((await post(world, tenant, { subscriberIds: ids })).body.id);
    expect(new Set(made.map(laneOf)).size).toBeGreaterThan(2);
    const newest = made.toSorted().reverse();
    for (const limit of [4, 25]) {
      const listed: string[] = [];
      for (let cursor: string | undefined; cursor !== ""; ) {
        const page = (await list(tenant, `?limit=${limit}${cursor ? `&cursor=${cursor}` : ""}`)).body;
        listed.push(...page.items.map(({ id }: { id: string }) => id));
        cursor = page.next_cursor;
      }
      expect(listed).toEqual(newest);
    }
    await world.settle();
    for (const id of made) expect(await jobOf(tenant, id)).toMatchObject({ id, status: "completed" });
  });
});
