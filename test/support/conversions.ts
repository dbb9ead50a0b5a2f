// A workspace whose subscribers get messages and then convert, for tests of insights.
import { timestamp } from "../../shared/kernel/clock.ts";
import { addPeople } from "./people.ts";
import type { Tenant, TestWorld } from "./world.ts";

export async function withBuyers({ world, tenant }: { world: TestWorld; tenant: Tenant }, people = 4) {
  const as = () => tenant.dashboard();
  const call = async (route: string, body?: object) => world.call(route, { as: await as(), ...(body && { body }) });
  const ids = await addPeople(world, tenant, people);
  const channel = (await call("GET /api/v1/channels")).body.channels[0].id as string;
  const define = (body: object = {}) =>
    call("POST /api/v1/insights/config", { event_name: "purchase", value_property: "cents", ...body });
  /** Releases a campaign of the given messages and runs its sends. @returns its id and its jobs'. */
  const campaign = async (times: (string | undefined)[] = [undefined], more: object = {}) => {
    const messages = times.map((scheduled_at, n) => ({
      content: { title: `M${n}`, body: "b" },
      channel_ids: [channel],
      ...(scheduled_at && { scheduled_at }),
    }));
    const { id } = (await call("POST /api/v1/campaigns", { name: "c", messages, ...more })).body;
    const released = (await call(`POST /api/v1/campaigns/${id}/release`)).body;
    await world.settle();
    return { id: String(id), jobs: released.messages.map(({ job_id }: { job_id: string }) => job_id) as string[] };
  };
  const buy = async (who: string | { anonymous: string }, cents?: number, more: object = {}) => {
    const actor = typeof who === "string" ? { subscriber_id: who } : { anonymous_id: who.anonymous };
    const properties = cents === undefined ? {} : { cents };
    const event = { event_name: "purchase", ...actor, properties, ...more };
    const answer = await world.call("POST /v1/events", { as: tenant.server, body: event });
    await world.settle();
    return answer;
  };
  const react = (job_id: string, subscriber_id: string, interaction: string, more: object = {}) =>
    world.call("POST /api/v1/notifications/interactions", {
      as: tenant.sdk,
      body: { job_id, subscriber_id, interaction, platform: "ios", occurred_at: timestamp(world.clock.now()), ...more },
    });
  const funnel = async (id: string, query = "", type = "campaign") =>
    (await call(`GET /api/v1/insights/funnel?source_type=${type}&source_id=${id}${query}`)).body;
  const summary = async (by: string, query = "") =>
    (await call(`GET /api/v1/insights/summary?group_by=${by}${query}`)).body.rows;
  return { world, tenant, call, ids, channel, define, campaign, buy, react, funnel, summary };
}
