// Subscribers: SUB, D-SUB-LIST, D-ATTR, and what an erasure takes with it.
import { created, type Operation, ok, read, write } from "./access.ts";
import { forgetAddress, liftedOf } from "./addresses.ts";
import { checkEmail, idList, limitOf, listing, optionalRecord, requiredText } from "./checks.ts";
import { addressChanged, consentAssertion, consentsOfAddresses, currentConsents, stated } from "./consents.ts";
import { deviceRecord } from "./devices.ts";
import { forgetFiles } from "./exports.ts";
import { forgetPayloads } from "./hooks.ts";
import { inboxOf } from "./inbox.ts";
import {
  ANY,
  type Body,
  instant,
  invalid,
  iso,
  isUuid,
  MINUTE,
  OrderedBy,
  type Request,
  same,
  Unordered,
} from "./kit.ts";
import { createSubscriber, mergeAttributes, refuseLargeProfile, subscriberRecord, tellCreated } from "./people.ts";
import type { Consent, Subscriber } from "./records/people.ts";
import { cancelRuns } from "./runs.ts";
import { isLapsing, subscriberChanged } from "./segments.ts";
import { topicChoices } from "./topics.ts";
import { existing, found, type World } from "./world.ts";

const upsert: Operation["run"] = (world, request) => ok(subscriberRecord(upsertOf(world, request)));

/** SUB-5, SUB-6, AMB-44, AMB-45. */
export function upsertOf(world: World, { body, as }: Request): Subscriber {
  requiredText(body, "external_id");
  checkEmail(body.email);
  optionalRecord(body, "attributes");
  const consent = body.consent === undefined ? undefined : consentAssertion(world, body.consent, "consent.");

  const known = world.subscribers.find(({ external_id }) => external_id === body.external_id);
  if (as.kind === "sdk") refuseLargeProfile(known?.attributes ?? {}, body);
  const subscriber = known ?? createSubscriber(world, body.external_id);
  const before = { ...subscriber, attributes: { ...subscriber.attributes } };
  change(world, subscriber, body);
  if (consent) stated(world, subscriber, { ...consent, source: consent.source ?? null }, before.email);
  if (!known) tellCreated(world, subscriber);
  subscriberChanged(world, subscriber, known ? { keys: changedKeys(before, subscriber) } : "all");
  return subscriber;
}

function changedKeys(before: Subscriber, after: Subscriber): string[] {
  const [was, is] = [before, after].map(({ email, attributes }): Body => ({ ...attributes, email }));
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => !same(was[key], is[key]));
}

function change(world: World, subscriber: Subscriber, body: Body): void {
  const before = subscriber.email;
  if (body.email !== undefined) subscriber.email = body.email;
  mergeAttributes(subscriber, body);
  subscriber.updated_at = world.now;
  addressChanged(world, subscriber, before, body.consent && (body.consent.channel ?? "email"));
}

/** A7: the same fields but the key. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  if (Object.keys(body).length === 0) invalid();
  checkEmail(body.email);
  optionalRecord(body, "attributes");
  const subscriber = existing(world.subscribers, id);
  const before = { ...subscriber, attributes: { ...subscriber.attributes } };
  change(world, subscriber, body);
  subscriberChanged(world, subscriber, { keys: changedKeys(before, subscriber) });
  return ok(subscriberRecord(subscriber));
}

/**
 * SUB-9, SUB-10, SUB-16, AMB-10: gone are its devices, memberships, inbox and runs; rows of sends and events stay.
 * D-EXPORTDEL: the properties of its events go on request.
 */
