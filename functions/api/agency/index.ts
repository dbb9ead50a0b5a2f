// An agency's workspaces for its clients. The token that lets it in is signed where all are: in functions/api/auth.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { openCursor, sealCursor } from "../../../shared/http/paging.ts";
import { OwnName, Timestamp, Uuid } from "../../../shared/http/schemas.ts";
import { planNames } from "../../../shared/plans.ts";
import { platformWrite, secrets } from "../../../shared/resources.ts";
import { anyStore, defaultPlan } from "../../../shared/signing.ts";
import { createClient, listClients } from "../../../shared/store/workspaces/agencies.ts";

const MAX_PER_PAGE = 100;

const Client = v.object({
  id: v.string(),
  name: v.string(),
  plan: v.picklist(planNames),
  status: v.picklist(["active", "suspended", "deleted"]),
  created_at: Timestamp,
});

const endpoint = endpoints({ credentials: ["dashboard"], feature: "agency", uses: [platformWrite] });

export const agency = group("agency", "The workspaces of an agency's clients.", [
  endpoint(
    "POST /api/v1/agency/workspaces",
    { permission: "team:manage", uses: [anyStore, defaultPlan] },
    {
      summary: "Create a client's workspace, on the plan that new workspaces begin with",
      body: v.strictObject({ name: OwnName }),
      returns: Client,
      status: 201,
      errors: ["FORBIDDEN", "QUOTA_EXCEEDED"],
    },
    ({ platform, storeOf, tenant, defaultPlan: plan, body }) =>
      createClient(platform, storeOf, tenant, { ...body, plan }),
  ),

  endpoint(
    "GET /api/v1/agency/workspaces",
    { uses: [secrets] },
    {
      summary: "List the clients' workspaces, newest first",
      query: v.object({ cursor: v.optional(v.string()) }),
      returns: v.object({ items: v.array(Client), next_cursor: v.string() }),
    },
    async ({ platform, secrets, tenant, query: { cursor } }) => {
      const [root, scope] = [await secrets.root(), `clients:${tenant}`];
      const after = cursor === undefined ? undefined : v.parse(Uuid, openCursor(root, scope, cursor));
      const { clients, next } = await listClients(platform, tenant, { after, limit: MAX_PER_PAGE });
      return { items: clients, next_cursor: next === undefined ? "" : sealCursor(root, scope, next) };
    },
  ),
]);
