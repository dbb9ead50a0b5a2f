// Subscribers found by the beginning of a name, and counted (RDA-6).
import { expect, it } from "vitest";
import { SearchEntry } from "../../shared/store/subscribers/search-items.ts";
import { entriesOf } from "../support/pages.ts";
import { addPeople, quickStore, wholeTable } from "../support/people.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { fresh, withTenant } = worlds();

const search = async (world: TestWorld, tenant: Tenant, query: string) =>
  (await world.call(`GET /api/v1/subscribers?${query}`, { as: await tenant.dashboard("viewer") })).body;

async function found(world: TestWorld, tenant: Tenant, q: string, limit = 100): Promise<string[]> {
  const as = await tenant.dashboard("viewer");
  const people = await entriesOf<{ external_id: string }>(
    (page) => world.call(`GET /api/v1/subscribers${page}`, { as }),
    `q=${encodeURIComponent(q)}&limit=${limit}`,
  );
  return people.map(({ external_id }) => external_id);
}

/** Three subscribers, and one of another workspace with a like name. */
async function withNames() {
  const world = await fresh();
  const [tenant, other] = [await world.tenant(), await world.tenant()];
  const upsert = (external_id: string, more: object = {}) =>
    world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id, ...more } });
  const ada = (await upsert("u#1", { email: "Ada@Engines.example", attributes: { last_name: "Ådalen" } })).body;
  await upsert("ada-2", { email: "ada.byron@engines.example" });
  await upsert("ADB-3");
  await addPeople(world, other, 1, () => ({ external_id: "ada-foreign" }));
  await world.settle();
  return { world, tenant, upsert, ada };
}

it.each([
  ["of one's own workspace, each subscriber once", "AD", ["ada-2", "u#1", "ADB-3"]],
  ["by e-mail", "ada.b", ["ada-2"]],
  ["by last name, whatever the case", "åda", ["u#1"]],
  ["by external id", "u#", ["u#1"]],
  ["by beginnings alone", "engines", []],
])("a search finds %s (RDA-6)", async (_, q, ids) => {
  const { world, tenant } = await withNames();

  expect(await found(world, tenant, q)).toEqual(ids);
});

it("a search finds a changed address, and not the former (RDA-6)", async () => {
  const { world, tenant, upsert, ada } = await withNames();
  await upsert("u#1", { email: "lovelace@engines.example" });
  await world.settle();
  const entries = await quickStore(world, tenant).query(SearchEntry, { subscriber: ada.id });

  expect(await found(world, tenant, "ada@")).toEqual([]);
  expect(await found(world, tenant, "love")).toEqual(["u#1"]);
  expect(entries.items.filter(({ sk }) => sk.endsWith(ada.id))).toHaveLength(4);
});

it("a search for blanks is refused with 422 (RDA-6)", async () => {
  const { tenant } = await withNames();
  const refused = await tenant.call("GET /api/v1/subscribers?q=%20");

  expect(refused.status).toBe(422);
  expect(Object.keys(refused.body.fields)).toEqual(["q"]);
});

it("a search finds by full name, without marks, and by phone number (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  const named = (external_id: string, first_name: string, last_name: string, phone?: string) =>
    world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id, attributes: { first_name, last_name, ...(phone && { phone }) } },
    });
  await named("c1", "Tilda", "Müller", "+4915112345678");
  await named("c2", "Tom", "Müller");
  await named("c3", "Anna", "Anna Aal");
  await world.settle();

  expect(await found(world, tenant, "Tilda Müller")).toEqual(["c1"]);
  expect(await found(world, tenant, "tilda mull", 1)).toEqual(["c1"]);
  expect((await found(world, tenant, "muller", 1)).sort()).toEqual(["c1", "c2"]);
  expect(await found(world, tenant, "anna a")).toEqual(["c3"]);
  expect(await found(world, tenant, "+49 151 1234-5678")).toEqual(["c1"]);
  expect(await found(world, tenant, "Tom Maier")).toEqual([]);
});

