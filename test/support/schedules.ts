// A workspace whose plan has schedules, and what is done with them.
import type { Tenant } from "./world.ts";
import type { worlds } from "./worlds.ts";

export const scheduling =
  ({ fresh }: Pick<ReturnType<typeof worlds>, "fresh">) =>
  async (options: NonNullable<Parameters<typeof fresh>[0]> = {}) => {
    const world = await fresh(options);
    const tenant = await world.tenant({ plan: options.plan ?? "premium" });
    const { call } = tenant;
    const template = async (of: Tenant = tenant): Promise<string> => {
      const body = { name: world.ids.uuid(), content: { title: "Daily", body: "News" } };
      return (await of.call("POST /api/v1/templates", body)).body.id;
    };
    const channel = async (of: Tenant = tenant): Promise<string> =>
      (await of.call("GET /api/v1/channels")).body.channels[0].id;
    const person = await tenant.upsert({ external_id: "u1" });
    /** Every morning at nine in Berlin. */
    const spec = {
      cron_expression: "0 9 * * *",
      timezone: "Europe/Berlin",
      template_id: await template(),
      channel_ids: [await channel()],
      target: { type: "all" },
    };
    return {
      world,
      tenant,
      call,
      person,
      spec,
      template,
      channel,
      create: (change: object = {}) => call("POST /api/v1/schedules", { ...spec, ...change }),
      patch: (id: string, body: object) => call(`PATCH /api/v1/schedules/${id}`, body),
      remove: async (id: string) => (await call(`DELETE /api/v1/schedules/${id}`)).status,
      get: async (id: string) => (await call(`GET /api/v1/schedules/${id}`)).body,
      /** The sends of all schedules, newest first. */
      jobs: async () => (await call("GET /api/v1/notifications?source_type=schedule")).body.items,
    };
  };
