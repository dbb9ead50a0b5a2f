// One real resource per kind of route, to test that another workspace cannot detect it.
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { createImport } from "../../shared/store/subscribers/imports.ts";
import { createAgentKey, createServerKey } from "../../shared/store/workspaces/keys.ts";
import { beginSession } from "../../shared/store/workspaces/refresh.ts";
import { formOf, pictures } from "./pictures.ts";
import type { Tenant, TestWorld } from "./world.ts";

type Make = (world: TestWorld, tenant: Tenant) => Promise<string>;

const subscriber: Make = async (_, tenant) => await tenant.upsert({ external_id: "foreign" });

const device: Make = async (world, tenant) => {
  const body = { external_id: "foreign", platform: "ios", token: "foreign-token" };
  return (await world.call("POST /api/v1/devices", { as: tenant.sdk, body })).body.id;
};

const notification: Make = async (_, tenant) => {
  const body = { target: { type: "all" }, title: "t", body: "b", scheduled_at: "2027-01-01T00:00:00Z" };
  return (await tenant.call("POST /api/v1/notifications", body)).body.id;
};

const message: Make = async (world, tenant) => {
  const id = await subscriber(world, tenant);
  const body = { subscriberIds: [id], title: "t", body: "b" };
  await tenant.call("POST /api/v1/notifications", body);
  await world.settle();
  const { messages } = (await world.call(`GET /v1/in-app/messages?subscriber_id=${id}`, { as: tenant.sdk })).body;
  return messages[0].id;
};

const template: Make = async (world, tenant) => {
  const body = { name: `foreign ${world.ids.uuid()}`, content: { title: "t", body: "b" } };
  return (await tenant.call("POST /api/v1/templates", body)).body.id;
};

const list: Make = async (world, tenant) => {
  const body = { name: `foreign ${world.ids.uuid()}` };
  return (await tenant.call("POST /api/v1/lists", body)).body.id;
};

const topic: Make = async (world, tenant) => {
  const body = { key: `foreign-${world.ids.uuid()}`, name: "foreign" };
  return (await tenant.call("POST /api/v1/topics", body)).body.key;
};

const segment: Make = async (world, tenant) => {
  const body = { name: `foreign ${world.ids.uuid()}`, rule: { attribute: { plan: { $eq: "pro" } } } };
  return (await tenant.call("POST /api/v1/segments", body)).body.id;
};

const channel: Make = async (_, tenant) => (await tenant.call("GET /api/v1/channels")).body.channels[0].id;

const invitation: Make = async (_, tenant) => {
  const body = { email: "foreign@team.example", role: "viewer" };
  const { items } = (await tenant.call("GET /api/v1/team/invitations")).body;
  if (items.length > 0) return items[0].id;
  return (await tenant.call("POST /api/v1/team/invitations", body)).body.id;
};

const identityKey: Make = async (_, tenant) => {
  const { items } = (await tenant.call("GET /api/v1/identity-keys")).body;
  return items[0]?.id ?? (await tenant.call("POST /api/v1/identity-keys")).body.id;
};

const session: Make = async (world, tenant) => {
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  return (await beginSession(platform, { user: tenant.owner, tenant: tenant.id }))!.id;
};

const serverKey: Make = async (world, tenant) => {
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  return (await createServerKey(tenant.store, platform, { name: "foreign" })).id;
};

const agentKey: Make = async (world, tenant) => {
  const platform = platformWrite.open(world.depsFor("test"))("" as TenantId);
  return (await createAgentKey(tenant.store, platform, { name: "foreign", scopes: ["read"], days: 1 })).id;
};

const schedule: Make = async (world, tenant) => {
  const body = {
    cron_expression: "0 9 * * *",
    timezone: "UTC",
    template_id: await template(world, tenant),
    channel_ids: [await channel(world, tenant)],
    target: { type: "all" },
  };
  return (await tenant.call("POST /api/v1/schedules", body)).body.id;
};

const campaign: Make = async (world, tenant) => {
  const body = { name: "foreign", content: { title: "t", body: "b" }, channel_ids: [await channel(world, tenant)] };
  return (await tenant.call("POST /api/v1/campaigns", body)).body.id;
};

const journey: Make = async (_, tenant) => {
  const steps = { start: "end", steps: { end: { id: "end", type: "exit" } } };
  const body = { name: "foreign", trigger: { type: "event", event_name: "signed_up" }, steps };
  return (await tenant.call("POST /api/v1/journeys", body)).body.id;
};

