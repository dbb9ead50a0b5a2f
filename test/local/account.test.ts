// The resources of the local service: created once, and updated at a later start.
import { expect, it } from "vitest";
import { makeResources } from "../../local/account.ts";
import { tableDefinition } from "../../shared/store/definition.ts";
import { findByPhone } from "../../shared/store/subscribers/phones.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("a table of an earlier version gets the index it lacks, with the existing items", async () => {
  const { world, tenant } = await withTenant();
  const body = { external_id: "anna", attributes: { phone: "+4915123456789" } };
  const { id } = (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;
  const { name } = tableDefinition.indexes.i4;
  const TableName = String(world.env.TABLE_NAME);
  await world.dynamodb.operate("UpdateTable", {
    TableName,
    GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: name } }],
  });
  await expect(findByPhone(tenant.store, "+4915123456789")).rejects.toThrow();
  await makeResources(world, TableName);
  expect(await findByPhone(tenant.store, "+4915123456789")).toEqual([id]);
});
