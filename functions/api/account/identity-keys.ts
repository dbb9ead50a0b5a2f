// The keys by which a workspace's backend signs the ids of its users (ACC-8).
import * as v from "valibot";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import {
  createIdentityKey,
  deleteIdentityKey,
  IdentityKey,
  listIdentityKeys,
} from "../../../shared/store/workspaces/identity-keys.ts";

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
        key: v.pipe(v.string(), v.description("What your backend keeps; the text itself is the key of the HMAC")),
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
    { summary: "Delete a key: what it signed is refused at once", errors: ["NOT_FOUND", "CONFLICT"] },
    ({ platform, tenant, params }) => deleteIdentityKey(platform, tenant, params.id),
  ),
];
