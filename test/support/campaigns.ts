// A workspace with campaigns: how to make, release and move them, and read the inbox afterwards.
import { timestamp } from "../../shared/kernel/clock.ts";
import { START, type Tenant, type TestWorld } from "./world.ts";

export const at = (ms: number) => timestamp(START + ms);
export const text = (title: string) => ({ title, body: "Body" });

export async function withCampaigns(world: TestWorld) {
  const tenant = await world.tenant();
  const as = () => tenant.dashboard();
  const call = async (route: string, body?: object) => world.call(route, { as: await as(), ...(body && { body }) });
  const channel = async () => (await tenant.call("GET /api/v1/channels")).body.channels[0].id as string;
  const template = async (of: Tenant = tenant) => {
    const body = { name: world.ids.uuid(), content: text("Template") };
    return (await of.call("POST /api/v1/templates", body)).body.id as string;
  };
  const person = (await tenant.upsert({ external_id: "u1" })) as string;
  const channel_ids = [await channel()];
  const create = (body: object = {}) =>
    call("POST /api/v1/campaigns", { name: "Spring", content: text("Hello"), channel_ids, ...body });
  /** A campaign with a message per time: `undefined`: it is sent with the campaign. */
  const several = async (...times: (string | undefined)[]) => {
    const messages = times.map((scheduled_at, n) => ({ content: text(`M${n}`), channel_ids, scheduled_at }));
    return (await call("POST /api/v1/campaigns", { name: "Several", messages })).body;
  };
  const get = async (id: string) => (await call(`GET /api/v1/campaigns/${id}`)).body;
  const act = (id: string, action: string) => call(`PATCH /api/v1/campaigns/${id}`, { action });
  const release = (id: string) => call(`POST /api/v1/campaigns/${id}/release`);
  const job = async (id: string) => (await call(`GET /api/v1/notifications/${id}`)).body;
  const inbox = async (): Promise<string[]> => {
    const { messages } = (
      await world.call(`GET /v1/in-app/messages?subscriber_id=${person}&limit=200`, { as: tenant.sdk })
    ).body;
    return messages.map(({ content }: { content: { title: string } }) => content.title).reverse();
  };
  return { world, tenant, call, channel, template, channel_ids, create, several, get, act, release, job, inbox };
}
