// What an agency does for its clients: keeps their workspaces, and goes in.
import * as v from "valibot";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError, notFound } from "../../../shared/http/errors.ts";
import { openCursor, sealCursor } from "../../../shared/http/paging.ts";
import { Timestamp, Uuid } from "../../../shared/http/schemas.ts";
import { ACCESS_TOKEN_SECONDS } from "../../../shared/http/tokens.ts";
import { planNames } from "../../../shared/plans.ts";
import { platformWrite, secrets } from "../../../shared/resources.ts";
import { anyStore, defaultPlan, tokenSigner } from "../../../shared/signing.ts";
import { clientStatus, createClient, listClients } from "../../../shared/store/workspaces/agencies.ts";

const MOST_PER_PAGE = 100;

const Name = v.pipe(
  v.string("must be a string"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.maxLength(200, "must have at most 200 characters"),
);

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
      body: v.strictObject({ name: Name }),
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
      const { clients, next } = await listClients(platform, tenant, { after, limit: MOST_PER_PAGE });
      return { items: clients, next_cursor: next === undefined ? "" : sealCursor(root, scope, next) };
    },
  ),

  endpoint(
    "POST /api/v1/agency/workspaces/:id/session",
    // It changes nothing: whoever may only read gets a token that may only read.
    { effect: "read", uses: [tokenSigner] },
    {
      summary: "Get an access token for a client's workspace, in the role one has in the agency",
      returns: v.object({ access_token: v.string(), token_type: v.literal("Bearer"), expires_in: v.number() }),
      status: 201,
      errors: ["NOT_FOUND", "TENANT_DELETED"],
    },
    async ({ platform, signer, caller, tenant, params }) => {
      const isAgency = caller.kind === "dashboard" && !caller.agency && workspaceOf(caller).kind === "agency";
      const status = isAgency ? await clientStatus(platform, tenant, params.id) : undefined;
      if (!isAgency || status === undefined) throw notFound("workspace");
      if (status === "deleted") throw new ApiError("TENANT_DELETED", "This workspace is closed.");
      const { user, role, narrowed } = caller;
      const subject = { user, tenant: params.id, role, readOnly: narrowed, agency: tenant };
      return {
        access_token: await signer.accessToken(subject),
        token_type: "Bearer" as const,
        expires_in: ACCESS_TOKEN_SECONDS,
      };
    },
  ),
]);
