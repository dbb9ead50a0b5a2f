// The live stream (SSE, AMB-2, AMB-101, AMB-122, F12, D-INBOXRECALL): what an app is told that goes on where it was.
import { ABSENT, type Body, DAY, iso, notFound, OrderedBy, SECOND } from "./kit.ts";
import type { InboxMessage, Reader } from "./records/sends.ts";
import { at, found, type World } from "./world.ts";

/** INB-4. */
export const MESSAGE_LIFETIME = 30 * DAY;
/** AMB-122. */
const STREAM_LIFETIME = 90 * SECOND;
/** So long after a message came an open stream has shown it, as often as it looks (ARC-3). */
const LOOKS = [SECOND, 2 * SECOND];

/** What its owner may see: not expired, not hidden, not recalled. */
export const isShown = ({ now }: World, { hidden, recalled, created_at }: InboxMessage): boolean =>
  !hidden && !recalled && now < created_at + MESSAGE_LIFETIME;

/**
 * A stream of a reader that was never connected begins now; any other brings what came since, if it is shown now.
 * @param isBehind it goes on from the last message that it has: what it passed by since may come after all
 */
export function openStream(world: World, subscriber: string, isBehind: boolean): Reader {
  if (!found(world.subscribers, subscriber)) notFound();
  const known = world.readers.find(({ subscriber_id }) => subscriber_id === subscriber);
  const none = { told: [], free: [], gone: [] };
  const reader = known ?? { subscriber_id: subscriber, began_at: world.now, opened_at: null, ...none };
  if (!known) world.readers.push(reader);
  if (isBehind) reader.free.push(...reader.gone.splice(0));
  for (const message of missing(world, reader)) if (known) tell(reader, message, [isShown(world, message)]);
  const opened_at = world.now;
  reader.opened_at = opened_at;
  at(world, opened_at + STREAM_LIFETIME, () => {
    if (reader.opened_at === opened_at) reader.opened_at = null;
  });
  return reader;
}

export function closeStream(world: World, subscriber: string): void {
  for (const reader of world.readers) if (reader.subscriber_id === subscriber) reader.opened_at = null;
}

/** Open connections get it within the next polls, unless it is hidden then. */
export function messageCame(world: World, message: InboxMessage): void {
  for (const reader of world.readers) {
    const { opened_at } = reader;
    if (reader.subscriber_id !== message.subscriber_id || opened_at === null) continue;
    const seen = [isShown(world, message)];
    for (const wait of LOOKS)
      at(world, world.now + wait, () => {
        seen.push(isShown(world, message));
        const isSame = reader.opened_at === opened_at && missing(world, reader).includes(message);
        if (isSame && seen.length > LOOKS.length) tell(reader, message, seen);
      });
  }
}

/** What a stream has passed while it was hidden is for the inbox alone. Hidden at one look and shown at another: either. */
function tell(reader: Reader, message: InboxMessage, seen: boolean[]): void {
  const ofSome = seen.some(Boolean) ? "free" : "gone";
  reader[seen.every(Boolean) ? "told" : ofSome].push(message.id);
}

/** What came since it began, and was neither told nor passed by. */
function missing({ inbox }: World, { subscriber_id, began_at, told, free, gone }: Reader): InboxMessage[] {
  const known = [...told, ...free, ...gone];
  return inbox.filter(
    (message) =>
      message.subscriber_id === subscriber_id && message.created_at >= began_at && !known.includes(message.id),
  );
}

/** AMB-1, AMB-2, AMB-101. */
function frame(world: World, message: InboxMessage): Body {
  const { title, body, format, image_url, actions, display, variant_id } = message.content;
  const data = found(world.jobs, message.notification_id)?.spec.data ?? {};
  return {
    ...{ id: message.id, notification_id: message.notification_id, title, body, sent_at: iso(message.created_at) },
    ...(format && { format }),
    image_url: image_url === ABSENT ? null : image_url,
    ...(Array.isArray(actions) && { actions: actions.map(({ title: label, ...rest }: Body) => ({ ...rest, label })) }),
    ...(display && { display: { trigger: display.trigger, frequency: display.frequency } }),
    data: { ...data, ...(display && { display }), variant_id },
  };
}

/**
 * All frames of a reader so far, over all its connections: each message once, in the order in which they came.
 * @param received ids of what it has: of what may be told or not, what it was told is right
 */
export function framesOf(world: World, reader: Reader, received: string[]): OrderedBy {
  const open = missing(world, reader).map(({ id }) => id);
  const allowed = [...reader.told, ...[...reader.free, ...open].filter((id) => received.includes(id))];
  const messages = world.inbox.filter(({ id }) => allowed.includes(id)).sort((a, b) => a.created_at - b.created_at);
  return new OrderedBy(
    messages.map((message) => frame(world, message)),
    ({ sent_at }) => sent_at,
  );
}
