// Subscriber lists (D-LIST, AMB-81): records, unique names, members.
import { describe, expect, it } from "vitest";
import { fill } from "../../bench/people.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { addMembers } from "../../shared/store/lists/lists.ts";
import { countMembers } from "../../shared/store/lists/member-counts.ts";
import { MAX_ENTITIES, Name } from "../../shared/store/name-index.ts";
import { add, create, drop, get, keysOfTable, named } from "../support/lists.ts";
import { inMs } from "../support/notify.ts";
import { pagesOf } from "../support/pages.ts";
import { addPeople, quickStore } from "../support/people.ts";
import { recountMembers } from "../support/recounts.ts";
import { START, type Tenant, UNKNOWN } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const makers = worlds();
const { withPeople, withTenant } = makers;

async function allMembers(tenant: Tenant, id: string) {
  const pages = await pagesOf<{ subscriber_id: string }>((page) =>
    tenant.call(`GET /api/v1/lists/${id}/subscribers${page}`),
  );
  return pages.map((members) => members.map(({ subscriber_id }) => subscriber_id));
}

describe("records", () => {
  /** A workspace with the lists A and B. */
  const twoLists = async ({ withTenant }: ReturnType<typeof worlds>) => {
    const { world, tenant } = await withTenant();
    const id: string = (await create(tenant, { name: "A", description: "first" })).body.id;
    await named(tenant, "B");
    const patch = (body: unknown, list = id) => tenant.call(`PATCH /api/v1/lists/${list}`, body);
    return { world, tenant, id, patch };
  };
  const common = shared(twoLists);

  it("a new list has exactly its fields, and is read with the same (D-LIST)", async () => {
    const { tenant } = await common();
    const at = new Date(START).toISOString();

    const made = await create(tenant, { name: " Readers ", description: "of the newsletter" });

    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.any(String),
      name: "Readers",
      description: "of the newsletter",
      subscriber_count: 0,
      double_opt_in: false,
      created_at: at,
      updated_at: at,
    });
    expect((await get(tenant, made.body.id)).body).toEqual(made.body);
  });

  it("a list without a description has null for it (D-LIST)", async () => {
    const { tenant } = await common();

    expect((await create(tenant, { name: "Plain" })).body.description).toBeNull();
  });

  it("of lists that are created at once with one name, one is, and the others are refused with 409 (AMB-81)", async () => {
    const { tenant } = await common();

    const answers = await Promise.all(Array.from({ length: 4 }, () => create(tenant, { name: "Race" })));

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it("the name of a list is free in another workspace, and again after its deletion (AMB-81)", async () => {
    const { world, tenant, id } = await twoLists(makers);

    expect((await create(await world.tenant(), { name: "A" })).status).toBe(201);

    await tenant.call(`DELETE /api/v1/lists/${id}`);
    expect((await create(tenant, { name: "A" })).status).toBe(201);
  });

  it.each([
    ["blank", 422, { name: "  " }],
    ["taken", 409, { name: "A" }],
  ])("a list whose name is %s is refused with %i (D-LIST, AMB-81)", async (_, status, body) => {
    const { tenant } = await common();

    expect((await create(tenant, body)).status).toBe(status);
  });

  it.each([
    ["name", { name: "C" }, { description: "first" }],
    ["description", { description: null }, { name: "A" }],
  ])("a change of the %s of a list leaves the rest as it was (D-LIST)", async (_, change, rest) => {
    const { world, patch } = await twoLists(makers);
    await world.advance(SECOND);

    expect((await patch(change)).body).toMatchObject({ ...change, ...rest, updated_at: inMs(world, 0) });
  });

  it.each([
    ["to a name that is taken", 409, { name: "B" }],
    ["without a field", 422, {}],
  ])("a change of a list %s is refused with %i (D-LIST)", async (_, status, change) => {
    const { patch } = await common();

    expect((await patch(change)).status).toBe(status);
  });

  const threeLists = shared(async ({ withPeople }) => {
    const { world, tenant, ids: people } = await withPeople(3);
    for (const [i, name] of ["Alpha", "Beta", "Alphabet"].entries()) {
      const id = await named(tenant, name);
      await add(tenant, id, people.slice(0, i + 1));
      await world.advance(SECOND);
    }
    return { list: async (query: string) => (await tenant.call(`GET /api/v1/lists${query}`)).body };
  });
  const [alphabet, beta, alpha] = [
    { name: "Alphabet", subscriber_count: 3 },
    { name: "Beta", subscriber_count: 2 },
    { name: "Alpha", subscriber_count: 1 },
  ];

  it.each([
    ["all lists", "", { items: [alphabet, beta, alpha], total: 3, page: 1, page_size: 20 }],
    ["lists of a name", "?name=alpha", { items: [alphabet, alpha] }],
  ])("%s come newest first with the count of their members (D-LIST)", async (_, query, page) => {
    const { list } = await threeLists();

    expect(await list(query)).toMatchObject(page);
  });

  it("the list after the 10,000th is refused (AMB-81)", async () => {
    const { world, tenant } = await withTenant();
    const names = Array.from({ length: MAX_ENTITIES }, (_, n) =>
      putItem(Name, { kind: "list", name: `l${n}` }, { id: world.ids.uuidAt(START - n) }),
    );
    await quickStore(world, tenant).writeAll(names);

    const { status, body } = await create(tenant, { name: "one more" });

    expect(status).toBe(429);
    expect(body.code).toBe("QUOTA_EXCEEDED");
  });
});

