// What the examples of accounts need: the user of the example of a registration, and sessions of the owner.
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { mailedToken } from "./accounts.ts";
import { factorSettings } from "./example-factors.ts";
import { providerSettings } from "./example-providers.ts";
import type { Call, Setting, Settings } from "./example-settings.ts";
import { createMcp } from "./mcp.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** The user of the example of a registration, and sessions of the owner. */
export function accountSettings(world: TestWorld, tenant: Tenant, call: Call): Settings {
  const OWN = { "sec-fetch-site": "same-origin" };
  const email = "ada@example.com";
  const refreshToken = async () => {
    const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
    return (await beginSession(platform, { user: tenant.owner, tenant: tenant.id }))!.token;
  };
  const refresh = async (): Promise<Setting> => ({ body: { refresh_token: await refreshToken() }, headers: OWN });
  const cookie = async (): Promise<Setting> => {
    const kept = await world.call("POST /api/v1/auth/browser/keep", {
      body: { refresh_token: await refreshToken() },
      headers: OWN,
    });
    const [set = ""] = String(kept.headers["set-cookie"]).split(";");
    return { body: { tenant_id: tenant.id }, headers: { ...OWN, cookie: set } };
  };
  const member = async (): Promise<Setting> => {
    await tenant.dashboard("marketer");
    return { params: { userId: `marketer-${tenant.id}` } };
  };
  return {
    "POST /api/v1/auth/refresh": refresh,
    "POST /api/v1/auth/logout": refresh,
    "POST /api/v1/auth/browser/keep": refresh,
    "POST /api/v1/auth/browser/refresh": cookie,
    "POST /api/v1/auth/browser/logout": cookie,
    "POST /api/v1/auth/invitations/accept": async () => {
      const invited = { email: "grace@example.com", role: "marketer" };
      await call("POST /api/v1/team/invitations", invited);
      return { body: { token: await mailedToken(world, invited.email, "You are invited") } };
    },
    "POST /api/v1/auth/password/reset": async () => ({ body: { token: await mailedToken(world, email, "Reset") } }),
    ...factorSettings(world, call),
    ...providerSettings(world, call),
    "POST /api/v1/auth/password/change": async () => {
      const session = await call("POST /api/v1/auth/login", { email, password: "correct horse battery staple" }, {});
      return { as: { authorization: `Bearer ${session.access_token}` } };
    },
    "POST /api/v1/auth/email/confirm": async () => {
      const account = {
        email: "late@example.com",
        password: "correct horse battery staple",
        name: "Ada",
        workspace_name: "Late",
      };
      await call("POST /api/v1/auth/register", account, {});
      return { body: { token: await mailedToken(world, account.email, "Confirm") } };
    },
    "PATCH /api/v1/team/members/:userId": member,
    "DELETE /api/v1/team/members/:userId": member,
    "POST /api/v1/team/invitations": () => ({ body: { email: "mary@example.com" } }),
    "POST /v1/mcp": async () => ({ as: { authorization: `Bearer ${await createMcp(world, tenant).key("read")}` } }),
  };
}
