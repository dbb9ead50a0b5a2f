// Events as they are sent: each has a key, so that the service stores it once however often it is sent (EVT-8).
import { newKey } from "./transport.ts";
import type { EventsCreateBody } from "./types.gen.ts";

type Batch = Extract<EventsCreateBody, { events: unknown }>;
type Single = Exclude<EventsCreateBody, Batch>;

/** Adds keys, which are the same for all attempts of a call. A key of the caller stays. */
export const withKeys = (body: EventsCreateBody): EventsCreateBody =>
  "events" in body ? { ...body, events: body.events.map(keyed) } : keyed(body);

const keyed = <E extends Single>(event: E): E =>
  event.idempotency_key === undefined ? { ...event, idempotency_key: newKey() } : event;

/** Adds the time of the attempt, by which the service corrects the times of a device whose clock is wrong (AMB-135). */
export const stamped = (body: EventsCreateBody): EventsCreateBody =>
  "events" in body
    ? {
        get sent_at() {
          return new Date().toISOString();
        },
        ...body,
      }
    : body;