describe("members", () => {
  /** A workspace of so many people, and its list Readers. */
  async function withReaders(count: number, { withPeople }: ReturnType<typeof worlds> = makers) {
    const { world, tenant, ids: people } = await withPeople(count);
    return { world, tenant, people, id: await named(tenant, "Readers") };
  }

  it("those who are added to a list are counted as new, as members already or as unknown (D-LIST, AMB-81)", async () => {
    const { world, tenant, people, id } = await withReaders(3);
    const [p0, p1] = people as [string, string];
    const [foreign] = (await addPeople(world, await world.tenant(), 1)) as [string];

    expect(await add(tenant, id, [p0, p1, p1.toUpperCase(), UNKNOWN, foreign])).toMatchObject({
      status: 200,
      body: { added: 2, already_member: 0, pending: 0, not_found: [UNKNOWN, foreign] },
    });
    expect((await add(tenant, id, people)).body).toEqual({
      added: 1,
      already_member: 2,
      pending: 0,
      not_found: [],
    });
    expect((await get(tenant, id)).body.subscriber_count).toBe(3);
  });

  it("a member of a list is listed with when it entered (D-LIST)", async () => {
    const { world, tenant, people, id } = await withReaders(1);
    await add(tenant, id, people);

    expect((await tenant.call(`GET /api/v1/lists/${id}/subscribers`)).body.items).toEqual([
      { subscriber_id: people[0], external_id: "p0", name: null, entered_at: inMs(world, 0) },
    ]);
  });

  it("the members of a list are found by the beginning of a name, and nobody beside them (RDA-6)", async () => {
    const { world, tenant, people, id } = await withReaders(2);
    await add(tenant, id, people.slice(0, 1));
    await world.settle();
    const found = async (q: string) => (await tenant.call(`GET /api/v1/lists/${id}/subscribers?q=${q}`)).body.items;

    expect(await found("P")).toEqual([
      { subscriber_id: people[0], external_id: "p0", name: null, entered_at: inMs(world, 0) },
    ]);
    expect(await found("p1")).toEqual([]);
  });

  it("those who are removed from a list are counted, and those who were no members named (D-LIST)", async () => {
    const { tenant, people, id } = await withReaders(3);
    const [member, removed, stranger] = people as [string, string, string];
    await add(tenant, id, [member, removed]);

    expect(await drop(tenant, id, [removed, stranger, UNKNOWN])).toMatchObject({
      status: 200,
      body: { removed: 1, not_found: [stranger, UNKNOWN] },
    });
    expect(await allMembers(tenant, id)).toEqual([[member]]);
    expect((await get(tenant, id)).body.subscriber_count).toBe(1);
  });

  const manyReaders = shared(async (own) => {
    const found = await withReaders(230, own);
    await add(found.tenant, found.id, found.people);
    return found;
  });

  it("the members of a list are on pages of 100, each once (LIM-8)", async () => {
    const { tenant, people, id } = await manyReaders();

    const pages = await allMembers(tenant, id);

    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual([...people].sort());
  });

  it("the cursor of one list is refused with 422 for another, as is a changed one (LIM-8)", async () => {
    const { tenant, id } = await manyReaders();
    const { next_cursor } = (await tenant.call(`GET /api/v1/lists/${id}/subscribers`)).body;
    const other = await named(tenant, "Others");

    for (const cursor of [`x${next_cursor}`, next_cursor]) {
      const { status, body } = await tenant.call(`GET /api/v1/lists/${other}/subscribers?cursor=${cursor}`);
      expect(status).toBe(422);
      expect(Object.keys(body.fields)).toEqual(["cursor"]);
    }
  });

  it("the count of a list is that of its members after additions and removals at once (D-LIST)", async () => {
    const { tenant, people, id } = await withReaders(60);
    const work = [people, people.slice(20), people.slice(0, 40), people].map((ids, i) =>
      i % 2 === 0 ? add(tenant, id, ids) : drop(tenant, id, ids),
    );

    expect((await Promise.all(work)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);

    const group = { kind: "list", id } as const;
    expect(await countMembers(tenant.store, group)).toBe(await recountMembers(tenant.store, group));
  });

  it("an import adds any number of ids to a list (D-LIST)", async () => {
    const { world, tenant, id } = await withReaders(0);
    const people = await fill(world, tenant, 1_100);
    const store = quickStore(world, tenant);

    expect(await addMembers(store, id, [...people, UNKNOWN])).toEqual({
      added: 1_100,
      already_member: 0,
      not_found: [UNKNOWN],
    });
    expect(await recountMembers(store, { kind: "list", id })).toBe(1_100);
  });

  it("an erased subscriber leaves its lists at both ends, counts included (SUB-9)", async () => {
    const { world, tenant, ids: people } = await withPeople(2);
    const ids = [await named(tenant, "A"), await named(tenant, "B")];
    for (const id of ids) await add(tenant, id, people);

    await tenant.call(`DELETE /api/v1/subscribers/${people[0]}`);
    await world.settle();

    for (const id of ids) {
      expect(await allMembers(tenant, id)).toEqual([[people[1]]]);
      expect((await get(tenant, id)).body.subscriber_count).toBe(1);
    }
    const traces = (await keysOfTable(world)).filter(({ pk, sk }) =>
      sk === people[0] ? pk.includes("#list#") : pk.endsWith(`#U#${people[0]}`),
    );

    expect(traces).toEqual([]);
  });
});

it("who is added to a list that asks nobody is read once (D-LIST, D2)", async () => {
  const { world, tenant } = await withTenant();
  const list = (await create(tenant, { name: "A" })).body.id;
  const ada = await tenant.upsert({ external_id: "ada" });
  await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { attributes: { text: "x".repeat(80_000) } });
  world.dynamodb.resetMeter();

  expect(await add(tenant, list, [ada])).toMatchObject({ body: { added: 1 } });

  expect(world.dynamodb.meter().rcu).toBeLessThan(30);
});