it("a search finds a name by its spelling without the keys for its marks, and the reverse (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  for (const [external_id, last_name] of Object.entries({
    c1: "Müller",
    c2: "Mueller",
    c3: "Muller",
    c4: "Weiß",
    c5: "Sørensen",
  }))
    await world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id, attributes: { first_name: "Tilda", last_name } },
    });
  await world.settle();

  expect((await found(world, tenant, "mueller", 1)).sort()).toEqual(["c1", "c2"]);
  expect((await found(world, tenant, "Müller", 1)).sort()).toEqual(["c1", "c2"]);
  expect((await found(world, tenant, "Tilda Muell", 1)).sort()).toEqual(["c1", "c2"]);
  expect(await found(world, tenant, "weiss")).toEqual(["c4"]);
  expect(await found(world, tenant, "soeren")).toEqual(["c5"]);
});

it("a phone number is found as it is dialed in the region of the workspace, and only there (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  const body = { external_id: "c1", attributes: { phone: "+4915112345678" } };
  await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body });
  await world.settle();
  const dialed = ["0151 1234-5678", "151 12345678", "0049 151 12345678", "49 151 12345678"];
  const foundBy = async () => Promise.all(dialed.map((q) => found(world, tenant, q)));
  const one = ["c1"];

  expect(await foundBy()).toEqual([[], [], one, one]);
  await tenant.call("PATCH /api/v1/workspace", { region: "DE" });
  expect(await foundBy()).toEqual([one, one, one, one]);
});

it("nobody is found by a number that was taken from the profile (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  const phone = "+4915112345678";
  const [ada] = await addPeople(world, tenant, 1, () => ({ attributes: { phone } }));
  expect(await found(world, tenant, phone)).toEqual(["p0"]);

  await tenant.call(`PATCH /api/v1/subscribers/${ada}`, { phone: null });

  expect(await found(world, tenant, phone)).toEqual([]);
});

it("all who share a phone number are found by it, on pages of one (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  const phone = "+4915112345678";
  await addPeople(world, tenant, 3, (n) => ({ external_id: `c${n}`, attributes: { phone } }));

  expect((await found(world, tenant, phone, 1)).sort()).toEqual(["c0", "c1", "c2"]);
  expect((await search(world, tenant, `q=${encodeURIComponent(phone)}&limit=3`)).next_cursor).toBe("");
});

it("a search pages through every match in order, and counts without reading them (RDA-6)", async () => {
  const { world, tenant } = await withTenant();
  await addPeople(world, tenant, 130, (n) => ({ external_id: `p${n}`, email: `p${n}@example.com` }));
  const names = await found(world, tenant, "p1", 7);
  const expected = Array.from({ length: 130 }, (_, n) => `p${n}`).filter((name) => name.startsWith("p1"));
  expect(names).toEqual(expected.sort());
  const { next_cursor } = await search(world, tenant, "q=p1&limit=1");
  const elsewhere = `GET /api/v1/subscribers?q=p2&cursor=${encodeURIComponent(next_cursor)}`;
  expect((await tenant.call(elsewhere)).status).toBe(422);
  const count = await world.call("GET /api/v1/subscribers/count", { as: await tenant.dashboard("viewer") });
  expect(count.body).toEqual({ count: 130, exact: true });
});

it("an erased subscriber is not found, and leaves no entry (RDA-6, SUB-9)", async () => {
  const { world, tenant } = await withTenant();
  const [id] = await addPeople(world, tenant, 1, () => ({ email: "canary@example.com" }));
  expect(await found(world, tenant, "canary")).toEqual(["p0"]);
  await tenant.call(`DELETE /api/v1/subscribers/${id}`);
  expect(await found(world, tenant, "canary")).toEqual([]);
  await world.settle();
  expect(JSON.stringify(await wholeTable(world))).not.toContain("canary");
});
