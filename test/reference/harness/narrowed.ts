// Lists narrowed by what they show: each filter leaves just those of the whole list that show its value, on every page.
import { randomFrom } from "../../simulator/random.ts";
import type { Body } from "../model/kit.ts";
import { USED_UP } from "./compare.ts";
import { type Failure, type Sides, short } from "./sides.ts";

type Query = Record<string, string>;
/** Undefined: the requests of its minute are used up. */
type ReadRows = (path: string, query?: Query, as?: string) => Promise<Body[] | undefined>;
type Differs = (path: string, query: Query, expected: Body[], got: Body[]) => Failure;

const readerOf =
  ({ product, counted }: Sides): ReadRows =>
  async (path, query = {}, as = "owner") => {
    const items: Body[] = [];
    for (let cursor = ""; ; ) {
      const more: Query = cursor === "" ? {} : { cursor };
      const size: Query = path.includes("/lists/") ? {} : { limit: query.limit ?? "3" };
      const sent = { method: "GET", path, query: { ...query, ...size, ...more }, body: undefined, headers: {}, as };
      const { status, body } = await product.call(sent);
      counted.calls++;
      if (status === USED_UP) return undefined;
      if (status !== 200) throw new Error(`${path} ${short(query)} → ${status} ${short(body)}`);
      items.push(...body.items);
      cursor = body.next_cursor;
      if (cursor === "") return items;
    }
  };

const texts = (items: Body[]) => items.map((item) => JSON.stringify(item)).sort();

export async function compareNarrowed(sides: Sides, command: number): Promise<Failure | undefined> {
  const read = readerOf(sides);
  const differs: Differs = (path, query, expected, got) => ({
    ...{ path: `.items of ${short(query)}`, expected, got, command },
    route: `GET ${path.replace(/[\w]+-[\w-]+/g, ":id")}`,
  });
  return (
    (await ofRecipients(sides, read, differs)) ??
    (await ofSends(sides, read, differs)) ??
    (await ofMembers(sides, read, differs)) ??
    (await ofServers(sides, read, differs)) ??
    (await ofPages(sides, read, differs))
  );
}

/** Reads what a filter leaves, and holds it against those of the whole list that it should leave. */
async function leaves(read: ReadRows, differs: Differs, path: string, query: Query, expected: Body[]) {
  const got = await read(path, query);
  if (!got || texts(got).join() === texts(expected).join()) return undefined;
  return differs(path, query, expected, got);
}

const drawn = ({ reference: { world } }: Sides) => randomFrom(Math.floor(world.now / 1000) + world.calls.length);

/** A recipient in a state counts for the channels that are in it too. */
const hasChannel = ({ channel, channels }: Body, { channel: asked, state }: Query): boolean =>
  channel === asked ||
  channels.some((one: Body) => one.channel === asked && (state === undefined || one.state === state));

async function ofRecipients(sides: Sides, read: ReadRows, differs: Differs) {
  const random = drawn(sides);
  const { reference, bindings } = sides;
  const told = reference.world.jobs.flatMap(({ id, spec }) => (spec.confirms ? [] : (bindings.product.get(id) ?? [])));
  for (const id of random.some(told, 3)) {
    const path = `/api/v1/notifications/${id}/recipients`;
    const all = await read(path);
    const [one, other] = random.some(all ?? [], 2);
    if (!all || !one) continue;
    const queries: Body[] = [{ reason: one.reason }, { channel: one.channel }];
    queries.push({ state: one.state, reason: one.reason }, { state: one.state, channel: (other ?? one).channel });
    for (const query of queries) {
      if (Object.values(query).includes(null)) continue;
      const isWanted = (item: Body) =>
        (query.state === undefined || item.state === query.state) &&
        (query.reason === undefined || item.reason === query.reason) &&
        (query.channel === undefined || hasChannel(item, query));
      const failure = await leaves(read, differs, path, query, all.filter(isWanted));
      if (failure) return failure;
    }
  }
  return undefined;
}

