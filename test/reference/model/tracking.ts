// What libraries of Segment send: each message becomes what our own endpoints take (docs/decisions/0100, AMB-146).
import { type Operation, ok } from "./access.ts";
import { linkOf, needEventsLeft, store, type Tier, tierOf } from "./events.ts";
import { ABSENT, type Body, Exactly, instant, Refusal, type Request } from "./kit.ts";
import { upsertOf } from "./subscribers.ts";
import type { World } from "./world.ts";

/** By the publishable key a request names so many users, and links so many anonymous ids. */
const MOST = { client: 3, server: Number.POSITIVE_INFINITY };

/** Names of traits that are fields of ours. */
const FIELDS: Record<string, string> = { firstName: "first_name", lastName: "last_name" };

/** The event of a message, or why the message is left out. */
function eventOf(world: World, { backdating }: Tier, message: Body): Body {
  const { type, event, name, properties = {}, traits = {}, groupId, previousId, timestamp, messageId } = message;
  const contents: Record<string, [string | undefined, Body]> = {
    track: [event, properties],
    page: ["page", { ...properties, ...(name && { name }) }],
    screen: ["screen", { ...properties, ...(name && { name }) }],
    group: ["group", { ...traits, ...(groupId && { group_id: groupId }) }],
    alias: ["alias", previousId ? { previous_id: previousId } : {}],
  };
  const [event_name, said] = contents[type] ?? [undefined, {}];
  if (!event_name) return "no_event_name";
  if (event_name.startsWith("$")) return "reserved_event_name";
  if (timestamp !== undefined && instant(timestamp)! < world.now - backdating) return "too_old";
  return { event_name, properties: said, occurred_at: timestamp, idempotency_key: messageId };
}

/** What all messages of a user say: the later value counts. Who is known, and of whom nothing is said, stays as they are. */
function personBy(request: Request, world: World, external_id: string, messages: Body[]): string {
  const traits = Object.assign({}, ...messages.map(({ type, traits = {} }) => (type === "identify" ? traits : {})));
  const { email, ...others } = traits;
  const known = world.subscribers.find((subscriber) => subscriber.external_id === external_id);
  if (known && Object.keys(traits).length === 0) return known.id;
  const attributes = Object.fromEntries(Object.entries(others).map(([key, value]) => [FIELDS[key] ?? key, value]));
  return upsertOf(world, { ...request, body: { external_id, attributes, ...(email && { email }) } }).id;
}

function take(world: World, request: Request, { call }: Record<string, string>) {
  const { body, as } = request;
  const tier = tierOf(request);
  const dropped: Record<string, number> = {};
  const users = new Map<string, Body[]>();
  const taken: { message: Body; event: Body }[] = [];
  for (const message of body.batch ?? [{ ...body, type: call }]) {
    const { type, userId, anonymousId } = message;
    const event = type === "identify" ? undefined : eventOf(world, tier, message);
    const isBeyond = userId && !users.has(userId) && users.size === MOST[tier.source] && "too_many_users";
    const reason = (!userId && !anonymousId && "no_id") || (typeof event === "string" && event) || isBeyond;
    if (reason) dropped[reason] = (dropped[reason] ?? 0) + 1;
    if (reason) continue;
    if (userId) users.set(userId, [...(users.get(userId) ?? []), message]);
    taken.push({ message, event });
  }
  if (users.size > 0 && as.scopes && !as.scopes.includes("subscribers:write"))
    throw new Refusal(403, { code: "FORBIDDEN" });
  const ids = new Map([...users].map(([name, said]) => [name, personBy(request, world, name, said)]));
  const links = new Map<string, string>();
  for (const { type, userId, anonymousId, previousId } of taken.map(({ message }) => message))
    for (const anonymous of userId ? [anonymousId, type === "alias" && previousId] : [])
      if (anonymous && !links.has(anonymous) && links.size < MOST[tier.source]) links.set(anonymous, ids.get(userId)!);
  for (const [anonymous_id, subscriber_id] of links) linkOf(world, { anonymous_id, subscriber_id });
  const events = taken.filter(({ event }) => event);
  needEventsLeft(world, events.length);
  for (const { message, event } of events) {
    const { userId, anonymousId: anonymous_id } = message;
    store(world, tier, { ...event, ...(userId ? { subscriber_id: ids.get(userId) } : { anonymous_id }) }, false);
  }
  const isAny = Object.keys(dropped).length > 0;
  return ok({ success: true, accepted: taken.length, dropped: isAny ? new Exactly(dropped) : ABSENT });
}

export const trackingOperations: Operation[] = [
  ...["/v1/batch", "/v1/segment/:call", "/v1/segment/v1/:call"].map(
    (path): Operation => ({ route: `POST ${path}`, who: ["sdk", "server"], scope: "events:write", run: take }),
  ),
];