function eraseSubscriber(world: World, subscriber: Subscriber, isAll: boolean): void {
  const { id } = subscriber;
  cancelRuns(world, ({ subscriber_id }) => subscriber_id === id);
  forgetAddress(world, subscriber);
  world.subscribers = world.subscribers.filter((other) => other !== subscriber);
  world.erased.push(id);
  world.devices = world.devices.filter(({ subscriber_id }) => subscriber_id !== id);
  world.memberships = world.memberships.filter(({ subscriber_id }) => subscriber_id !== id);
  world.members = world.members.filter(({ subscriber_id }) => subscriber_id !== id);
  world.consents = world.consents.filter(({ subscriber_id }) => subscriber_id !== id);
  world.inbox = world.inbox.filter(({ subscriber_id }) => subscriber_id !== id);
  world.readers = world.readers.filter(({ subscriber_id }) => subscriber_id !== id);
  const aliases = world.aliases.filter(({ subscriber_id }) => subscriber_id === id);
  for (const event of world.events) {
    const isAlias = aliases.some(({ anonymous_id }) => anonymous_id === event.anonymous_id);
    // What was counted of it stays counted (docs/decisions/0011-events-and-their-counters.md).
    if (!event.erased && (event.subscriber_id === id || isAlias))
      Object.assign(event, { erased: true, subscriber_id: id }, isAll && { properties: {} });
  }
  world.aliases = world.aliases.filter(({ subscriber_id }) => subscriber_id !== id);
  // A send that named the person names nobody any more, not even the next owner of the external id.
  const forgotten = (name: string) => (name === subscriber.external_id ? `erased ${id}` : name);
  for (const job of world.jobs) {
    for (const recipient of job.recipients) {
      // Its run is gone, so that the outcome of a step stays as it was (docs/decisions/0156-steps-of-who-was-erased.md).
      if (recipient.subscriber_id === id) recipient.outcome = null;
      recipient.subscriber_id = forgotten(recipient.subscriber_id);
    }
    const { external_ids } = job.spec;
    if (external_ids?.includes(subscriber.external_id))
      job.spec = { ...job.spec, external_ids: external_ids.map(forgotten) };
  }
  for (const { anonymous_id } of aliases) world.forgotten.push({ anonymous_id, until: world.now + MINUTE, isAll });
  forgetPayloads(world, id);
  forgetFiles(world);
}

/** SUB-12 to SUB-14, AMB-36. */
function bulkDelete(world: World, { body }: Request) {
  const ids = idList(body, "subscriber_ids");
  const wrong = body.subscriber_ids.findIndex((id: unknown) => !isUuid(id));
  if (wrong >= 0) invalid(`subscriber_ids[${wrong}]`);
  const known = ids.flatMap((id) => found(world.subscribers, id) ?? []);
  for (const subscriber of known) eraseSubscriber(world, subscriber, body.erase_properties === true);
  const not_found = ids.filter((id) => !known.some((subscriber) => subscriber.id === id));
  return ok({ deleted: known.length, not_found: new Unordered(not_found) });
}

/** D-SUB-LIST: newest first. AMB-80: a limit over 1,000 is clamped. */
function list(world: World, request: Request) {
  const size = limitOf(request, 100, 1000);
  const { updated_since, external_id, email, q } = request.query;
  const since = updated_since === undefined ? undefined : (instant(updated_since) ?? invalid("updated_since"));
  const matching = world.subscribers.filter(
    (subscriber) =>
      (since === undefined || subscriber.updated_at >= since) &&
      (external_id === undefined || subscriber.external_id === external_id) &&
      (email === undefined || subscriber.email?.toLowerCase() === email.toLowerCase()) &&
      (q === undefined || startsWith(subscriber, q.toLowerCase())),
  );
  const newestFirst = matching.toSorted((a, b) => b.created_at - a.created_at);
  const items = newestFirst.map(subscriberRecord);
  return listing(
    "items",
    q === undefined ? new OrderedBy(items, (item) => item.created_at) : new Unordered(items),
    size,
  );
}

/** A6: prefix of e-mail, external id, last name. */
function startsWith({ email, external_id, attributes }: Subscriber, prefix: string): boolean {
  const texts = [email, external_id, attributes.last_name].filter((text) => typeof text === "string");
  return texts.some((text) => text.toLowerCase().startsWith(prefix));
}

