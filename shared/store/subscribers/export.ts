// All data about a subscriber, page by page: the profile first, then the inbox, opens and clicks, and events (F14).
import * as v from "valibot";
import { cursorsOf, pageRoom } from "../../contract/paging.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { notFound } from "../../kernel/errors.ts";
import type { StoreReader } from "../context.ts";
import type { Visibility } from "../experiences/visibility.ts";
import { familyOf } from "../families.ts";
import { Converted } from "../insights/items.ts";
import { keyOf } from "../item.ts";
import type { RootSecrets } from "../secrets.ts";
import { InboxMessage, listMessages } from "../sends/inbox/inbox.ts";
import { Engagement } from "../sends/interactions/items.ts";
import { aliasesOf } from "./aliases.ts";
import { consentsOf, LiftedSuppression } from "./consent-history.ts";
import { Consent } from "./consents.ts";
import { answersOf } from "./engagement.ts";
import { readProfile, SubscriberProfile } from "./profile.ts";
import { getProfile } from "./subscribers.ts";
import { timelineOf } from "./timeline.ts";
import { TimelineEntry, timelineKinds } from "./timeline-entries.ts";

/** Messages and entries of a page; their bytes may end it before. */
const PAGE_ENTRIES = 200;

/** Rows of opens and clicks on a page. */
const PAGE_ENGAGEMENT = 500;

const SendEngagement = titled("SendEngagement", {
  notification_id: v.string(),
  first: said(
    "When it was opened, followed and answered first, by stage, and by stage and channel: `opened@email`",
    v.record(v.string(), Timestamp),
  ),
  links: said(
    "Links of the mail that were followed, by their position",
    v.array(v.object({ position: v.number(), followed_at: said("When it was followed last", Timestamp) })),
  ),
});

/** A part without data on the page is absent. */
export const SubscriberExport = titled("SubscriberExport", {
  exported_at: said("When this page was read", Timestamp),
  subscriber: said("Who it is, with devices, topics, and all lists and segments", v.optional(SubscriberProfile)),
  anonymous_ids: v.optional(said("Ids of the visitor that it was before it was identified", v.array(v.string()))),
  consents: v.optional(
    said("The whole history of consents, newest first; of a long one, on several pages", v.array(Consent)),
  ),
  lifted: v.optional(
    said("Of its present addresses, the suppressions that were lifted last, and why", v.array(LiftedSuppression)),
  ),
  conversions: v.optional(said("Sends and sources after which the subscriber converted", v.array(v.string()))),
  inbox: said(
    "Messages of the inbox with their texts, newest first, also those that the inbox shows no more",
    v.array(InboxMessage),
  ),
  engagement: v.optional(
    said(
      "What was done with each send, in no order of time; after the inbox, on pages of its own",
      v.array(SendEngagement),
    ),
  ),
  answers: v.optional(
    said(
      "How often messages were answered in a week, by class of channels, as far as it is still counted",
      v.array(
        v.object({ class: v.string(), week_start: said("When the week begins, in UTC", Timestamp), count: v.number() }),
      ),
    ),
  ),
  history: said(
    "What happened: sends, events with their properties, journeys, segments, lists and devices",
    v.array(TimelineEntry),
  ),
  next_cursor: v.string(),
});
type SubscriberExport = v.InferInput<typeof SubscriberExport>;

/** Where a page begins: behind a consent, below a message of the inbox, behind a send, or at a page of the history. */
const Position = v.union([
  v.object({ consents: v.string() }),
  v.object({ inbox: v.string() }),
  v.object({ engagement: v.string() }),
  v.object({ history: v.string() }),
]);

/** Messages that are hidden or recalled are data about the subscriber, too. */
const everything: Visibility = { look: async () => undefined, shows: () => true, hidden: () => [] };

/** Exports a subscriber. @throws 404 if it does not exist or was erased in the meantime */
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
  if (position && "engagement" in position) {
    const { engagement, next } = await engagementOf(store, id, position.engagement);
    return {
      ...page,
      engagement,
      next_cursor: cursors.seal(next === undefined ? { history: "" } : { engagement: next }),
    };
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
  const next_cursor = cursors.seal(hasMore ? { inbox: last.id } : { engagement: "" });
  if (position) return { ...page, inbox, next_cursor };

  const [anonymous_ids, consents, conversions, answers] = await Promise.all([
    aliasesOf(store, id),
    consentsOf(store, profile),
    store.queryAll(Converted, { subscriber: id }, { eventual: true }),
    answersOf(store, id),
  ]);
  const sources = conversions.map(({ sk }) => sk.slice("X#".length));
  const first = {
    ...page,
    subscriber: person,
    anonymous_ids,
    consents: consents.items,
    lifted: consents.lifted,
    conversions: sources,
    answers,
  };
  if (consents.next === undefined) return { ...first, inbox, next_cursor };
  return { ...first, next_cursor: cursors.seal({ consents: consents.next }) };
}

/** @param after the send after which the page begins; empty for the first page */
async function engagementOf(store: StoreReader, subscriber: string, after: string) {
  const position = after === "" ? undefined : keyOf(Engagement, store.tenant, { subscriber, job: after });
  const { items, next } = await store.query(Engagement, { subscriber }, { limit: PAGE_ENGAGEMENT, after: position });
  const jobOf = ({ sk }: { sk: string }) => sk.slice("E#".length);
  const engagement = items.map((row) => ({
    notification_id: jobOf(row),
    first: Object.fromEntries(Object.entries(row).flatMap(([name, at]) => (isStage(name) ? [[name, String(at)]] : []))),
    links: familyOf(row, "l:").map(([n, at]) => ({ position: Number(n), followed_at: timestamp(at) })),
  }));
  return { engagement, next: next && jobOf(next) };
}

const isStage = (name: string): boolean => /^(reached|opened|clicked|answered)/.test(name);
