// A workspace's own keys, and who is asking.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { notFound } from "../../../shared/http/errors.ts";
import { scopes } from "../../../shared/http/roles.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { platformWrite, secrets, storeWrite } from "../../../shared/resources.ts";
import { createServerKey, listServerKeys, revokeServerKey, sdkKeyFor } from "../../../shared/store/identity.ts";

const Scopes = v.array(v.picklist(scopes, "is not a known scope"), "must be an array");

const ServerKey = v.object({
  id: v.string(),
  name: v.string(),
  prefix: v.string(),
  scopes: Scopes,
  created_at: Timestamp,
  last_used_at: v.nullable(Timestamp),
  revoked_at: v.nullable(Timestamp),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite, platformWrite] });

export const account = group("account", "A workspace's own keys, and who is asking.", [
  endpoint(
    "GET /api/v1/sdk-key",
    { uses: [secrets] },
    { summary: "Get the workspace's publishable SDK key", returns: v.object({ sdk_key: v.string() }) },
    async ({ secrets, tenant }) => ({ sdk_key: sdkKeyFor(await secrets.root(), tenant) }),
  ),

  endpoint(
    "POST /api/v1/server-keys",
    { permission: "credentials:manage" },
    {
      summary: "Create a server key: the key is in this answer and nowhere else",
      body: v.strictObject({
        name: v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty"), v.maxLength(128)),
        scopes: v.optional(v.pipe(Scopes, v.minLength(1, "must name at least one scope"))),
      }),
      returns: v.object({
        id: v.string(),
        name: v.string(),
        prefix: v.string(),
        scopes: Scopes,
        key: v.string(),
        created_at: Timestamp,
      }),
      status: 201,
    },
    ({ store, platform, body }) => createServerKey(store, platform, body),
  ),

  endpoint(
    "GET /api/v1/server-keys",
    {},
    { summary: "List server keys, newest first", returns: v.object({ items: v.array(ServerKey) }) },
    async ({ store, platform }) => ({ items: await listServerKeys(store, platform) }),
  ),

  endpoint(
    "DELETE /api/v1/server-keys/:id",
    { permission: "credentials:manage" },
    { summary: "Revoke a server key at once", errors: ["NOT_FOUND"] },
    async ({ store, platform, params }) => {
      if (!(await revokeServerKey(store, platform, params.id))) throw notFound("server key");
    },
  ),

  endpoint(
    "GET /v1/whoami",
    { credentials: ["server"] },
    {
      summary: "Who the presented server key belongs to",
      returns: v.object({
        name: v.string(),
        tenant_id: v.string(),
        tenant_name: v.string(),
        plan: v.string(),
        key: v.object({
          id: v.string(),
          type: v.literal("server"),
          name: v.string(),
          prefix: v.string(),
          scopes: Scopes,
          created_at: Timestamp,
        }),
      }),
    },
    async ({ store, platform, caller }) => {
      if (caller.kind !== "server") throw notFound("key");
      const { tenant, name: tenantName, plan } = caller.workspace;
      const [found] = (await listServerKeys(store, platform)).filter(({ id }) => id === caller.key);
      if (!found) throw notFound("key");
      const { id, name, prefix, scopes: held, created_at } = found;
      return {
        name: `${tenantName} / ${name}`,
        tenant_id: tenant,
        tenant_name: tenantName,
        plan,
        key: { id, type: "server" as const, name, prefix, scopes: held, created_at },
      };
    },
  ),
]);
