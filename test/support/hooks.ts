// A workspace with a receiver of webhooks outside of it.
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { webhookSamples } from "../../shared/rules/webhook-events.ts";
import { noteDeliveries } from "../../shared/store/webhooks/deliveries.ts";
import { type ReceivedPost, type Receiver, receiver } from "./receiver.ts";
import type { Tenant, TestWorld } from "./world.ts";
import type { worlds } from "./worlds.ts";

export interface Setting {
  world: TestWorld;
  tenant: Tenant;
  outside: Receiver;
}

type Makers = Pick<ReturnType<typeof worlds>, "fresh">;
type Options = NonNullable<Parameters<Makers["fresh"]>[0]>;

export const receiving =
  ({ fresh }: Makers) =>
  async (options: Options = {}): Promise<Setting> => {
    let now = () => 0;
    const outside = receiver(() => now());
    const world = await fresh({ ...options, network: outside.network });
    now = () => world.clock.now();
    return { world, tenant: await world.tenant(), outside };
  };

/** A workspace with one webhook for new subscribers, and what is done with its deliveries. */
export const withWebhook =
  (makers: Makers) =>
  async (options: Options = {}) => {
    const here = await receiving(makers)(options);
    const { world, tenant } = here;
    const { id: webhook }: { id: string } = await hook(here, ["subscriber.created"]);
    const ask = (path: string, body?: object) => tenant.call(`POST /api/v1/webhooks/${webhook}${path}`, body);
    return {
      ...here,
      webhook,
      list: (query = "") => log(here, webhook, query),
      redeliver: (id: string) => ask(`/deliveries/${id}/redeliver`),
      /** Of the last day, unless said otherwise. */
      replay: (more: object = {}) => {
        const now = world.clock.now();
        return ask("/replay", { from: timestamp(now - DAY), to: timestamp(now), ...more });
      },
    };
  };

/** The same, with deliveries that are accepted at once. */
export const withDeliveries = (makers: Makers) => {
  const withHook = withWebhook(makers);
  return async (options: Options = {}) => {
    const here = await withHook(options);
    const { world, tenant, webhook, outside } = here;
    const occurrenceOf = (name: string) => {
      const data = { ...webhookSamples["subscriber.created"], external_id: name };
      return { event: "subscriber.created", key: name, at: world.clock.now(), data } as const;
    };
    return {
      ...here,
      /** Accepts deliveries at once, with the names of their subscribers. */
      accept: (...names: string[]) =>
        noteDeliveries(
          tenant.store,
          names.map((name) => ({ webhook, occurrence: occurrenceOf(name) })),
        ),
      sequences: () => outside.received.map(sequenceOf),
      names: () => outside.received.map(({ body }) => JSON.parse(body).data.external_id),
    };
  };
};

export const sequenceOf = ({ headers }: Pick<ReceivedPost, "headers">) => Number(headers["x-service-sequence"]);
export const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);
export const ascending = (numbers: number[]) => numbers.toSorted((a, b) => a - b);

export const hook = async ({ world, tenant }: Setting, events: string[], target_url = "https://hooks.example.com/in") =>
  (await world.call("POST /v1/hooks", { as: tenant.server, body: { target_url, events } })).body;

export const upsert = async ({ world, tenant }: Setting, body: object = { external_id: "u1" }) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body })).body;

export const log = async ({ tenant }: Setting, id: string, query = "") =>
  (await tenant.call(`GET /api/v1/webhooks/${id}/deliveries${query}`)).body;
