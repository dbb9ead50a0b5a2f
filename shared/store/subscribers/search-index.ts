// The right to write the entries by which subscribers are found, in any workspace.
import { perEnvironment } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { openWorkspaceTable } from "../table.ts";
import type { ProfileRow } from "./items.ts";
import { updateEntries } from "./search.ts";

interface SearchIndex {
  /** @param profiles those that changed, as they were and as they became */
  update(tenant: string, profiles: readonly ProfileRow[]): Promise<void>;
}

export const searchIndex = /* @__PURE__ */ perEnvironment(
  "searchIndex",
  {
    env: ["TABLE_NAME"],
    grants: [
      {
        actions: ["dynamodb:BatchGetItem", "dynamodb:BatchWriteItem", "dynamodb:PutItem", "dynamodb:DeleteItem"],
        on: "table",
      },
    ],
  },
  (deps): SearchIndex => {
    const bind = openWorkspaceTable(deps);
    return { update: (tenant, profiles) => updateEntries(bind(tenant as TenantId), profiles) };
  },
);
