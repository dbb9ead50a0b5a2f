// Everything about a subscriber, page by page: the profile first, then the inbox, then what happened (F14).
import * as v from "valibot";
import { cursorsOf, pageRoom } from "../../contract/paging.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { StoreReader } from "../context.ts";
import type { Visibility } from "../experiences/visibility.ts";
import { Converted } from "../insights/items.ts";
import type { RootSecrets } from "../secrets.ts";
import { InboxMessage, listMessages } from "../sends/inbox/inbox.ts";
import { aliasesOf } from "./aliases.ts";
import { consentsOf } from "./consent-history.ts";
import { Consent } from "./consents.ts";
import { readProfile, SubscriberProfile } from "./profile.ts";
import { getProfile } from "./subscribers.ts";
import { timelineOf } from "./timeline.ts";
import { TimelineEntry, timelineKinds } from "./timeline-entries.ts";

/** Messages and entries of a page; their bytes may end it before. */
const PAGE_ENTRIES = 200;

/** What a page has nothing of is absent. */
export const SubscriberExport = titled("SubscriberExport", {
  exported_at: said("When this page was read", Timestamp),
  subscriber: said("Who it is, with devices, topics, and all lists and segments", v.optional(SubscriberProfile)),
  anonymous_ids: v.optional(said("Ids of the visitor that it was before it was identified", v.array(v.string()))),
  consents: v.optional(
    said("The whole history of consents, newest first; of a long one, on several pages", v.array(Consent)),
  ),
  conversions: v.optional(said("Sends and sources after which the subscriber converted", v.array(v.string()))),
  inbox: said(
    "Messages of the inbox with their texts, newest first, also those that the inbox shows no more",
    v.array(InboxMessage),
  ),
  history: said(
    "What happened: sends, events with their properties, journeys, segments, lists and devices",
    v.array(TimelineEntry),
  ),
  next_cursor: v.string(),
});
type SubscriberExport = v.InferInput<typeof SubscriberExport>;

/** Where a page begins: behind a consent, below a message of the inbox, or at a page of the history. */
const Position = v.union([
  v.object({ consents: v.string() }),
  v.object({ inbox: v.string() }),
  v.object({ history: v.string() }),
]);

/** Messages that are hidden or recalled are data about the subscriber, too. */
const everything: Visibility = { look: async () => undefined, shows: () => true, hidden: () => [] };

/** @throws 404 if the subscriber does not exist or was erased meanwhile. */
export async function exportSubscriber(
  store: StoreReader,
  secrets: RootSecrets,
  id: string,
  cursor: string | undefined,
): Promise<SubscriberExport> {
  const cursors = cursorsOf(secrets, `export:${store.tenant}:${id}`, Position);
  const position = cursors.open(cursor);
  const [profile, person] = await Promise.all([
    getProfile(store, id),
    cursor === undefined ? readProfile(store, id, { isWhole: true }) : undefined,
  ]);
  if (!profile || (!person && cursor === undefined)) throw notFound("subscriber");
  const page = { exported_at: timestamp(store.clock.now()), inbox: [], history: [] };
  if (position && "history" in position) {
    const before = position.history === "" ? undefined : position.history;
    const query = { kinds: timelineKinds, limit: PAGE_ENTRIES, cursor: before };
    const { items: history, next_cursor: next } = await timelineOf(store, secrets, id, query);
    return { ...page, history, next_cursor: cursors.seal(next === "" ? undefined : { history: next }) };
  }
  if (position && "consents" in position) {
    const { items: consents, next } = await consentsOf(store, profile, position.consents);
    return { ...page, consents, next_cursor: cursors.seal(next === undefined ? { inbox: "" } : { consents: next }) };
  }
  const takes = pageRoom();
  let isFull = false;
  const inbox = await listMessages(store, id, {
    limit: PAGE_ENTRIES,
    takes: (message) => {
      isFull ||= !takes(message);
      return !isFull;
    },
    visibility: everything,
    withExpired: true,
    before: position?.inbox || undefined,
  });
  const last = inbox.at(-1);
  const hasMore = last && (isFull || inbox.length === PAGE_ENTRIES);
  const next_cursor = cursors.seal(hasMore ? { inbox: last.id } : { history: "" });
  if (position) return { ...page, inbox, next_cursor };
  const [anonymous_ids, consents, conversions] = await Promise.all([
    aliasesOf(store, id),
    consentsOf(store, profile),
    store.queryAll(Converted, { subscriber: id }, { eventual: true }),
  ]);
  const sources = conversions.map(({ sk }) => sk.slice("X#".length));
  const first = { ...page, subscriber: person, anonymous_ids, consents: consents.items, conversions: sources };
  if (consents.next === undefined) return { ...first, inbox, next_cursor };
  return { ...first, next_cursor: cursors.seal({ consents: consents.next }) };
}
