// Subscriber lists (D-LIST, AMB-81): records, unique names, members.
import { describe, expect, it } from "vitest";
import { SECOND } from "../../shared/kernel/clock.ts";
import { putItem } from "../../shared/store/item.ts";
import { addMembers } from "../../shared/store/lists/lists.ts";
import { countMembers } from "../../shared/store/lists/member-counts.ts";
import { MAX_ENTITIES, Name } from "../../shared/store/name-index.ts";
import { add, ask, create, drop, get, named } from "../support/lists.ts";
import { inMs } from "../support/notify.ts";
import { addPeople, quickStore, wholeTable } from "../support/people.ts";
import { recountMembers } from "../support/recounts.ts";
import { START, type Tenant, type TestWorld, UNKNOWN } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const keysOfTable = async (world: TestWorld) =>
  (await wholeTable(world)).map(({ pk, sk }) => ({ pk: String(pk.S), sk: String(sk.S) }));

async function allMembers(world: TestWorld, tenant: Tenant, id: string) {
  const pages: string[][] = [];
  for (let cursor = ""; ; ) {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : "";
    const { body } = await ask(world, tenant, `GET /api/v1/lists/${id}/subscribers${query}`);
    pages.push(body.items.map(({ subscriber_id }: { subscriber_id: string }) => subscriber_id));
    cursor = body.next_cursor;
    if (!cursor) return pages;
  }
}

describe("records", () => {
  it("a new list has exactly its fields, and GET answers the same (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const made = await create(world, tenant, { name: " Readers ", description: "of the newsletter" });
    const at = new Date(START).toISOString();
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.any(String),
        name: "Readers",
        description: "of the newsletter",
        subscriber_count: 0,
        double_opt_in: false,
        created_at: at,
        updated_at: at,
      },
    ]);
    expect((await get(world, tenant, made.body.id)).body).toEqual(made.body);
    expect((await create(world, tenant, { name: "Plain" })).body.description).toBeNull();
  });

  it("a name that is taken is 409, in a race too, and free again after a deletion or in another workspace (AMB-81)", async () => {
    const { world, tenant } = await withTenant();
    const id = await named(world, tenant, "Readers");
    const again = await create(world, tenant, { name: "Readers" });
    expect([again.status, again.body.code]).toEqual([409, "CONFLICT"]);
    const race = await Promise.all(Array.from({ length: 4 }, () => create(world, tenant, { name: "Race" })));
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const other = await world.tenant();
    expect((await create(world, other, { name: "Readers" })).status).toBe(201);
    expect((await ask(world, tenant, `DELETE /api/v1/lists/${id}`)).status).toBe(204);
    expect((await create(world, tenant, { name: "Readers" })).status).toBe(201);
  });

  it.each([
    ["name", { name: "  " }],
    ["name", { name: "x".repeat(129) }],
  ])("answers 422 naming %s (D-LIST)", async (field, body) => {
    const { world, tenant } = await withTenant();
    const { status, body: answer } = await create(world, tenant, body);
    expect([status, answer.code, Object.keys(answer.fields)]).toEqual([422, "VALIDATION_ERROR", [field]]);
  });

  it("PATCH overwrites what is supplied; a taken name is 409, an empty change 422 (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const id = (await create(world, tenant, { name: "A", description: "first" })).body.id;
    await named(world, tenant, "B");
    await world.advance(SECOND);
    const patch = (body: unknown) => ask(world, tenant, `PATCH /api/v1/lists/${id}`, body);
    const renamed = await patch({ name: "C" });
    expect(renamed.body).toMatchObject({ name: "C", description: "first", updated_at: inMs(world, 0) });
    expect((await patch({ description: null })).body).toMatchObject({ name: "C", description: null });
    expect((await patch({ name: "B" })).status).toBe(409);
    expect((await patch({})).status).toBe(422);
    expect((await ask(world, tenant, `PATCH /api/v1/lists/${UNKNOWN}`, { name: "Z" })).status).toBe(404);
  });

  it("pages newest first, filters by name and counts members on every page (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 3);
    for (const [i, name] of ["Alpha", "Beta", "Alphabet"].entries()) {
      const id = await named(world, tenant, name);
      await add(world, tenant, id, people.slice(0, i + 1));
      await world.advance(SECOND);
    }
    const list = async (query: string) => {
      const { body } = await ask(world, tenant, `GET /api/v1/lists${query}`);
      const shown = body.items.map((item: { name: string; subscriber_count: number }) => [
        item.name,
        item.subscriber_count,
      ]);
      return { ...body, items: shown };
    };
    expect(await list("")).toEqual({
      items: [
        ["Alphabet", 3],
        ["Beta", 2],
        ["Alpha", 1],
      ],
      total: 3,
      page: 1,
      page_size: 20,
    });
    expect(await list("?page=2&page_size=2")).toEqual({ items: [["Alpha", 1]], total: 3, page: 2, page_size: 2 });
    expect((await list("?name=alpha")).items).toEqual([
      ["Alphabet", 3],
      ["Alpha", 1],
    ]);
    expect((await list("?page_size=500")).page_size).toBe(100);
  });

  it("the list after the 10,000th is refused (AMB-81)", async () => {
    const { world, tenant } = await withTenant();
    const names = Array.from({ length: MAX_ENTITIES }, (_, n) =>
      putItem(Name, { kind: "list", name: `l${n}` }, { id: world.ids.uuidAt(START - n) }),
    );
    await quickStore(world, tenant).writeAll(names);
    const { status, body } = await create(world, tenant, { name: "one more" });
    expect([status, body.code]).toEqual([429, "QUOTA_EXCEEDED"]);
  });
});

