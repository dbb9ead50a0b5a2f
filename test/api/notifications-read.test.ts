// Sends are read and listed (NTF-17, D-NTF).
import { expect, it } from "vitest";
import { DAY, SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { fromJson, toJson } from "../../shared/store/json-text.ts";
import { type JobSource, jobIdOf, laneOf } from "../../shared/store/sends/jobs/job-ids.ts";
import { JobItem } from "../../shared/store/sends/jobs/job-items.ts";
import { inMs, jobOf, post } from "../support/notify.ts";
import { entriesOf } from "../support/pages.ts";
import { quickStore } from "../support/people.ts";
import { spentByCall } from "../support/spending.ts";
import { START, type Tenant } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withPeople, withTenant } = worlds();
const everybody = { target: { type: "all" } };
const titleOf = ({ title }: { title: string }) => title;
const idOf = ({ id }: { id: string }) => id;
const list = async (tenant: Tenant, query = "") => tenant.call(`GET /api/v1/notifications${query}`);
const everyId = async (tenant: Tenant, query: string): Promise<string[]> =>
  (await entriesOf<{ id: string }>((page) => list(tenant, page), query)).map(idOf);

it("a page of sends closes at 4 MB with a cursor, whatever the limit (D-NTF, docs/decisions/0021#page-size)", async () => {
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

it("a list of sends of a source that there is not is refused with 422, naming the field (D-NTF, RDA-17)", async () => {
  const { tenant } = await withTenant();

  const { status, body } = await list(tenant, "?source_type=newsletter");

  expect(status).toBe(422);
  expect(body).toMatchObject({ code: "VALIDATION_ERROR", fields: { source_type: expect.any(String) } });
});

/** 25 sends, of which every fifth is for later. */
const listed = shared(async ({ withTenant }) => {
  const { world, tenant } = await withTenant();
  const ids: string[] = [];
  for (let n = 0; n < 25; n++) {
    const body = n % 5 ? everybody : { ...everybody, scheduled_at: inMs(world, DAY) };
    ids.unshift((await post(world, tenant, body)).body.id);
    await world.advance(1);
  }
  return { tenant, ids };
});

it("sends are listed newest first, twenty a page, by cursor (D-NTF)", async () => {
  const { tenant, ids } = await listed();

  const first = (await list(tenant)).body;
  const second = (await list(tenant, `?cursor=${first.next_cursor}`)).body;

  expect(first.items.map(idOf)).toEqual(ids.slice(0, 20));
  expect(second.items.map(idOf)).toEqual(ids.slice(20));
  expect(second.next_cursor).toBe("");
});

it("sends of a status are listed by cursor, and of a limit above the largest as many as there are (D-NTF)", async () => {
  const { tenant } = await listed();

  const first = (await list(tenant, "?status=scheduled&limit=3")).body;
  const rest = (await list(tenant, `?status=scheduled&limit=1000&cursor=${first.next_cursor}`)).body;

  expect(first.items).toHaveLength(3);
  expect(rest.items).toHaveLength(2);
});

it("sends of another source are not listed (D-NTF)", async () => {
  const { tenant } = await listed();

  expect((await list(tenant, "?source_type=campaign")).body.items).toEqual([]);
});

it("a send is listed as it is read by its id (D-NTF)", async () => {
  const { tenant, ids } = await listed();

  expect((await list(tenant)).body.items[0]).toEqual(await jobOf(tenant, ids[0]!));
});

it("a list of sends without those of an unknown source is refused with 422 (D-NTF)", async () => {
  const { tenant } = await listed();

  expect((await list(tenant, "?exclude_source_type=nonsense")).status).toBe(422);
});

it.each([
  ["after it", { from: "2030-01-01T00:00:00Z" }, []],
  ["that ends before it", { from: "2020-01-01T00:00:00Z", to: new Date(START).toISOString() }, ["0"]],
  ["around it", { to: "2030-01-01T00:00:00Z" }, ["1"]],
  ["before all sends", { to: "0001-01-01T00:00:00Z" }, []],
])("a cursor of all sends goes on in a period %s (D-NTF)", async (_, period, titles) => {
  const { world, tenant } = await withTenant();
  for (let n = 0; n < 3; n++) {
    await post(world, tenant, { ...everybody, title: `${n}` });
    await world.advance(SECOND);
  }
  const cursor = (await list(tenant, "?limit=1")).body.next_cursor;

  const { body } = await list(tenant, `?${new URLSearchParams({ limit: "1", cursor, ...period })}`);

  expect(body.items.map(titleOf)).toEqual(titles);
});

/** 4,600 sends, of which 1 of 92 is of a campaign, as many by a request, and all others of journeys. */
const ofManySources = shared(async ({ withPeople }) => {
  const { world, tenant, ids } = await withPeople(1);
  const { id: own } = (await post(world, tenant, { subscriberIds: ids })).body;
  await world.settle();
  const job = await tenant.store.get(JobItem, { job: own });
  if (!job) throw new Error("The job is not there.");
  const { pk, sk, ...row } = job;
  const made = Array.from({ length: 4_600 }, (_, n) => {
    const listed: JobSource = n % 92 === 0 ? "campaign" : "api";
    const source: JobSource = n % 46 === 0 ? listed : "journey";
    return { id: jobIdOf(source, START + 1_000 + n, world.ids.bytes(10)), source };
  });
  const copies = made.map(({ id, source }) => {
    const details = toJson({ ...(row.details && fromJson(row.details)), source: { type: source, id: null } });
    return putItem(JobItem, { job: id }, { ...row, id, details, source_type: source });
  });
  await quickStore(world, tenant).writeAll(copies);
  const newestFirst = made.toSorted((a, b) => (a.id < b.id ? 1 : -1));
  const newest = (...sources: JobSource[]) =>
    newestFirst.filter(({ source }) => sources.includes(source)).map(({ id }) => id);
  return { world, tenant, newest };
});

it.each<[of: string, query: string, sources: JobSource[]]>([
  ["all sources", "", ["api", "campaign", "journey"]],
  ["all sources but one", "?exclude_source_type=journey", ["api", "campaign"]],
  ["one source", "?source_type=journey", ["journey"]],
  ["a rare source", "?source_type=api&limit=20", ["api"]],
])("the sends of %s are listed newest first, whatever made them (AMB-127)", async (_, query, sources) => {
  const { tenant, newest } = await ofManySources();

  expect((await list(tenant, query)).body.items.map(idOf)).toEqual(newest(...sources).slice(0, 20));
});

it("the sends of a source are each on one page (AMB-127)", async () => {
  const { tenant, newest } = await ofManySources();

  expect(await everyId(tenant, "limit=7&source_type=campaign")).toEqual(newest("campaign"));
});

it("a list of a rare source does not read the thousands of another (AMB-127)", async () => {
  const { world, tenant } = await ofManySources();
  const as = await tenant.dashboard();
  const route = "GET /api/v1/notifications?source_type=api&limit=20";

  const cost = await spentByCall(world, { as, route, refused: { route: "GET /api/v1/notifications?limit=0" } });

  expect(cost.rcu).toBeLessThanOrEqual(8);
  expect(cost.requests).toBeLessThanOrEqual(4);
});

it("the sends of a busy second are spread, and the list has each once at any size of its pages (AMB-127)", async () => {
  const { world, tenant, ids } = await withPeople(1);
  const made: string[] = [];
  for (let n = 0; n < 26; n++) made.push((await post(world, tenant, { subscriberIds: ids })).body.id);

  expect(new Set(made.map(laneOf)).size).toBeGreaterThan(2);
  const newest = made.toSorted().reverse();
  expect(await everyId(tenant, "limit=4")).toEqual(newest);
  expect(await everyId(tenant, "limit=25")).toEqual(newest);
});
