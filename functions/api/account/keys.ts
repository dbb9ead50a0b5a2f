// Keys of backends: for their calls, and to sign the ids of users (ACC-8).
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { scopes } from "../../../shared/contract/roles.ts";
import { NameUpTo, OneOf, said, Timestamp, Uuid } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { requireOwnScopes } from "../../../shared/http/gates.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, platformWrite, storeRead, storeWrite } from "../../../shared/store/context.ts";
import {
  createIdentityKey,
  deleteIdentityKey,
  IdentityKey,
  listIdentityKeys,
} from "../../../shared/store/workspaces/identity-keys.ts";
import { createServerKey, listServerKeys, revokeKey, ServerKey } from "../../../shared/store/workspaces/keys.ts";

const endpoint = endpoints({ credentials: ["dashboard"], inRealTime: true, uses: [] });

export const identityKeys = [
  endpoint(
    "POST /api/v1/identity-keys",
    { permission: "credentials:manage", uses: [platformWrite, secrets] },
    {
      summary: "Create a key that signs the ids of users: only this response contains the key itself",
      description:
        "Your backend computes `X-User-Hash`: HMAC-SHA256 of the user's id under the key, in lower-case hex. Two keys are " +
        "valid at once. To rotate, create the second, let your backend use it, then delete the first. With " +
        "`identity_required` of the workspace, calls with the publishable key that name a user are refused without it.",
      returns: v.object({
        ...IdentityKey.entries,
        key: said("What your backend keeps; the text itself is the key of the HMAC", v.string()),
      }),
      status: 201,
      errors: ["CONFLICT"],
    },
    async ({ platform, secrets, tenant }) => createIdentityKey(platform, await secrets.root(), tenant),
  ),

  endpoint(
    "GET /api/v1/identity-keys",
    { uses: [platformRead] },
    {
      summary: "List the keys that sign ids of users, oldest first",
      returns: v.object({ items: v.array(IdentityKey) }),
    },
    async ({ platform, tenant }) => ({ items: await listIdentityKeys(platform, tenant) }),
  ),

  endpoint(
    "DELETE /api/v1/identity-keys/:id",
    { permission: "credentials:manage", uses: [platformWrite] },
    { summary: "Delete a key: what it signed is refused at once", errors: ["CONFLICT"] },
    ({ platform, tenant, params }) => deleteIdentityKey(platform, tenant, params.id),
  ),
];

export const Scopes = v.array(OneOf(scopes));

export const serverKeys = [
  endpoint(
    "POST /api/v1/server-keys",
    { permission: "credentials:manage", uses: [storeWrite, platformWrite] },
    {
      summary: "Create a server key: only this response contains the key itself",
      description:
        "A member gives only what the member's own role holds: `messages:send` needs the permission `send`, which a " +
        "developer lacks.",
      body: v.strictObject({
        name: NameUpTo(128),
        scopes: v.optional(v.pipe(Scopes, v.minLength(1, "must name at least one scope"))),
      }),
      example: { body: { name: "Order service", scopes: ["messages:send", "subscribers:write"] } },
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
    ({ store, platform, caller, body }) => {
      requireOwnScopes(caller, body.scopes ?? []);
      return createServerKey(store, platform, body);
    },
  ),

  endpoint(
    "GET /api/v1/server-keys",
    { uses: [storeRead, platformRead, secrets] },
    { summary: "List server keys, newest first", query: v.object({ cursor }), returns: cursorPage(ServerKey) },
    async ({ store, platform, secrets, tenant, query: { cursor: at } }) => {
      const cursors = cursorsOf(await secrets.root(), `server-keys:${tenant}`, Uuid);
      const { items, next } = await listServerKeys(store, platform, { after: cursors.open(at), limit: MAX_PER_PAGE });
      return { items, next_cursor: cursors.seal(next) };
    },
  ),

  endpoint(
    "DELETE /api/v1/server-keys/:id",
    { permission: "credentials:manage", uses: [storeRead, platformWrite] },
    { summary: "Revoke a server key at once" },
    ({ store, platform, params }) => revokeKey(store, platform, "server", params.id),
  ),
];
