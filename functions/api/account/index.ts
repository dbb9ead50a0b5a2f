// The keys and the settings of a workspace, and who is calling.
import * as v from "valibot";
import { roles } from "../../../shared/contract/roles.ts";
import { said, Timestamp } from "../../../shared/contract/schemas.ts";
import { ofOwnAccount } from "../../../shared/http/access.ts";
import { requireUser } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { lacksConfirmation } from "../../../shared/http/gates.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { addressConfirmation } from "../../../shared/http/serving.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { invalid, notFound, requireFound } from "../../../shared/kernel/errors.ts";
import { recomputeQueue } from "../../../shared/runtime/resources.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { platformRead, platformWrite, storeRead, storeWrite } from "../../../shared/store/context.ts";
import { edited, outdated } from "../../../shared/store/edits.ts";
import { getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import { membershipsOf, User } from "../../../shared/store/workspaces/identity.ts";
import { requireIdentityKey } from "../../../shared/store/workspaces/identity-keys.ts";
import { WorkspaceItem, workspaceFields } from "../../../shared/store/workspaces/items.ts";
import { describeServerKey } from "../../../shared/store/workspaces/keys.ts";
import { sdkKeyFor } from "../../../shared/store/workspaces/sdk-keys.ts";
import { SettingsChange, WorkspaceSettings } from "../../../shared/store/workspaces/settings.ts";
import { changeWorkspace, getWorkspace } from "../../../shared/store/workspaces/workspaces.ts";
import { agentKeys } from "./agent-keys.ts";
import { identityKeys, Scopes, serverKeys } from "./keys.ts";

/** Calls that change the zone of a workspace have ended after this time. */
const ZONE_AGAIN_SECONDS = 60;

const endpoint = endpoints({ credentials: ["dashboard"], inRealTime: true, uses: [] });

export const account = group("account", "Keys and settings of a workspace, and the caller.", [
  endpoint(
    "GET /api/v1/sdk-key",
    { uses: [secrets] },
    { summary: "Get the workspace's publishable SDK key", returns: v.object({ sdk_key: v.string() }) },
    async ({ secrets, tenant }) => ({ sdk_key: sdkKeyFor(await secrets.root(), tenant) }),
  ),

  ...serverKeys,

  ...agentKeys,

  endpoint(
    "GET /api/v1/me",
    { ...ofOwnAccount, uses: [platformRead, addressConfirmation] },
    {
      summary: "Who the presented dashboard token belongs to",
      description:
        "`workspaces` are those of the user that are not deleted, oldest membership first. `now` is the time of the service.",
      returns: v.object({
        user: User,
        tenant: v.object({
          id: v.string(),
          name: v.string(),
          plan: v.string(),
          status: v.string(),
          kind: workspaceFields.kind,
          currency: said("What its revenue is in; `null`: not said", v.nullable(v.string())),
          approval_required: said("Releases wait for a second person", v.boolean()),
        }),
        role: v.picklist(roles),
        read_only: v.boolean(),
        second_factor_missing: said(
          "The workspace demands a second factor, and this session has none: it reaches the account alone",
          v.boolean(),
        ),
        sign_in_missing: said(
          "The workspace demands its identity provider, and this session did not begin there: it reaches the account alone",
          v.boolean(),
        ),
        confirmation_missing: said(
          "The service demands a confirmed email address, and the caller's is not: the caller sends, invites and connects nothing",
          v.boolean(),
        ),
        workspaces: v.array(v.object({ tenant_id: v.string(), name: v.string(), role: v.picklist(roles) })),
        now: Timestamp,
      }),
    },
    async ({ platform, caller, clock, demandsConfirmation }) => {
      const me = requireUser(caller);
      const { tenant, name, plan, status, kind, currency, isApprovalRequired: approval_required } = me.workspace;
      const memberships = await membershipsOf(platform, me.user);
      const rows = await platform.getAll(WorkspaceItem, memberships);
      return {
        user: { id: me.user, email: me.email, name: me.name },
        tenant: { id: tenant, name, plan, status, kind, currency, approval_required },
        role: me.role,
        read_only: me.readOnly,
        second_factor_missing: me.secondFactor.isDemanded && !me.secondFactor.isProven,
        sign_in_missing: me.provider.isDemanded && !me.provider.isProven,
        confirmation_missing: await lacksConfirmation(me, platform, demandsConfirmation),
        workspaces: memberships.flatMap(({ tenant: tenant_id, role }, i) => {
          const { name = "", status = "deleted" } = rows[i] ?? {};
          return status === "deleted" ? [] : [{ tenant_id, name, role }];
        }),
        now: timestamp(clock.now()),
      };
    },
  ),

  endpoint(
    "GET /api/v1/workspace",
    { uses: [platformRead] },
    {
      summary: "Get the workspace's settings",
      description: "The header `ETag` is their version.",
      returns: WorkspaceSettings,
    },
    async ({ platform, tenant }) => {
      const workspace = requireFound(await getWorkspace(platform, tenant), "workspace");
      return tagged(workspace);
    },
  ),

  endpoint(
    "PATCH /api/v1/workspace",
    { permission: "team:manage", uses: [platformWrite, storeWrite, recomputeQueue] },
    {
      summary: "Change the workspace's settings",
      description:
        "`quiet_hours` defer marketing by push, web push, email, SMS and chat app to their end, in the subscriber's " +
        "`timezone` or the workspace's; `days` are those on which they begin, 0 is Sunday. `frequency_caps` count " +
        "messages to a subscriber by day or week of the workspace's zone; messages beyond a cap are `skipped: capped`. " +
        "Both apply to sends that are dispatched from now on. " +
        "A bare date in a rule or filter is a day of `timezone`; dynamic segments follow a new one. `test_subscriber_ids` are the subscribers that test sends go to. " +
        IF_MATCH,
      body: SettingsChange,
      example: {
        body: {
          timezone: "Europe/Berlin",
          quiet_hours: { start: "22:00", end: "08:00", timezone_mode: "subscriber", days: [0, 1, 2, 3, 4, 5, 6] },
        },
      },
      returns: WorkspaceSettings,
      errors: ["PRECONDITION_FAILED"],
    },
    async ({ platform, store, tenant, recomputeQueue: queue, caller, body, headers }) => {
      const read = async () => requireFound(await getWorkspace(platform, tenant), "workspace");
      // A test subscriber who was erased in the meantime may stay in the list.
      const known = body.test_subscriber_ids ? (await read()).test_subscriber_ids : [];
      const testers = await getProfiles(store, body.test_subscriber_ids?.filter((id) => !known.includes(id)) ?? []);
      if (testers.some((profile) => !profile))
        throw invalid({ test_subscriber_ids: "names a subscriber that is not in this workspace" });
      if (body.identity_required) await requireIdentityKey(platform, tenant);
      if (body.second_factor_required && !(caller.kind === "dashboard" && caller.secondFactor.isProven))
        throw invalid({ second_factor_required: "needs your own second factor first, so that you stay in" });
      const { timezone } = body;
      // A repeated request would be refused under the version that this call read, so the segments follow even if this
      // call fails.
      if (timezone !== undefined && timezone !== (await read()).timezone)
        await queue.send([{ kind: "zone", tenant }], { delaySeconds: ZONE_AGAIN_SECONDS });
      const answer = await editAsSeen(headers, WorkspaceSettings, {
        read,
        edit: async (seen) => {
          const changed = await changeWorkspace(platform, tenant, body, seen?.version);
          if (changed.kind === "changed") return edited(changed.workspace);
          if (body.identity_required) await requireIdentityKey(platform, tenant);
          if (seen) return outdated;
          throw notFound("workspace");
        },
      });
      if (timezone !== undefined) await queue.send([{ kind: "zone", tenant }]);
      return answer;
    },
  ),

  ...identityKeys,

  endpoint(
    "GET /v1/whoami",
    { credentials: ["server"], uses: [storeRead] },
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
    async ({ store, caller }) => {
      if (caller.kind !== "server") throw notFound("key");
      const { tenant, name: tenantName, plan } = caller.workspace;
      const found = await describeServerKey(store, caller.key);
      const { id, name, prefix, scopes: held, created_at } = requireFound(found, "key");
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
