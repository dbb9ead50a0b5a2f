// The rows of a workspace anywhere in the table, found by a scan, because no other row refers to some of them
// (docs/decisions/0017).
import { ScanCommand } from "@aws-sdk/lib-dynamodb";
import type { DueKind } from "../../contract/due-kinds.ts";
import { type Capability, setting } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { prefixOf } from "../item.ts";
import type { Key } from "../model.ts";
import { openRows } from "../rows.ts";
import { TableClient } from "../table-client.ts";
import { requestCountPrefix } from "./identity-items.ts";
import { WorkspaceItem } from "./items.ts";

export interface WorkspaceRows {
  /** The keys of the workspace's rows in one page of the table, and where the next page begins. */
  find(after?: Key): Promise<{ found: Key[]; next?: Key }>;
  remove(found: readonly Key[]): Promise<void>;
}

/** Rows removed at a time: a page of the table may hold thousands of small rows. */
const MAX_ROWS_PER_WRITE = 250;

/** The timer of the purge itself is not removed. */
const OWN_TIMER: DueKind = "purge";

/**
 * Rows whose key begins with the workspace's id, and rows with the attribute `tenant`; never the workspace's own row. An
 * item of the platform says in its declaration how it is found (`purge`).
 */
const IS_OF_THE_WORKSPACE =
  "begins_with(#pk, :own) OR begins_with(#pk, :limits) OR (#pk = :workspace AND #sk <> :workspace)" +
  " OR (#tenant = :tenant AND NOT begins_with(#pk, :tenants) AND (attribute_not_exists(#kind) OR #kind <> :timer))";

const valuesFor = (tenant: TenantId) => ({
  ":tenant": tenant,
  ":own": prefixOf(tenant),
  ":tenants": "T#",
  ":workspace": WorkspaceItem.pk({ tenant }),
  ":limits": requestCountPrefix(tenant),
  ":timer": OWN_TIMER,
});

export const workspaceRows: Capability<"workspaceRows", WorkspaceRows> = {
  as: "workspaceRows",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:Scan", "dynamodb:BatchWriteItem"], on: "table" }],
  open: (deps) => {
    const client = deps.aws(TableClient);
    const TableName = setting(deps, "TABLE_NAME");
    const bind = openRows(deps);
    return (tenant) => {
      const table = bind((pk) => pk.startsWith(prefixOf(tenant)) || !pk.startsWith("T#"));
      return {
        find: async (after) => {
          const { Items = [], LastEvaluatedKey } = await client.send(
            new ScanCommand({
              TableName,
              ProjectionExpression: "#pk, #sk",
              FilterExpression: IS_OF_THE_WORKSPACE,
              ExpressionAttributeNames: { "#pk": "pk", "#sk": "sk", "#tenant": "tenant", "#kind": "kind" },
              ExpressionAttributeValues: valuesFor(tenant),
              ExclusiveStartKey: after,
            }),
          );
          // The scan projects keys only.
          const found = Items as Key[];
          return LastEvaluatedKey ? { found, next: LastEvaluatedKey as Key } : { found };
        },
        remove: async (found) => {
          for (const batch of chunksOf(found, MAX_ROWS_PER_WRITE))
            await table.writeAll(batch.map((key) => ({ kind: "remove", key })));
        },
      };
    };
  },
};
