// A subscriber's own record (SUB-1, SUB-3, D-ATTR, AMB-44).
import { notifyHooks } from "./hooks.ts";
import { ABSENT, type Body, invalid, iso, JsonText } from "./kit.ts";
import type { Subscriber } from "./records/people.ts";
import { found, newId, type World } from "./world.ts";

/** SUB-1, SUB-3: attributes are a JSON text. */
export const subscriberRecord = (subscriber: Subscriber): Body => ({
  id: subscriber.id,
  external_id: subscriber.external_id,
  email: subscriber.email ?? ABSENT,
  attributes: new JsonText(subscriber.attributes),
  created_at: iso(subscriber.created_at),
  updated_at: iso(subscriber.updated_at),
});

/** D-ATTR: top-level phone, timezone and locale are attributes. AMB-44: shallow merge; null deletes. */
export function mergeAttributes(subscriber: Subscriber, body: Body): void {
  const { phone, timezone, locale } = body;
  const given: Record<string, Body> = { ...body.attributes };
  if (phone !== undefined) given.phone = phone;
  if (timezone !== undefined) given.timezone = timezone;
  if (locale !== undefined) given.locale = locale;
  for (const [key, value] of Object.entries(given)) {
    if (value === null) delete subscriber.attributes[key];
    else subscriber.attributes[key] = value;
  }
}

/** AMB-146: what the publishable key writes stays small. What a server key wrote may be changed, and grows no further. */
export function refuseLargeProfile(before: Subscriber["attributes"], body: Body): void {
  const sizeWith = (attributes: Subscriber["attributes"], change: Body) => {
    const changed = { attributes: { ...attributes } } as Subscriber;
    mergeAttributes(changed, change);
    return { keys: Object.keys(changed.attributes).length, bytes: JSON.stringify(changed.attributes).length };
  };
  const isLarge = ({ keys, bytes }: Body) => keys > 64 || bytes > 16_384;
  const [written, old, now] = [sizeWith({}, body), sizeWith(before, {}), sizeWith(before, body)];
  const grows = now.keys > old.keys || now.bytes > old.bytes;
  if (isLarge(written) || (isLarge(now) && grows)) invalid("attributes");
}

/** A net-new subscriber (SUB-17, AMB-107). */
export function createSubscriber(world: World, external_id: string): Subscriber {
  const subscriber: Subscriber = {
    ...{ id: newId(world, "sub"), external_id, email: null, attributes: {} },
    ...{ created_at: world.now, updated_at: world.now },
  };
  world.subscribers.push(subscriber);
  return subscriber;
}

/** WEV-6: as it was created. */
export function tellCreated(world: World, subscriber: Subscriber): void {
  const { id, external_id, email, attributes } = subscriber;
  const data = { subscriber_id: id, external_id, email, attributes: { ...attributes }, created: true };
  notifyHooks(world, "subscriber.created", data);
}

/** By either id. */
export const personOf = (world: World, { subscriber_id, external_id }: Body) =>
  found(world.subscribers, subscriber_id) ??
  world.subscribers.find((subscriber) => external_id !== undefined && subscriber.external_id === external_id);
