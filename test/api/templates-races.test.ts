// Concurrent changes of one template (TPL-6 to TPL-8): whatever the order, names, list and templates agree afterwards.
import { expect, it } from "vitest";
import { requests } from "../support/requests.ts";
import type { Tenant } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const content = { title: "Hello", body: "World" };

const named = async (tenant: Tenant, name: string): Promise<string> =>
  (await tenant.call("POST /api/v1/templates", { name, content })).body.id;

/** The list, each template read by its id: the two must tell the same. */
async function agreedNames(tenant: Tenant): Promise<string[]> {
  const { data, total } = (await tenant.call("GET /api/v1/templates?per_page=100")).body;
  expect(total).toBe(data.length);
  for (const template of data)
    expect((await tenant.call(`GET /api/v1/templates/${template.id}`)).body).toEqual(template);
  return data.map(({ name }: { name: string }) => name).sort();
}

/** A workspace, and the transactions in it, before which something else may happen. */
async function interrupted() {
  const transaction = requests({ operation: "TransactWriteItems" });
  return { ...(await withTenant({ hooks: transaction.hooks })), transaction };
}

it("two renames at once both answer 200, and the template bears one of the names (TPL-6)", async () => {
  const { tenant } = await withTenant();
  const id = await named(tenant, "start");
  const answers = await Promise.all(
    ["a", "b", "c"].map((name) => tenant.call(`PATCH /api/v1/templates/${id}`, { name })),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await agreedNames(tenant)).toHaveLength(1);
  for (const name of ["start", "a", "b", "c"]) await named(tenant, name);
  expect(await agreedNames(tenant)).toEqual(["a", "b", "c", "start"]);
});

it.each([
  ["another rename goes on from there", "first"],
  ["the same rename is no conflict with itself", "second"],
])("a rename that meets %s (TPL-6, TPL-7)", async (_, other) => {
  const { tenant, transaction } = await interrupted();
  const id = await named(tenant, "start");
  const rename = (name: string) => tenant.call(`PATCH /api/v1/templates/${id}`, { name });
  transaction.next(() => rename(other));
  const { status, body } = await rename("second");

  expect(status).toBe(200);
  expect(body.name).toBe("second");
  expect(await agreedNames(tenant)).toEqual(["second"]);
  expect(await named(tenant, "first")).toBeDefined();
});

it("of two templates that want one name, one gets it and the other is 422 (TPL-7)", async () => {
  const { tenant } = await withTenant();
  const ids = [await named(tenant, "a"), await named(tenant, "b")];
  const answers = await Promise.all(ids.map((id) => tenant.call(`PATCH /api/v1/templates/${id}`, { name: "same" })));

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  expect((await agreedNames(tenant)).filter((name) => name === "same")).toHaveLength(1);
});

it("a removal that meets a rename removes the template and frees both names (TPL-8)", async () => {
  const { tenant, transaction } = await interrupted();
  const id = await named(tenant, "before");
  transaction.next(() => tenant.call(`PATCH /api/v1/templates/${id}`, { name: "after" }));

  expect((await tenant.call(`DELETE /api/v1/templates/${id}`)).status).toBe(204);
  expect(await agreedNames(tenant)).toEqual([]);
  for (const name of ["before", "after"])
    expect((await tenant.call("POST /api/v1/templates", { name, content })).status).toBe(201);
});

it("a removal does not free a name that another template got meanwhile (TPL-8)", async () => {
  const { tenant, transaction } = await interrupted();
  const id = await named(tenant, "wanted");
  transaction.next(async () => {
    await tenant.call(`PATCH /api/v1/templates/${id}`, { name: "moved" });
    await named(tenant, "wanted");
  });

  expect((await tenant.call(`DELETE /api/v1/templates/${id}`)).status).toBe(204);
  expect(await agreedNames(tenant)).toEqual(["wanted"]);
  expect((await tenant.call("POST /api/v1/templates", { name: "wanted", content })).status).toBe(422);
});

it("a rename of a template that is removed meanwhile is 404 and takes no name (TPL-6, TPL-8)", async () => {
  const { tenant, transaction } = await interrupted();
  const id = await named(tenant, "before");
  transaction.next(() => tenant.call(`DELETE /api/v1/templates/${id}`));

  expect((await tenant.call(`PATCH /api/v1/templates/${id}`, { name: "after" })).status).toBe(404);
  expect(await agreedNames(tenant)).toEqual([]);
  expect((await tenant.call("POST /api/v1/templates", { name: "after", content })).status).toBe(201);
});
