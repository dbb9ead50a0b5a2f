// The right to write the entries by which subscribers are found, in any workspace.
import type { Capability } from "./deps.ts";
import type { TenantId } from "./store/model.ts";
import type { ProfileRow } from "./store/subscribers/items.ts";
import { updateEntries } from "./store/subscribers/search.ts";
import { openWorkspaceTable } from "./store/table.ts";

interface SearchIndex {
  /** @param profiles those that changed, as they were and as they became */
  update(tenant: string, profiles: readonly ProfileRow[]): Promise<void>;
}

export const searchIndex: Capability<"searchIndex", SearchIndex> = {
  as: "searchIndex",
  env: ["TABLE_NAME"],
  grants: [
    {
      actions: ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:PutItem", "dynamodb:DeleteItem"],
      on: "table",
    },
  ],
  open: (deps) => {
    const bind = openWorkspaceTable(deps);
    return () => ({ update: (tenant, profiles) => updateEntries(bind(tenant as TenantId), profiles) });
  },
};
