// Listing of subscribers for integrations and the dashboard (SUB-15, D-SUB-LIST).
import { describe, expect, it } from "vitest";
import { MINUTE, SECOND } from "../../shared/kernel/clock.ts";
import { pagesOf } from "../support/pages.ts";
import { addDevice, addPeople } from "../support/people.ts";
import { START, type Tenant, type TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const list = (world: TestWorld, tenant: Tenant, query = "") =>
  world.call(`GET /v1/subscribers${query}`, { as: tenant.server });

/** Follows the cursors to the end. @returns the pages' external ids. */
async function pages(world: TestWorld, tenant: Tenant, query: string): Promise<string[][]> {
  const found = await pagesOf<{ external_id: string }>((page) => list(world, tenant, page), query);
  return found.map((people) => people.map(({ external_id }) => external_id));
}

describe("paging", () => {
  it("a list pages through 260 subscribers of 16 shards, newest first, each exactly once (D-SUB-LIST, SUB-15)", async () => {
    const { world, tenant } = await withTenant();
    const expected: string[] = [];
    for (let group = 0; group < 26; group++) {
      await addPeople(world, tenant, 10, (n) => ({ external_id: `g${group}-${n}` }));
      expected.unshift(`g${group}`);
      await world.advance(SECOND);
    }
    const found = await pages(world, tenant, "limit=37");
    expect(found.slice(0, 7).map(({ length }) => length)).toEqual([37, 37, 37, 37, 37, 37, 37]);
    const flat = found.flat();
    expect(flat).toHaveLength(260);
    expect(new Set(flat).size).toBe(260);
    expect(flat.map((name) => name.split("-")[0])).toEqual(expected.flatMap((group) => Array(10).fill(group)));
  });

  it("a list of subscribers gives 100 by default and at most 1,000 (D-SUB-LIST, AMB-80)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 1_005);
    const sizes = async (query: string) => (await list(world, tenant, query)).body.items.length;
    expect(await sizes("")).toBe(100);
    expect(await sizes("?limit=1")).toBe(1);
    expect(await sizes("?limit=5000")).toBe(1_000);
    for (const limit of ["0", "-1", "ten", "1.5", ""]) {
      const { status, body } = await list(world, tenant, `?limit=${limit}`);
      expect(status, `${limit}`).toBe(422);
      expect(Object.keys(body.fields), `${limit}`).toEqual(["limit"]);
    }
  });

  it("a subscriber erased or created between two pages does not affect the others (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 30);
    const first = (await list(world, tenant, "?limit=10")).body;
    const seen = first.items.map(({ id }: { id: string }) => id);
    const rest = (await list(world, tenant, "?limit=100")).body.items.slice(10);
    await tenant.call(`DELETE /api/v1/subscribers/${seen[9]}`);
    await tenant.call(`DELETE /api/v1/subscribers/${rest[0].id}`);
    await world.advance(SECOND);
    await addPeople(world, tenant, 5, (n) => ({ external_id: `late${n}` }));
    const second = (await list(world, tenant, `?limit=100&cursor=${first.next_cursor}`)).body;

    expect(second.items.map(({ id }: { id: string }) => id)).toEqual(rest.slice(1).map(({ id }: { id: string }) => id));
  });

  it.each([
    ["of all", "limit=1000"],
    ["of an address that many share", "limit=1000&email=same%40example.com"],
  ])(
    "a page %s closes at 4 MB with a cursor, whatever the limit (D-SUB-LIST, docs/decisions/0021#page-size)",
    async (_, query) => {
      const { world, tenant } = await withTenant();
      const large = { email: "same@example.com", attributes: { text: "x".repeat(300_000) } };
      await addPeople(world, tenant, 24, () => large);
      const found = await pages(world, tenant, query);

      expect(found.length).toBeGreaterThan(1);
      expect(new Set(found.flat()).size).toBe(24);
    },
  );

  it("a forged cursor of a list is refused with 422, naming it (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 3);
    const [text = "", signature = ""] = (await list(world, tenant, "?limit=1")).body.next_cursor.split(".");
    const forged = `${Buffer.from('"2099-01-01T00:00:00.000Z#00000000-0000-4000-8000-000000000000"').toString("base64url")}.${signature}`;
    for (const cursor of [forged, text, `${text}.`]) {
      const { status, body } = await list(world, tenant, `?cursor=${cursor}`);
      expect(status, cursor).toBe(422);
      expect(Object.keys(body.fields), cursor).toEqual(["cursor"]);
    }
  });
});

