// An agency's workspaces for its clients. Tokens for them are signed in functions/api/auth, as all tokens are.
import * as v from "valibot";
import { cursor, cursorPage, cursorsOf, MAX_PER_PAGE } from "../../../shared/contract/paging.ts";
import { OwnName, Uuid } from "../../../shared/contract/schemas.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { requireAgencyPlan } from "../../../shared/http/gates.ts";
import { NewKind } from "../../../shared/http/registration.ts";
import { anyStore, defaultPlan } from "../../../shared/http/signing.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, platformWrite } from "../../../shared/store/context.ts";
import { Client, createClient, listClients } from "../../../shared/store/workspaces/agencies.ts";

const endpoint = endpoints({ credentials: ["dashboard"], inRealTime: true, uses: [] });

export const agency = group("agency", "The workspaces of an agency's clients.", [
  endpoint(
    "POST /api/v1/agency/workspaces",
    { permission: "team:manage", feature: "agency", uses: [platformWrite, anyStore, defaultPlan] },
    {
      summary: "Create a client's workspace, on the plan that new workspaces begin with",
      body: v.strictObject({ name: OwnName, kind: NewKind }),
      example: { body: { name: "Harbour Bakery" } },
      returns: Client,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ platform, storeOf, tenant, defaultPlan: plan, body }) =>
      createClient(platform, storeOf, tenant, { ...body, plan }),
  ),

  endpoint(
    "GET /api/v1/agency/workspaces",
    { uses: [platformRead, secrets] },
    {
      summary: "List the clients' workspaces, newest first",
      description: "An agency whose plan became smaller keeps the clients that it has, and makes no more.",
      query: v.object({ cursor }),
      returns: cursorPage(Client),
      errors: ["FEATURE_NOT_AVAILABLE"],
    },
    async ({ platform, secrets, tenant, caller, query: { cursor } }) => {
      requireAgencyPlan(workspaceOf(caller));
      const cursors = cursorsOf(await secrets.root(), `clients:${tenant}`, Uuid);
      const { clients, next } = await listClients(platform, tenant, {
        after: cursors.open(cursor),
        limit: MAX_PER_PAGE,
      });
      return { items: clients, next_cursor: cursors.seal(next) };
    },
  ),
]);
