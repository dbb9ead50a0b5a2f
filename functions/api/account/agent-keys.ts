// Keys for agents: a member gives one to a program that calls the tools of `/v1/mcp`.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { agentScopes } from "../../../shared/contract/roles.ts";
import { said, TrimmedTextUpTo, Uuid, WholeNumber } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { requireOwnScopes } from "../../../shared/http/gates.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, platformWrite, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { agentKeyFields } from "../../../shared/store/workspaces/identity-items.ts";
import { AgentKey, createAgentKey, listAgentKeys, revokeKey } from "../../../shared/store/workspaces/keys.ts";

const DEFAULT_DAYS = 90;
const MAX_DAYS = 365;
const NAMED = "must be one of read, read:pii, write:drafts, write:send";

const NewAgentKey = v.strictObject({
  name: said("What the key is for, as the list shows it", TrimmedTextUpTo(128)),
  scopes: said(
    "`read`: counts, reports and definitions without personal data. `read:pii`: with it. `write:drafts`: makes " +
      "drafts. `write:send`: plans sends and confirms them. Each of the others holds `read` as well",
    v.optional(
      v.pipe(
        v.array(v.picklist(agentScopes, NAMED)),
        v.minLength(1, "must name at least one scope"),
        v.maxLength(agentScopes.length),
      ),
      ["read"],
    ),
  ),
  expires_in_days: said(
    "After this many days the key opens nothing",
    v.optional(WholeNumber(1, MAX_DAYS), DEFAULT_DAYS),
  ),
});

const endpoint = endpoints({ credentials: ["dashboard"], inRealTime: true, uses: [] });

export const agentKeys = [
  endpoint(
    "POST /api/v1/agent-keys",
    { permission: "credentials:manage", uses: [storeWrite, platformWrite] },
    {
      summary: "Create an agent key: only this response contains the key itself",
      description:
        "The key opens `POST /v1/mcp` and nothing else. A member gives only what the member's own role holds: " +
        "`write:drafts` needs `content:write`, `write:send` needs `send`.",
      body: NewAgentKey,
      returns: v.object({ ...agentKeyFields, key: v.string() }),
      status: 201,
      example: { body: { name: "Reports", scopes: ["read"] } },
    },
    async ({ store, platform, caller, body: { name, scopes, expires_in_days: days } }) => {
      requireOwnScopes(caller, scopes);
      return createAgentKey(store, platform, { name, scopes, days });
    },
  ),

  endpoint(
    "GET /api/v1/agent-keys",
    { uses: [storeRead, platformRead, secrets] },
    { summary: "List agent keys, newest first", query: v.object({ cursor }), returns: cursorPage(AgentKey) },
    async ({ store, platform, secrets, tenant, query: { cursor: at } }) => {
      const cursors = cursorsOf(await secrets.root(), `agent-keys:${tenant}`, Uuid);
      const { items, next } = await listAgentKeys(store, platform, { after: cursors.open(at), limit: MAX_PER_PAGE });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "DELETE /api/v1/agent-keys/:id",
    { permission: "credentials:manage", uses: [storeRead, platformWrite] },
    { summary: "Revoke an agent key at once" },
    ({ store, platform, params }) => revokeKey(store, platform, "agent", params.id),
  ),
];
