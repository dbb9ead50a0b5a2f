// The inbox (INB, AMB-37, AMB-108, AMB-120, D-INBOXRECALL).
import { type Operation, ok } from "./access.ts";
import { pageNumber, requiredText } from "./checks.ts";
import { ABSENT, type Body, DAY, FirstOf, invalid, iso, notFound, OrderedBy, type Request } from "./kit.ts";
import { needInApp } from "./plans.ts";
import type { InboxMessage, Job, Recipient } from "./records/sends.ts";
import { render, saidBy } from "./render.ts";
import { isShown, MESSAGE_LIFETIME, messageCame } from "./streams.ts";
import { found, newId, type World } from "./world.ts";

/** INB-2, AMB-101: an authored experience brings its format, picture, actions and display, and the arm. */
function contentFor(world: World, job: Job, { subscriber_id, variant }: Recipient): Body {
  const { spec } = job;
  const template = spec.template_id ? found(world.templates, spec.template_id)?.content : undefined;
  const base = template ?? spec.content ?? { title: spec.title, body: spec.body, by_channel: spec.by_channel };
  const content = variant === "b" ? spec.variant_b : base;
  const said = saidBy(base, variant === "b" ? content : undefined, "in_app");
  const values = {
    subscriber: found(world.subscribers, subscriber_id) ?? null,
    data: spec.data ?? {},
    event: spec.event ?? {},
  };
  const authored = spec.experience;
  const image_url = content.image_url ?? (variant === "b" ? undefined : base.image_url);
  return {
    title: render(said.title, values),
    body: render(said.body, values),
    ...(authored && { format: authored.format, actions: base.actions ?? ABSENT, display: authored.display }),
    image_url: (authored && image_url) || ABSENT,
    variant_id: variant ?? ABSENT,
  };
}

export function deliverToInbox(world: World, job: Job, recipient: Recipient): void {
  const message: InboxMessage = {
    ...{ id: newId(world, "inbox"), subscriber_id: recipient.subscriber_id, notification_id: job.id },
    ...{ content: contentFor(world, job, recipient), status: "unread", created_at: world.now, read_at: null },
    ...{ hidden: false, recalled: false },
  };
  world.inbox.push(message);
  messageCame(world, message);
}

/** INB-1, INB-4. */
const record = (message: InboxMessage): Body => ({
  ...{ id: message.id, notification_id: message.notification_id, content: message.content, status: message.status },
  ...{ created_at: iso(message.created_at), expires_at: iso(message.created_at + MESSAGE_LIFETIME) },
  read_at: message.read_at === null ? ABSENT : iso(message.read_at),
});

/** The record of a delivery is kept as long as deliveries are compared (D-ARB). */
const MESSAGE_KEPT = 90 * DAY;

/** Hidden and recalled ones are of the person, too, and those that the inbox shows no more (F14). */
export const inboxOf = (world: World, subscriber: string): OrderedBy => {
  const own = world.inbox.filter(
    ({ subscriber_id, created_at }) => subscriber_id === subscriber && world.now < created_at + MESSAGE_KEPT,
  );
  const newest = own.toReversed().toSorted((a, b) => b.created_at - a.created_at);
  return new OrderedBy(newest.map(record), ({ created_at }) => created_at);
};

const shown = (world: World, subscriber: string): InboxMessage[] =>
  world.inbox.filter((message) => message.subscriber_id === subscriber && isShown(world, message));

/** INB-6: newest first; more than 200 are 200 (AMB-29). */
function list(world: World, { query }: Request) {
  if (query.subscriber_id === undefined) invalid("subscriber_id");
  if (query.status !== undefined && !["unread", "read", "dismissed"].includes(query.status)) invalid("status");
  const limit = pageNumber(query, "limit", 50, 200);
  if (!found(world.subscribers, query.subscriber_id)) return ok({ messages: [] });
  const matching = shown(world, query.subscriber_id).filter(({ status }) => [undefined, status].includes(query.status));
  const newestFirst = matching.toReversed().toSorted((a, b) => b.created_at - a.created_at);
  const ordered = new OrderedBy(newestFirst.map(record), ({ created_at }) => created_at);
  // Which of one instant fall off the page is open: only pages that hold everything are compared one by one.
  return ok({ messages: newestFirst.length <= limit ? ordered : new FirstOf(ordered, limit) });
}

function messageOf(world: World, body: Body, id: unknown): InboxMessage {
  requiredText(body, "subscriber_id");
  return found(shown(world, body.subscriber_id), id) ?? notFound();
}

/** AMB-37: dismissed stays dismissed, but has been read. */
function markRead(world: World, { body }: Request, { id }: Record<string, string>) {
  const message = messageOf(world, body, id);
  if (message.status === "unread") message.status = "read";
  message.read_at ??= world.now;
  return ok(record(message));
}

/** AMB-37: dismissing does not set read_at. */
function dismiss(world: World, { body }: Request, { id }: Record<string, string>) {
  const message = messageOf(world, body, id);
  message.status = "dismissed";
  return ok(record(message));
}

/** AMB-37: touches unread messages only. */
function markAllRead(world: World, { body }: Request) {
  requiredText(body, "subscriber_id");
  const unread = shown(world, body.subscriber_id).filter(({ status }) => status === "unread");
  for (const message of unread) Object.assign(message, { status: "read", read_at: world.now });
  return ok({ updated: unread.length });
}

/** AMB-60: with a dashboard token it is a write. */
const either = (route: string, run: Operation["run"]): Operation => ({
  ...{ route, who: ["sdk", "dashboard"], plan: needInApp, run },
  write: route.startsWith("POST"),
});

export const inboxOperations: Operation[] = [
  either("GET /v1/in-app/messages", list),
  either("POST /v1/in-app/messages/read", markAllRead),
  either("POST /v1/in-app/messages/:id/read", markRead),
  either("POST /v1/in-app/messages/:id/dismiss", dismiss),
];
