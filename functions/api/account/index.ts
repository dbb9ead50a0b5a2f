// A workspace's own keys, and who is asking.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { notFound, unauthorized } from "../../../shared/http/errors.ts";
import { roles, scopes } from "../../../shared/http/roles.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { platformWrite, secrets, storeWrite } from "../../../shared/resources.ts";
import { isTimeZone } from "../../../shared/rules/time-zones.ts";
import {
  createServerKey,
  describeServerKey,
  listServerKeys,
  membershipsOf,
  revokeServerKey,
  sdkKeyFor,
} from "../../../shared/store/workspaces/identity.ts";
import { changeWorkspace, getWorkspace } from "../../../shared/store/workspaces/workspaces.ts";

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

const LocalTime = v.pipe(
  v.string("must be a time such as 22:00"),
  v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, "must be a time such as 22:00"),
);

const QuietHours = v.pipe(
  v.strictObject({
    start: LocalTime,
    end: LocalTime,
    timezone_mode: v.picklist(["subscriber", "workspace"], "must be subscriber or workspace"),
    days: v.optional(
      v.pipe(
        v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(6)), "must be an array of days 0 to 6"),
        v.minLength(1),
      ),
      [0, 1, 2, 3, 4, 5, 6],
    ),
  }),
  v.forward(
    v.check(({ start, end }) => start !== end, "must differ from start: no hour would be left"),
    ["end"],
  ),
);

const FrequencyCap = v.strictObject({
  category: v.picklist(["marketing", "transactional"], "must be marketing or transactional"),
  channel_class: v.optional(v.picklist(["push", "web_push", "email", "in_app", "sms", "chat_app"])),
  max: v.pipe(v.number("must be a number"), v.integer("must be a whole number"), v.minValue(1, "must be at least 1")),
  per: v.picklist(["day", "week"], "must be day or week"),
});

const SettingsChange = v.strictObject({
  name: v.optional(v.pipe(v.string("must be a string"), v.trim(), v.nonEmpty("must not be empty"), v.maxLength(200))),
  timezone: v.optional(v.pipe(v.string("must be a string"), v.check(isTimeZone, "must be an IANA time zone"))),
  email_consent_mode: v.optional(v.picklist(["opt_out", "opt_in"], "must be opt_out or opt_in")),
  quiet_hours: v.optional(v.nullable(QuietHours)),
  frequency_caps: v.optional(
    v.pipe(v.array(FrequencyCap, "must be an array"), v.maxLength(20, "must have at most 20 caps")),
  ),
});

const Settings = v.object({
  name: v.string(),
  timezone: v.string(),
  email_consent_mode: v.picklist(["opt_out", "opt_in"]),
  quiet_hours: v.nullable(QuietHours),
  frequency_caps: v.array(FrequencyCap),
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
    "GET /api/v1/me",
    { openWhileSuspended: true },
    {
      summary: "Who the presented dashboard token belongs to",
      returns: v.object({
        user: v.object({ id: v.string(), email: v.string(), name: v.string() }),
        tenant: v.object({ id: v.string(), name: v.string(), plan: v.string(), status: v.string() }),
        role: v.picklist(roles),
        read_only: v.boolean(),
        workspaces: v.array(v.object({ tenant_id: v.string(), role: v.picklist(roles) })),
      }),
    },
    async ({ platform, caller }) => {
      if (caller.kind !== "dashboard") throw unauthorized();
      const { tenant, name, plan, status } = caller.workspace;
      const memberships = await membershipsOf(platform, caller.user);
      return {
        user: { id: caller.user, email: caller.email, name: caller.name },
        tenant: { id: tenant, name, plan, status },
        role: caller.role,
        read_only: caller.readOnly,
        workspaces: memberships.map(({ tenant: tenant_id, role }) => ({ tenant_id, role })),
      };
    },
  ),

  endpoint(
    "GET /api/v1/workspace",
    {},
    { summary: "Get the workspace's settings", returns: Settings },
    async ({ platform, tenant }) => {
      const workspace = await getWorkspace(platform, tenant);
      if (!workspace) throw notFound("workspace");
      return workspace;
    },
  ),

  endpoint(
    "PATCH /api/v1/workspace",
    { permission: "team:manage" },
    {
      summary: "Change the workspace's settings",
      description:
        "`quiet_hours` put marketing by push, web push, e-mail, SMS and chat app off to their end, in the subscriber's " +
        "`timezone` or the workspace's; `days` are those on which they begin, 0 is Sunday. `frequency_caps` count " +
        "messages a person by day or week of the workspace's zone; what is beyond is `skipped: capped`. Both hold for " +
        "sends that are dispatched from now on.",
      body: SettingsChange,
      returns: Settings,
    },
    async ({ platform, tenant, body }) => {
      const workspace = await changeWorkspace(platform, tenant, body);
      if (!workspace) throw notFound("workspace");
      return workspace;
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
    async ({ store, caller }) => {
      if (caller.kind !== "server") throw notFound("key");
      const { tenant, name: tenantName, plan } = caller.workspace;
      const found = await describeServerKey(store, caller.key);
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
