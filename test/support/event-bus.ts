// What is on the event bus of a test, event by event.
import type { Tenant, TestWorld } from "./world.ts";

export const BUS = "engagement";

interface PublishedEvent {
  id: string;
  event_type: string;
  tenant_id: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any data
  data: any;
}

/** The `detail` of the entries of a type. */
export const entriesOnBus = ({ eventbridge }: TestWorld, type: string) =>
  eventbridge
    .events(BUS)
    .flatMap((event) =>
      event["detail-type"] === type
        ? [event.detail as { event_type: string; tenant_id: string; sandbox: boolean; events: PublishedEvent[] }]
        : [],
    );

/** The events of a type, in the order in which they came. */
export const onBus = (world: TestWorld, type: string): PublishedEvent[] =>
  entriesOnBus(world, type).flatMap(({ events }) => events);

/** A new subscriber of that external id. */
export const upsert = async (world: TestWorld, tenant: Tenant, external_id: string) =>
  (await world.call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } })).body;

/** The external ids of the subscribers who were created by what is on the bus. */
export const createdOnBus = (world: TestWorld): string[] =>
  onBus(world, "subscriber.created").map(({ data }) => data.external_id);