/** By a part of the name or of the title, as the send shows them; a send by a template shows no title. */
async function ofSends(sides: Sides, read: ReadRows, differs: Differs) {
  const path = "/api/v1/notifications";
  const all = (await read(path)) ?? [];
  const told = ({ name, title, content }: Body) => [name, title, content?.title].filter((text) => text);
  const [text] = drawn(sides).some(all.flatMap(told), 1);
  if (!text) return undefined;
  const q = text.slice(1, 5).toUpperCase();
  const got = (await read(path, { q })) ?? [];
  const isIn = (item: Body) => told(item).some((one: string) => one.toUpperCase().includes(q));
  const missing = all.filter((item) => isIn(item) && !got.some(({ id }) => id === item.id));
  return missing.length > 0 ? differs(path, { q }, missing, got) : undefined;
}

/** Of a list, and of all who are found so, its members. */
async function ofMembers(sides: Sides, read: ReadRows, differs: Differs) {
  const random = drawn(sides);
  const { reference, bindings } = sides;
  const [list] = random.some(reference.world.lists, 1);
  const known = reference.world.subscribers.flatMap(({ external_id, email }) => [external_id, email ?? external_id]);
  const [text] = random.some(known, 1);
  if (!list || !text) return undefined;
  const path = `/api/v1/lists/${bindings.product.get(list.id)}/subscribers`;
  const q = text.slice(0, random.between(1, 3));
  const [members, found] = [await read(path), await read("/api/v1/subscribers", { q })];
  if (!members || !found) return undefined;
  const expected = members.filter((member) => found.some(({ id }) => id === member.subscriber_id));
  return leaves(read, differs, path, { q }, expected);
}

/** A longer list takes more small pages than a minute has requests for. */
const MAX_PAGED = 60;

/** Lists of a workspace that go on by a cursor. */
const PAGED = ["/api/v1/subscribers", "/api/v1/suppressions", "/api/v1/exports", "/api/v1/lists/import"];

/** A list is the same on small pages as on large ones, in its order. */
async function ofPages(sides: Sides, read: ReadRows, differs: Differs) {
  const random = drawn(sides);
  const { reference, bindings } = sides;
  const { subscribers, hooks } = reference.world;
  const told = (things: { id: string }[]) =>
    drawn(sides).some(
      things.flatMap(({ id }) => bindings.product.get(id) ?? []),
      1,
    );
  const lists: [string, Query][] = [
    ...told(subscribers).map((id): [string, Query] => [`/api/v1/subscribers/${id}/timeline`, {}]),
    ...told(hooks).flatMap((id): [string, Query][] =>
      [{}, { missing: "true" }].map((query): [string, Query] => [`/api/v1/webhooks/${id}/deliveries`, query]),
    ),
    ...PAGED.map((path): [string, Query] => [path, {}]),
  ];
  for (const [path, query] of lists) {
    const large = (await read(path, { ...query, limit: "100" })) ?? [];
    if (large.length > MAX_PAGED) continue;
    for (const limit of ["1", "2", "3"].slice(-random.between(1, 3))) {
      const small = (await read(path, { ...query, limit })) ?? large;
      if (JSON.stringify(large) !== JSON.stringify(small)) return differs(path, { ...query, limit }, large, small);
    }
  }
  return undefined;
}

/** A server key finds the same people as the dashboard. */
async function ofServers(sides: Sides, read: ReadRows, differs: Differs) {
  const random = drawn(sides);
  const [one] = random.some(sides.reference.world.subscribers, 1);
  if (!one) return undefined;
  const queries: Query[] = [
    { external_id: one.external_id },
    { updated_since: new Date(one.updated_at).toISOString() },
  ];
  if (one.email) queries.push({ email: one.email.toUpperCase() });
  for (const query of queries) {
    const [expected, got] = [await read("/api/v1/subscribers", query), await read("/v1/subscribers", query, "server")];
    const ids = (items: Body[]) => items.map(({ id }) => id).join();
    if (expected && got && ids(expected) !== ids(got)) return differs("/v1/subscribers", query, expected, got);
  }
  return undefined;
}