const exportJob: Make = async (_, tenant) => {
  const body = { kind: "subscribers" };
  return (await tenant.call("POST /api/v1/exports", body)).body.id;
};

const importJob: Make = async (world, tenant) => {
  const id = world.ids.uuidAt(world.clock.now());
  const timers = { set: async () => undefined };
  await createImport(tenant.store, timers, { id, list: id, source: "csv", bytes: 0, dry_run: false });
  return id;
};

const annotation: Make = async (_, tenant) => {
  const body = { occurred_at: "2026-11-01T00:00:00Z", text: "foreign" };
  return (await tenant.call("POST /api/v1/annotations", body)).body.id;
};

const webhook: Make = async (world, tenant) => {
  const body = { target_url: "https://example.com/hooks", events: ["subscriber.created"] };
  const { status, body: made } = await world.call("POST /v1/hooks", { as: tenant.server, body });
  if (status === 201) return made.id;
  // There are as many as a workspace may have.
  return (await tenant.call("GET /api/v1/webhooks")).body.items[0].id;
};

const client: Make = async (world, tenant) => {
  await world.host.invoke("operator", { tenant_id: tenant.id, kind: "agency" });
  const body = { name: "foreign" };
  return (await tenant.call("POST /api/v1/agency/workspaces", body)).body.id;
};

const owner: Make = async (_, tenant) => tenant.owner;

const asset: Make = async (world, tenant) => {
  const { body, headers } = formOf({ file: pictures.png });
  return (await world.call("POST /api/v1/in-app/assets", { as: await tenant.dashboard(), raw: body, headers })).body.id;
};

const experience: Make = async (_, tenant) => {
  const body = { name: "foreign", format: "banner", content: { title: "t" } };
  return (await tenant.call("POST /api/v1/in-app/experiences", body)).body.id;
};

const suppression: Make = async (_, tenant) => {
  const body = { address: "gone@example.com" };
  return (await tenant.call("POST /api/v1/suppressions", body)).body.id;
};

const makers: [prefix: string, make: Make][] = [
  ["/api/v1/subscribers/", subscriber],
  ["/api/v1/devices/", device],
  ["/api/v1/notifications/", notification],
  ["/v1/in-app/messages/", message],
  ["/v1/subscribers/", subscriber],
  ["/v1/notifications/", notification],
  ["/api/v1/templates/", template],
  ["/api/v1/erasures/", subscriber],
  ["/api/v1/suppressions/", suppression],
  ["/api/v1/annotations/", annotation],
  ["/api/v1/schedules/", schedule],
  ["/api/v1/campaigns/", campaign],
  ["/api/v1/journeys/", journey],
  ["/api/v1/in-app/experiences/", experience],
  ["/api/v1/in-app/assets/", asset],
  ["/api/v1/channels/", channel],
  ["/v1/inbound/chat-app/", channel],
  ["/api/v1/lists/import/", importJob],
  ["/api/v1/exports/", exportJob],
  ["/api/v1/lists/", list],
  ["/api/v1/segments/", segment],
  ["/api/v1/topics/", topic],
  ["/api/v1/server-keys/", serverKey],
  ["/api/v1/agent-keys/", agentKey],
  // An event type is everybody's: there is none that another workspace could have.
  ["/v1/segment/", async (world) => world.ids.uuid()],
  ["/v1/projects/", async (world) => world.ids.uuid()],
  ["/v1/hooks/samples/", async (world) => world.ids.uuid()],
  // A link of a mail is its own credential; an id is not.
  ["/u/", subscriber],
  ["/p/", subscriber],
  ["/i/", subscriber],
  ["/o/", subscriber],
  ["/r/", importJob],
  ["/c/", subscriber],
  ["/v1/hooks/", webhook],
  ["/api/v1/webhooks/", webhook],
  ["/api/v1/identity-keys/", identityKey],
  ["/api/v1/team/members/", owner],
  ["/api/v1/team/invitations/", invitation],
  ["/api/v1/auth/sessions/", session],
  ["/api/v1/agency/workspaces/", client],
];

/** The id of a thing of `tenant` that the route could name. */
export function foreignIds(world: TestWorld, tenant: Tenant, route: string): Promise<string> {
  const path = route.split(" ")[1] ?? "";
  const known = makers.find(([prefix]) => path.startsWith(prefix));
  if (!known) throw new Error(`Say in test/support/foreign.ts how to make what ${route} names.`);
  return known[1](world, tenant);
}
