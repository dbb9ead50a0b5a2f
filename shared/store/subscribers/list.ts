// Subscribers newest first: sixteen sorted shards of a sparse index, merged (D-SUB-LIST,
// docs/decisions/0021#subscriber-listing).
import * as v from "valibot";
import { cursorsOf, pageRoom } from "../../contract/paging.ts";
import { byText } from "../../kernel/order.ts";
import { isPhoneNumber } from "../../rules/contacts.ts";
import { isDialed, numbersDialed } from "../../rules/dialed.ts";
import type { StoreReader } from "../context.ts";
import type { RowOf } from "../item.ts";
import type { RootSecrets } from "../secrets.ts";
import { newestOfShards, wantedPage } from "../sorted.ts";
import { SubscribersByAge } from "./items.ts";
import { findByPhone } from "./phones.ts";
import { isFoundBy, ownersOfEmail, searchSubscribers } from "./search.ts";
import { findByExternalId, getProfiles, type LivingProfile, type Subscriber, subscriberOf } from "./subscribers.ts";

interface SubscriberQuery {
  limit: number;
  cursor?: string | undefined;
  updated_since?: string | undefined;
  external_id?: string | undefined;
  email?: string | undefined;
  /** The beginning of the external id, the email address, the last name or the full name; or the phone number. */
  q?: string | undefined;
}

interface SubscriberPage {
  items: Subscriber[];
  /** Empty on the last page. */
  next_cursor: string;
}

/** Rows read for one page. A selective filter gives a short page and a cursor. */
const MAX_EXAMINED = 5_000;
/** Subscribers read beside the index of addresses, which does not have the newest ones yet. */
const NEWEST = 20;

/**
 * A page of subscribers, newest first; with `q` in the order of what was found.
 * @param region where numbers without a country code are dialed
 */
export async function listSubscribers(
  store: StoreReader,
  secrets: RootSecrets,
  query: SubscriberQuery,
  region: () => Promise<string | null | undefined> = async () => undefined,
): Promise<SubscriberPage> {
  const isWanted = matches(query);
  const { q, external_id } = query;
  const owners = q === undefined ? [] : await ownersOfPhone(store, q, region);
  if (external_id !== undefined) {
    const profile = await findByExternalId(store, secrets, external_id);
    const isFound =
      profile !== undefined &&
      (q === undefined || (owners.length > 0 ? owners.some(({ id }) => id === profile.id) : isFoundBy(profile, q)));
    return { items: isFound ? subscribersIn(profile).filter(isWanted) : [], next_cursor: "" };
  }
  if (owners.length > 0) return pageOfOwners(owners.filter(isWanted), store, secrets, query);

  const indexed = query.email === undefined ? undefined : await ownersOfEmail(store, query.email);
  if (q !== undefined) {
    if (!indexed) return searchSubscribers(store, secrets, { ...query, q }, isWanted);
    const found = indexed.filter((profile) => isFoundBy(profile, q)).map(subscriberOf);
    return pageOfOwners(found.filter(isWanted), store, secrets, query);
  }

  const cursors = cursorsByAge(store, secrets);
  const nextRows = newestOfShards(
    {
      query: (shard, range) => store.query(SubscribersByAge, { shard }, range),
      positionOf: ({ i2sk }: RowOf<typeof SubscribersByAge>) => i2sk,
    },
    cursors.open(query.cursor),
    query.limit,
  );
  const examine = async (count: number) => {
    const places = (await nextRows(count)).map(({ i2sk }) => i2sk);
    const profiles = await getProfiles(store, places.map(idOf), { eventual: true });
    return places.map((place, i) => ({ place, found: subscribersIn(profiles[i]).find(isWanted) }));
  };
  if (indexed) {
    const newest = (await examine(NEWEST)).flatMap(({ found }) => found ?? []);
    const owners = new Map(
      [...indexed.map(subscriberOf).filter(isWanted), ...newest].map((owner) => [owner.id, owner]),
    );
    if (owners.size > 0) return pageOfOwners([...owners.values()], store, secrets, query);
  }
  return wantedPage({ cursors, limit: query.limit, max: MAX_EXAMINED }, examine);
}

const cursorsByAge = ({ tenant }: Pick<StoreReader, "tenant">, secrets: RootSecrets, of = "") =>
  cursorsOf(secrets, `subscribers:${tenant}${of}`, Position);

/** The subscribers with a number, in any spacing, and with or without its country code. */
async function ownersOfPhone(
  store: StoreReader,
  q: string,
  region: () => Promise<string | null | undefined>,
): Promise<Subscriber[]> {
  const text = q.replaceAll(/[\s()./-]/g, "");
  const dialed = isDialed(text) ? numbersDialed(text, await region()) : [];
  const numbers = isPhoneNumber(text) ? [text] : dialed;
  const owners = await Promise.all(numbers.map((number) => findByPhone(store, number)));
  const profiles = await getProfiles(store, owners.flat(), { eventual: true });
  return profiles.flatMap(subscribersIn);
}

/** The owners of a number or of an address, newest first. */
function pageOfOwners(
  owners: readonly Subscriber[],
  store: Pick<StoreReader, "tenant">,
  secrets: RootSecrets,
  { q, email, limit, cursor }: SubscriberQuery,
): SubscriberPage {
  // Without `q` a page may be one of all that were read, and the next one of those.
  const cursors = cursorsByAge(store, secrets, q === undefined ? "" : `:owners:${JSON.stringify([q, email])}`);
  const before = cursors.open(cursor) ?? "~";
  const positionOf = ({ created_at, id }: Subscriber) => `${created_at}#${id}`;
  const open = owners
    .filter((owner) => positionOf(owner) < before)
    .sort(byText(positionOf))
    .reverse();
  const takes = pageRoom();
  const end = open.findIndex((owner, i) => i === limit || !takes(owner));
  const items = end < 0 ? open : open.slice(0, end);
  const last = items.at(-1);
  return { items, next_cursor: cursors.seal(last && end >= 0 ? positionOf(last) : undefined) };
}

const subscribersIn = (profile: LivingProfile | undefined): Subscriber[] => (profile ? [subscriberOf(profile)] : []);

const Position = v.pipe(v.string(), v.regex(/^[0-9T:.Z-]{24}#[0-9a-f-]{36}$/));

const matches =
  ({ updated_since, email }: SubscriberQuery) =>
  (subscriber: Subscriber) =>
    (updated_since === undefined || subscriber.updated_at >= updated_since) &&
    (email === undefined || subscriber.email?.toLowerCase() === email.toLowerCase());

const idOf = (position: string) => position.slice(position.indexOf("#") + 1);