describe("filters", () => {
  it("a list of subscribers by external_id finds one, also after it was erased and created again (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const [first] = await addPeople(world, tenant, 3);
    const named = async () => (await list(world, tenant, "?external_id=p0")).body;
    expect((await named()).items.map(({ id }: { id: string }) => id)).toEqual([first]);
    await tenant.call(`DELETE /api/v1/subscribers/${first}`);
    expect(await named()).toEqual({ items: [], next_cursor: "" });
    const [second] = await addPeople(world, tenant, 1);
    expect((await named()).items.map(({ id }: { id: string }) => id)).toEqual([second]);
    expect((await list(world, tenant, "?external_id=nobody")).body.items).toEqual([]);
  });

  it("a list of subscribers by email has who was created a moment ago, beside an older one of that address (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    await tenant.upsert({ external_id: "older", email: "same@example.com" });
    await world.advance(SECOND);
    const body = { external_id: "newer", email: "same@example.com" };
    await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });

    expect(await pages(world, tenant, "email=same%40example.com")).toEqual([["newer", "older"]]);
  });

  it("a list of subscribers by email matches whatever the case, over page borders (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 120, (n) => ({ email: n % 40 === 7 ? "Same@Example.com" : `p${n}@example.com` }));
    const found = (await pages(world, tenant, "limit=2&email=same%40example.COM")).flat();

    expect(found.sort()).toEqual(["p47", "p7", "p87"].sort());
    expect((await pages(world, tenant, "email=nobody%40example.com")).flat()).toEqual([]);
  });

  it("a list of subscribers by updated_since is inclusive and reads any offset (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 3);
    await world.advance(MINUTE);
    await addPeople(world, tenant, 1);
    const since = new Date(START + MINUTE);
    const found = async (value: string) =>
      (await list(world, tenant, `?updated_since=${encodeURIComponent(value)}`)).body.items.map(
        ({ external_id }: { external_id: string }) => external_id,
      );
    expect(await found(since.toISOString())).toEqual(["p0"]);
    const shifted = new Date(since.getTime() + 2 * 60 * MINUTE).toISOString().replace("Z", "+02:00");
    expect(await found(shifted)).toEqual(["p0"]);
    expect(await found(new Date(START + MINUTE + 1).toISOString())).toEqual([]);
    const { status, body } = await list(world, tenant, "?updated_since=today");
    expect(status).toBe(422);
    expect(Object.keys(body.fields)).toEqual(["updated_since"]);
  });
});

describe("filters together", () => {
  const phone = encodeURIComponent("+4915112345678");

  it.each([
    ["external_id=p1&email=p1@example.com", ["p1"]],
    ["external_id=p1&email=p2@example.com", []],
    ["external_id=p1&updated_since=2031-01-01T00:00:00Z", []],
    ["external_id=p1&q=P1@", ["p1"]],
    ["external_id=p1&q=p2", []],
    [`external_id=p1&q=${phone}`, ["p1"]],
    ["external_id=p1&q=%2B4915112345679", []],
    [`q=${phone}&email=p2@example.com`, ["p2"]],
    [`q=${phone}&updated_since=2031-01-01T00:00:00Z`, []],
  ])("subscribers are listed by all that is asked: %s (D-SUB-LIST, RDA-6)", async (query, expected) => {
    const { world, tenant } = await withTenant();
    const attributes = { phone: "+4915112345678" };
    await addPeople(world, tenant, 3, (n) => ({ email: `p${n}@example.com`, attributes }));

    const { items } = (await tenant.call(`GET /api/v1/subscribers?${query}`)).body;

    expect(items.map(({ external_id }: { external_id: string }) => external_id)).toEqual(expected);
  });
});

describe("who may read", () => {
  it("the dashboard has the same list, and a single read (D-SUB-LIST, SUB-15)", async () => {
    const { world, tenant } = await withTenant();
    await addPeople(world, tenant, 3);
    const { body } = await list(world, tenant);
    expect((await tenant.call("GET /api/v1/subscribers")).body).toEqual(body);
    const [one] = body.items;
    expect((await tenant.call(`GET /api/v1/subscribers/${one.id}`)).body).toMatchObject(one);
  });

  it("devices in the partitions of the profiles are not listed as subscribers (D-SUB-LIST)", async () => {
    const { world, tenant } = await withTenant();
    const [id] = await addPeople(world, tenant, 1);
    await addDevice(world, tenant, String(id), "phone");
    expect((await list(world, tenant)).body.items).toHaveLength(1);
    const { status } = await tenant.call(`GET /api/v1/subscribers/${id}%23D%23phone`);
    expect(status).toBe(404);
  });
});
