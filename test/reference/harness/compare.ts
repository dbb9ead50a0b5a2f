// Reads answers of the product and holds them against those of the reference.
import type { PageListing } from "../model/checks.ts";
import { ANY, type Answer, type Body, iso, OneOf, Unordered } from "../model/kit.ts";
import type { ComparedRead } from "./looks.ts";
import { credentialOf, type ProductCall } from "./product.ts";
import { asWritten } from "./sandbox.ts";
import { type Failure, type Sides, short, tell } from "./sides.ts";
import { stillness } from "./storm.ts";
import { type Difference, differenceOf } from "./unify.ts";

/** Of the answers that should be as they were, one of so many is read anyway. */
const UNCHANGED_READ = 6;

/** The requests of the minute were used up by what was read before. */
export const USED_UP = 429;

export async function compare(
  sides: Sides,
  expected: Answer,
  got: { status: number; body: Body },
  sent: ProductCall,
): Promise<Difference | undefined> {
  const { bindings } = sides;
  if (expected.status !== got.status)
    return {
      path: "status",
      expected: `${expected.status} ${short(expected.body)}`,
      got: `${got.status} ${short(got.body)}`,
    };
  const listing: PageListing | undefined = expected.body?.listing;
  if (!listing) return expected.body === undefined ? undefined : differenceOf(bindings, expected.body, got.body);
  return compareListing(sides, listing, got.body, sent);
}

/** Reads every page of the product: none over its size, no item twice, together what the reference has. */
async function compareListing(
  sides: Sides,
  listing: PageListing,
  first: Body,
  sent: ProductCall,
): Promise<Difference | undefined> {
  const { key, size, total } = listing;
  const items: Body[] = [];
  let page = first;
  for (let number = 1; ; number++) {
    const rows: Body[] = page[key];
    if (!Array.isArray(rows) || rows.length > size)
      return { path: `page ${number}`, expected: `at most ${size} rows`, got: rows };
    items.push(...rows);
    const isPaged = total !== undefined;
    if (isPaged && page.total !== total) return { path: ".total", expected: total, got: page.total };
    if (isPaged ? number * size >= total : page.next_cursor === "") break;
    if (number > 500) return { path: "pages", expected: "an end", got: number };
    const cursor = sent.path.endsWith("/activity") ? "after" : "cursor";
    const more: Record<string, string> = isPaged ? { page: String(number + 1) } : { [cursor]: page.next_cursor };
    const next = await sides.product.call({ ...sent, query: { ...sent.query, ...more } });
    sides.counted.calls++;
    if (next.status === USED_UP) return undefined;
    if (next.status !== 200) return { path: `page ${number + 1}`, expected: 200, got: next };
    page = next.body;
  }
  return differenceOf(sides.bindings, listing.items, items, `.${key}`);
}

export async function lookAt(sides: Sides, looks: ComparedRead[], number: number): Promise<Failure | undefined> {
  const { product, reference, bindings } = sides;
  const theirs = (text: string) => text.replace(/#\w+-\d+/g, (id) => bindings.product.get(id) ?? id);
  for (const { path, query = {}, as = "owner" } of looks) {
    const request = { method: "GET", headers: {}, body: undefined };
    const expected = reference.call({ ...request, as: credentialOf(as), path, query, given: undefined });
    if (isSpared(sides, `${path} ${JSON.stringify(query)}`, expected)) continue;
    const translated = Object.fromEntries(Object.entries(query).map(([key, value]) => [key, theirs(value)]));
    const sent = { ...request, as, path: theirs(path), query: translated };
    // A storm may make something that no list has named yet: there is nothing to ask by.
    if (sides.storm && `${sent.path} ${Object.values(translated).join()}`.match(/#[a-z]+-\d/)) continue;
    const got = await product.call(sent);
    sides.counted.calls++;
    if (got.status === USED_UP) continue;
    const difference = await compare(sides, expected, got, sent);
    if (!difference) continue;
    tell(sides, `${as}: GET ${sent.path} ${short(query)} → ${got.status} ${JSON.stringify(got.body)}`);
    const route = `GET ${path.replace(/#\w+-\d+/g, ":id")}`;
    return { ...difference, command: number, route };
  }
  return undefined;
}

/** What should be as it was, and has been seen so, is read again only now and then. */
function isSpared({ seen, counted, readsAll }: Sides, name: string, expected: Answer): boolean {
  const text = JSON.stringify(expected, (_, value) => (typeof value === "symbol" ? String(value) : value));
  const isAsBefore = seen.get(name) === text;
  seen.set(name, text);
  if (readsAll || !isAsBefore) return false;
  counted.spared++;
  return counted.spared % UNCHANGED_READ !== 0;
}

/** HTML keeps no space at the end. */
const trimmed = (text: Body): Body => (typeof text === "string" ? text.trim() : text);

/** Texts and addresses of everything that was handed to a provider. */
export async function outbox(
  { product, reference, bindings, storm }: Sides,
  command: number,
): Promise<Failure | undefined> {
  const got = await product.outbox();
  const ofJourneys = new Set(
    reference.world.jobs.filter(({ source }) => source.type === "journey").map(({ id }) => id),
  );
  const expected = reference.world.outbox.map(({ at, links, category, confirms, topic: _, ...sent }) => ({
    ...{
      ...sent,
      at: iso(at),
      body: trimmed(sent.body),
      title: sent.title === "" ? new OneOf(["", null]) : sent.title,
    },
    // No answer tells the sends of journeys: of two at one instant, which is which stays open.
    ...((confirms || ofJourneys.has(sent.job_id)) && { job_id: ANY }),
  }));
  const known = new Set(reference.world.subscribers.map(({ id }) => id));
  const living = expected.filter(({ subscriber_id }) => known.has(subscriber_id));
  const gone = [...bindings.product].filter(([ours]) => ours.startsWith("#sub-") && !known.has(ours));
  const left = got.find((item) => gone.some(([, id]) => JSON.stringify(item).includes(id)));
  // SUB-10: a sandbox keeps what it would have sent, and forgets with the rest.
  if (storm === stillness && left)
    return { path: "of the erased", expected: "nothing", got: left, command, route: "outbox" };
  const theirs = new Set(living.map(({ subscriber_id }) => bindings.product.get(subscriber_id)));
  const difference = differenceOf(
    bindings,
    new Unordered(living),
    got
      .filter((item) => theirs.has(item.subscriber_id))
      .map(asWritten)
      .map((item) => ({ ...item, body: trimmed(item.body) })),
  );
  return difference && { ...difference, command, route: "outbox" };
}
