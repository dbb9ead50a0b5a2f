// Subscriber lists (D-LIST, AMB-81).
import { created, type Operation, ok, read, write } from "./access.ts";
import { idList, listing, pageNumber, requiredText } from "./checks.ts";
import { currentConsent, recordConsent, stated } from "./consents.ts";
import { type Body, conflict, invalid, iso, type Request, Unordered } from "./kit.ts";
import type { List, Subscriber } from "./records/people.ts";
import { existing, found, newId, type World } from "./world.ts";

const record = (world: World, { id, name, description, double_opt_in, created_at }: List): Body => ({
  ...{ id, name, description, double_opt_in, created_at: iso(created_at) },
  subscriber_count: world.memberships.filter(({ of }) => of === id).length,
});

function create(world: World, { body }: Request) {
  requiredText(body, "name", 128);
  if (world.lists.some(({ name }) => name === body.name)) conflict();
  const list = {
    id: newId(world, "list"),
    name: body.name,
    description: body.description ?? null,
    double_opt_in: body.double_opt_in ?? false,
    created_at: world.now,
  };
  world.lists.push(list);
  return created(record(world, list));
}

function page(world: World, { query }: Request) {
  pageNumber(query, "page", 1, 1e9);
  const size = pageNumber(query, "page_size", 20, 100);
  const matching = world.lists.filter(({ name }) => name.toLowerCase().includes((query.name ?? "").toLowerCase()));
  const items = new Unordered(matching.map((list) => record(world, list)));
  return listing("items", items, size, matching.length);
}

function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  if (Object.keys(body).length === 0) invalid();
  if (body.name !== undefined) requiredText(body, "name", 128);
  const list = existing(world.lists, id);
  if (world.lists.some((other) => other !== list && other.name === body.name)) conflict();
  if (body.name !== undefined) list.name = body.name;
  if (body.description !== undefined) list.description = body.description;
  if (body.double_opt_in !== undefined) list.double_opt_in = body.double_opt_in;
  return ok(record(world, list));
}

/** D-LIST: a live experience or a scheduled job that names it holds it. */
function remove(world: World, _: Request, { id }: Record<string, string>) {
  const list = existing(world.lists, id);
  const isHeldByJob = world.jobs.some(({ status, spec }) => status === "scheduled" && spec.target?.list_id === id);
  const isHeldByExperience = world.experiences.some(
    ({ status, spec }) => ["live", "paused"].includes(status) && spec.audience?.list_id === id,
  );
  if (isHeldByJob || isHeldByExperience) conflict();
  world.lists = world.lists.filter((other) => other !== list);
  world.memberships = world.memberships.filter(({ of }) => of !== id);
  return { status: 204 };
}

export const isMember = (world: World, list: string, subscriber: string) =>
  world.memberships.some(({ of, subscriber_id }) => of === list && subscriber_id === subscriber);

/** Also by an import (IMP-13), or by a confirmation for a list that may be gone. */
export function addMember(world: World, list: string, subscriber: string): void {
  if (!found(world.lists, list) || isMember(world, list, subscriber)) return;
  world.memberships.push({ of: list, subscriber_id: subscriber, entered_at: world.now });
}

/** A member of a list that asks no more has nothing left to confirm. */
export function addUnasked(world: World, list: string, subscriber: Subscriber, said: Body): void {
  if (currentConsent(world, subscriber.id, `list:${list}`)?.status === "pending")
    recordConsent(world, subscriber, said);
  addMember(world, list, subscriber.id);
}

function add(world: World, { body }: Request, { id }: Record<string, string>) {
  const ids = idList(body, "subscriber_ids");
  const list = existing(world.lists, id);
  const known = ids.flatMap((subscriber) => found(world.subscribers, subscriber) ?? []);
  const fresh = known.filter((subscriber) => !isMember(world, list.id, subscriber.id));
  const said = { channel: `list:${id}`, status: "opted_in", consented_at: world.now, source: "dashboard" };
  for (const subscriber of fresh)
    if (list.double_opt_in) stated(world, subscriber, said);
    else addUnasked(world, list.id, subscriber, { ...said, status: "unknown" });
  const not_found = new Unordered(ids.filter((subscriber) => !found(world.subscribers, subscriber)));
  const [added, pending] = list.double_opt_in ? [0, fresh.length] : [fresh.length, 0];
  return ok({ added, already_member: known.length - fresh.length, pending, not_found });
}

/** Also who has yet to confirm it, and does so no more. */
function removeMembers(world: World, { body }: Request, { id }: Record<string, string>) {
  const ids = idList(body, "subscriber_ids");
  existing(world.lists, id);
  const channel = `list:${id}`;
  const waiting = ids.filter((subscriber) => currentConsent(world, subscriber, channel)?.status === "pending");
  const said = { channel, status: "unknown", consented_at: world.now, source: "dashboard" };
  for (const one of waiting) recordConsent(world, found(world.subscribers, one)!, said);
  const members = ids.filter((subscriber) => waiting.includes(subscriber) || isMember(world, id!, subscriber));
  world.memberships = world.memberships.filter(
    ({ of, subscriber_id }) => of !== id || !members.includes(subscriber_id),
  );
  const rest = ids.filter((subscriber) => !members.includes(subscriber));
  return ok({ removed: members.length, not_found: new Unordered(rest) });
}

function members(world: World, _: Request, { id }: Record<string, string>) {
  existing(world.lists, id);
  const rows = world.memberships.filter(({ of }) => of === id);
  const items = rows.map(({ subscriber_id, entered_at }) => ({
    subscriber_id,
    external_id: found(world.subscribers, subscriber_id)!.external_id,
    entered_at: iso(entered_at),
  }));
  return listing("items", new Unordered(items), 100);
}

export const listOperations: Operation[] = [
  write("POST /api/v1/lists", "content:write", create),
  read("GET /api/v1/lists", page),
  read("GET /api/v1/lists/:id", (world, _, { id }) => ok(record(world, existing(world.lists, id)))),
  write("PATCH /api/v1/lists/:id", "content:write", patch),
  write("DELETE /api/v1/lists/:id", "content:write", remove),
  read("GET /api/v1/lists/:id/subscribers", members),
  write("POST /api/v1/lists/:id/subscribers", "subscribers:write", add),
  write("POST /api/v1/lists/:id/subscribers/remove", "subscribers:write", removeMembers),
];