/** api-additions: profile with devices, consents, topics, lists, segments. */
function profile(world: World, id: string | undefined): Body {
  const subscriber = existing(world.subscribers, id);
  const lists = world.memberships.filter(({ subscriber_id }) => subscriber_id === id);
  const segments = world.members.filter(({ subscriber_id }) => subscriber_id === id);
  const body = {
    ...subscriberRecord(subscriber),
    devices: new Unordered(world.devices.filter((device) => device.subscriber_id === id).map(deviceRecord)),
    consents: new Unordered(currentConsents(world, subscriber)),
    topics: new Unordered(topicChoices(world, id!)),
    lists: new Unordered(lists.map(({ of }) => ({ id: of, name: found(world.lists, of)!.name }))),
    segments: world.segments.some((segment) => isLapsing(world, segment))
      ? ANY
      : new Unordered(segments.map(({ of }) => ({ id: of, name: found(world.segments, of)!.name }))),
  };
  return body;
}

const consentRecord = ({ order, isConfirmed, ...row }: Consent): Body => ({
  ...row,
  consented_at: iso(row.consented_at),
  recorded_at: iso(row.recorded_at),
});

function consentHistory(world: World, id: string | undefined): OrderedBy {
  const subscriber = existing(world.subscribers, id);
  const rows = world.consents.filter(({ subscriber_id }) => subscriber_id === id).toSorted((a, b) => b.order - a.order);
  const items = rows.map(consentRecord);
  // Which of two that one request makes is first is open.
  const now = consentsOfAddresses(world, subscriber);
  const all = [...now, ...items];
  const keyOf = (item: Body) => (now.includes(item) ? `now ${now.indexOf(item)}` : item.recorded_at);
  return new OrderedBy(all, keyOf);
}

/** F14: what happened is on the pages after the first, and told by the timeline. */
const everythingOf: Operation["run"] = (world, _, { id }) =>
  ok({
    subscriber: profile(world, id),
    consents: consentHistory(world, id),
    lifted: liftedOf(world, existing(world.subscribers, id)),
    inbox: inboxOf(world, id!),
    history: [],
  });

const get: Operation["run"] = (world, _, { id }) => ok(profile(world, id));

/** D-CONSENT, A7: a statement recorded by a member of the workspace. */
function addConsent(world: World, { body }: Request, { id }: Record<string, string>) {
  const consent = consentAssertion(world, body, "");
  const subscriber = existing(world.subscribers, id);
  const row = stated(world, subscriber, { ...consent, source: consent.source ?? "dashboard" });
  subscriber.updated_at = world.now;
  return created(consentRecord(row));
}

const count = (world: World) => ok({ count: world.subscribers.length });

const remove = (world: World, { query }: Request, { id }: Record<string, string>) => {
  eraseSubscriber(world, existing(world.subscribers, id), query.erase_properties === "true");
  return { status: 204 };
};

export const subscriberOperations: Operation[] = [
  { route: "POST /api/v1/subscribers/upsert", who: ["sdk"], run: upsert },
  { route: "POST /v1/subscribers/upsert", who: ["server"], scope: "subscribers:write", run: upsert },
  write("POST /api/v1/subscribers/bulk-delete", "subscribers:write", bulkDelete),
  read("GET /api/v1/subscribers/count", count),
  { route: "GET /v1/subscribers", who: ["server"], scope: "subscribers:read", run: list },
  read("GET /api/v1/subscribers", list),
  { route: "GET /v1/subscribers/:id", who: ["server"], scope: "subscribers:read", run: get },
  read("GET /api/v1/subscribers/:id", get),
  read("GET /api/v1/subscribers/:id/export", everythingOf),
  write("PATCH /api/v1/subscribers/:id", "subscribers:write", patch),
  write("DELETE /api/v1/subscribers/:id", "subscribers:write", remove),
  read("GET /api/v1/subscribers/:id/consents", (world, _, { id }) =>
    ok({ items: consentHistory(world, id), lifted: liftedOf(world, existing(world.subscribers, id)), next_cursor: "" }),
  ),
  write("POST /api/v1/subscribers/:id/consents", "subscribers:write", addConsent),
];
