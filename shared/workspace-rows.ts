// What is left of a workspace in the table, wherever it lies: found by a scan, for some rows nothing points to
// (docs/decisions/0017).
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type Capability, setting } from "./deps.ts";
import type { DueKind } from "./due-kinds.ts";
import { platformKeys } from "./store/keys.ts";
import type { Key, TenantId } from "./store/model.ts";
import { openRows } from "./store/rows.ts";
import { chunksOf } from "./store/table.ts";

export interface WorkspaceRows {
  /** What a page of the table, from a place on, holds of the workspace; and where the next page begins. */
  find(after?: Key): Promise<{ found: Key[]; next?: Key }>;
  remove(found: readonly Key[]): Promise<void>;
}

/** Removed at once: a page of the table may hold thousands of small rows. */
const ROWS_AT_ONCE = 250;

/** The timer of the purge itself is not what it looks for. */
const OWN_TIMER: DueKind = "purge";

/** By key under the workspace, or by the attribute that every row outside of it has; never the workspace's own row. */
const IS_OF_THE_WORKSPACE =
  "begins_with(#pk, :own) OR begins_with(#pk, :limits) OR (#pk = :workspace AND #sk <> :workspace)" +
  " OR (#tenant = :tenant AND NOT begins_with(#pk, :tenants) AND (attribute_not_exists(#kind) OR #kind <> :timer))";

const valuesFor = (tenant: TenantId) => ({
  ":tenant": tenant,
  ":own": `T#${tenant}#`,
  ":tenants": "T#",
  ":workspace": platformKeys.tenant(tenant).pk,
  ":limits": `LIMIT#minute#${tenant}#`,
  ":timer": OWN_TIMER,
});

export const workspaceRows: Capability<"workspaceRows", WorkspaceRows> = {
  as: "workspaceRows",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:Scan", "dynamodb:BatchWriteItem"], on: "table" }],
  open: (deps) => {
    const client = deps.aws(DynamoDBClient);
    const TableName = setting(deps, "TABLE_NAME");
    const bind = openRows(deps);
    return (tenant) => {
      const table = bind((pk) => pk.startsWith(`T#${tenant}#`) || !pk.startsWith("T#"));
      return {
        find: async (after) => {
          const { Items = [], LastEvaluatedKey } = await client.send(
            new ScanCommand({
              TableName,
              ProjectionExpression: "#pk, #sk",
              FilterExpression: IS_OF_THE_WORKSPACE,
              ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk", "#tenant": "tenant", "#kind": "kind" },
              ExpressionAttributeValues: marshall(valuesFor(tenant)),
              ExclusiveStartKey: after && marshall({ pk: after.pk, sk: after.sk }),
            }),
          );
          const found = Items.map((item) => unmarshall(item) as Key);
          return LastEvaluatedKey ? { found, next: unmarshall(LastEvaluatedKey) as Key } : { found };
        },
        remove: async (found) => {
          for (const some of chunksOf(found, ROWS_AT_ONCE))
            await table.writeAll(some.map(({ pk, sk }) => ({ remove: { pk, sk } })));
        },
      };
    };
  },
};
