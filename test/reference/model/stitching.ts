// Identity stitching (IDN-2, IDN-3): an anonymous id that is linked stands for its subscriber.
import type { Event } from "./records/people.ts";
import type { World } from "./world.ts";

export const ownerOf = (world: World, event: Event): string | null => {
  if (event.subscriber_id !== null) return event.subscriber_id;
  return world.aliases.find(({ anonymous_id }) => anonymous_id === event.anonymous_id)?.subscriber_id ?? null;
};

/** All that a subscriber did, under every name. */
export const eventsOf = (world: World, subscriber: string): Event[] =>
  world.events.filter((event) => !event.erased && ownerOf(world, event) === subscriber);

/** When it happened: nothing happens after it was received (AMB-136). */
export const momentOf = ({ occurred_at, received_at }: Event): number => Math.min(occurred_at, received_at);
