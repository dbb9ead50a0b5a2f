// A workspace with nearly every kind of resource, created through the endpoints, to test what a purge leaves.
import { groups } from "../../functions/index.ts";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { withMailedToken } from "./accounts.ts";
import { channelCalls, kinds, type UploadPath } from "./channels.ts";
import { identify, ingest } from "./events.ts";
import { foreignIds } from "./foreign.ts";
import { graphOf } from "./journeys.ts";
import { multipartBody } from "./multipart.ts";
import { send } from "./people.ts";
import type { Answer, Tenant, TestWorld } from "./world.ts";

const PASSWORD = "correct horse battery";
const GENERATED = "chat-app-templates";

/** Fills a workspace, and lets all of it settle. */
export async function fillWorkspace(world: TestWorld, tenant: Tenant): Promise<void> {
  const call = async (route: string, body?: object): Promise<Answer> => {
    const answer = await world.call(route, { as: await tenant.dashboard(), ...(body && { body }) });
    if (answer.status >= 300) throw new Error(`${route}: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  await everythingWithAnId(world, tenant);
  await world.settle();
  await credentials(world, tenant);
  await people(world, tenant, call);
  await doings(world, tenant, call);
  await world.settle();
}

/** One of each thing that a route names by an id. */
async function everythingWithAnId(world: TestWorld, tenant: Tenant): Promise<void> {
  const routes = groups.flatMap(({ endpoints }) => endpoints.map(({ route }) => route)).filter((r) => r.includes(":"));
  const byNoun = new Map(routes.map((route) => [route.split("/:")[0]!.split(" ")[1], route]));
  for (const route of byNoun.values()) await foreignIds(world, tenant, route);
}

async function credentials(world: TestWorld, tenant: Tenant): Promise<void> {
  const { create, upload, call } = await channelCalls(world, tenant);
  for (const path of Object.keys(kinds) as UploadPath[]) {
    const id = await create(kinds[path].type);
    await upload(id, path);
    const body = { name: "welcome", language: "en", category: "marketing", body: "Hello" };
    if (path === "chat_app") await call(`POST /${id}/${GENERATED}`, { body });
  }
}

type Call = (route: string, body?: object) => Promise<Answer>;

async function people(world: TestWorld, tenant: Tenant, call: Call): Promise<void> {
  const person = { email: "ada@shop.example", phone: "+4915112345678", consent: { status: "opted_in" } };
  const upsert = (external_id: string, more: object = {}) =>
    world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id, ...person, ...more } });
  const ada: string = (await upsert("ada", { attributes: { plan: "pro" } })).body.id;
  const gone: string = (await upsert("gone")).body.id;
  const device = { external_id: "ada", platform: "android", token: "ada-token", device_id: "ada-phone" };
  await world.call("POST /api/v1/devices", { as: tenant.sdk, body: device });
  const list: string = (await call("POST /api/v1/lists", { name: "members" })).body.id;
  const closed: string = (await call("POST /api/v1/lists", { name: "closed" })).body.id;
  for (const id of [list, closed]) await call(`POST /api/v1/lists/${id}/subscribers`, { subscriber_ids: [ada, gone] });
  await ingest(world, tenant, { event_name: "signed_up", anonymous_id: "visitor", idempotency_key: "once" });
  await identify(world, tenant, "visitor", ada);
  await send(world, tenant, { subscriberIds: [ada, gone] });
  await call(`DELETE /api/v1/lists/${closed}`);
  await call(`DELETE /api/v1/subscribers/${gone}`);
  const file = { filename: "people.csv", content: "external_id,email\neve,eve@shop.example\n,nobody@shop.example\n" };
  const form = multipartBody({ listId: list, source: "csv" }, file);
  await world.call("POST /api/v1/lists/import", { as: await tenant.dashboard(), ...form });
  for (const [email, role] of Object.entries({ "ada@team.example": "admin", "late@team.example": "viewer" }))
    await join(world, call, email, role, email.startsWith("ada"));
}

/** Invites a member, who accepts or not. */
export async function join(world: TestWorld, call: Call, email: string, role: string, comes = true): Promise<Answer> {
  const invited = await withMailedToken(world, await call("POST /api/v1/team/invitations", { email, role }));
  if (!comes) return invited;
  const body = { token: invited.body.token, name: "Ada", password: PASSWORD };
  return world.call("POST /api/v1/auth/invitations/accept", { body });
}

async function doings(world: TestWorld, tenant: Tenant, call: Call): Promise<void> {
  const now = world.clock.now();
  await call("POST /api/v1/insights/config", { event_name: "bought", value_property: "cents", window_seconds: 86_400 });
  const steps = graphOf({ wait: { delay: { duration: "60d", next: "end" } }, end: "exit" });
  const trigger = { type: "event", event_name: "signed_up" };
  const journey: string = (await call("POST /api/v1/journeys", { name: "Long", trigger, steps })).body.id;
  await call(`POST /api/v1/journeys/${journey}/activate`);
  const { job } = await send(world, tenant, { target: { type: "all" } });
  const [ada] = (await call("GET /api/v1/subscribers?external_id=ada")).body.items;
  const report = { interaction: "inapp_click", platform: "ios", occurred_at: timestamp(now), subscriber_id: ada.id };
  await world.call("POST /api/v1/notifications/interactions", { as: tenant.sdk, body: { job_id: job.id, ...report } });
  for (const event of [{ event_name: "signed_up" }, { event_name: "bought", properties: { cents: 5 } }])
    await ingest(world, tenant, { ...event, subscriber_id: ada.id });
  const later = { title: "Later", body: "b", scheduled_at: timestamp(now + 90 * DAY), subscriberIds: [ada.id] };
  await call("POST /api/v1/notifications", later);
  const rule = { event: { name: "signed_up", within: "90d" } };
  await call("POST /api/v1/segments", { name: "Recent", is_dynamic: true, rule });
}