describe("members", () => {
  it("adding reports new, existing and unknown subscribers; a repeat changes nothing (D-LIST, AMB-81)", async () => {
    const { world, tenant } = await withTenant();
    const other = await world.tenant();
    const [foreign] = (await addPeople(world, other, 1)) as [string];
    const people = await addPeople(world, tenant, 3);
    const id = await named(world, tenant, "Readers");
    const first = await add(world, tenant, id, [people[0]!, people[1]!, people[1]!.toUpperCase(), UNKNOWN, foreign]);
    expect([first.status, first.body]).toEqual([
      200,
      { added: 2, already_member: 0, pending: 0, not_found: [UNKNOWN, foreign] },
    ]);
    expect((await add(world, tenant, id, people)).body).toEqual({
      added: 1,
      already_member: 2,
      pending: 0,
      not_found: [],
    });
    expect((await get(world, tenant, id)).body.subscriber_count).toBe(3);
    const [items] = [(await ask(world, tenant, `GET /api/v1/lists/${id}/subscribers`)).body.items];
    expect(items.map((item: { external_id: string }) => item.external_id).sort()).toEqual(["p0", "p1", "p2"]);
    expect(items[0]).toEqual({
      subscriber_id: expect.any(String),
      external_id: expect.any(String),
      name: null,
      entered_at: inMs(world, 0),
    });
  });

  it("removing reports how many were members, and names the ids that were not (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 3);
    const id = await named(world, tenant, "Readers");
    await add(world, tenant, id, people.slice(0, 2));
    const gone = await drop(world, tenant, id, [people[1]!, people[2]!, UNKNOWN]);
    expect([gone.status, gone.body]).toEqual([200, { removed: 1, not_found: [people[2], UNKNOWN] }]);
    expect(await allMembers(world, tenant, id)).toEqual([[people[0]]]);
    expect((await get(world, tenant, id)).body.subscriber_count).toBe(1);
  });

  it("members are listed in pages of 100, each once, and the cursor is valid for this list only (LIM-8)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 230);
    const id = await named(world, tenant, "Readers");
    expect((await add(world, tenant, id, people)).body.added).toBe(230);
    const pages = await allMembers(world, tenant, id);
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 30]);
    expect(pages.flat()).toEqual([...people].sort());
    const { next_cursor } = (await ask(world, tenant, `GET /api/v1/lists/${id}/subscribers`)).body;
    const other = await named(world, tenant, "Others");
    for (const cursor of [`x${next_cursor}`, next_cursor]) {
      const refused = await ask(world, tenant, `GET /api/v1/lists/${other}/subscribers?cursor=${cursor}`);
      expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, ["cursor"]]);
    }
  });

  it.each([
    ["subscriber_ids", { subscriber_ids: Array.from({ length: 1_001 }, () => UNKNOWN) }],
    ["subscriber_ids[0]", { subscriber_ids: ["x"] }],
  ])("between 1 and 1,000 ids: 422 naming %s (D-LIST)", async (field, body) => {
    const { world, tenant } = await withTenant();
    const id = await named(world, tenant, "Readers");
    for (const way of ["", "/remove"]) {
      const refused = await ask(world, tenant, `POST /api/v1/lists/${id}/subscribers${way}`, body);
      expect([refused.status, Object.keys(refused.body.fields)]).toEqual([422, [field]]);
    }
  });

  it("concurrent additions and removals: the count is that of the rows (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 60);
    const id = await named(world, tenant, "Readers");
    const work = [people, people.slice(20), people.slice(0, 40), people].map((ids, i) =>
      i % 2 === 0 ? add(world, tenant, id, ids) : drop(world, tenant, id, ids),
    );
    expect((await Promise.all(work)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const group = { kind: "list", id } as const;
    expect(await countMembers(tenant.store, group)).toBe(await recountMembers(tenant.store, group));
  });

  it("an import may add any number of ids (D-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 1_100);
    const id = await named(world, tenant, "Readers");
    const store = quickStore(world, tenant);
    expect(await addMembers(store, id, [...people, UNKNOWN])).toEqual({
      added: 1_100,
      already_member: 0,
      not_found: [UNKNOWN],
    });
    expect(await recountMembers(store, { kind: "list", id })).toBe(1_100);
  });

  it("an erased subscriber leaves its lists at both ends, counts included (SUB-9)", async () => {
    const { world, tenant } = await withTenant();
    const people = await addPeople(world, tenant, 2);
    const ids = [await named(world, tenant, "A"), await named(world, tenant, "B")];
    for (const id of ids) await add(world, tenant, id, people);
    expect((await ask(world, tenant, `DELETE /api/v1/subscribers/${people[0]}`)).status).toBe(204);
    await world.settle();
    for (const id of ids) {
      expect(await allMembers(world, tenant, id)).toEqual([[people[1]]]);
      expect((await get(world, tenant, id)).body.subscriber_count).toBe(1);
    }
    const traces = (await keysOfTable(world)).filter(({ pk, sk }) =>
      sk === people[0] ? pk.includes("#list#") : pk.endsWith(`#U#${people[0]}`),
    );
    expect(traces).toEqual([]);
  });
});
