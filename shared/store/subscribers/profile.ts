// A subscriber on its page: its attributes, devices, consents, lists and segments.
import * as v from "valibot";
import { Timestamp, titled } from "../../contract/schemas.ts";
import { consentChannels } from "../../rules/channel-types.ts";
import { consentStatuses } from "../../rules/topics.ts";
import { is } from "../conditions.ts";
import type { StoreReader } from "../context.ts";
import { idKeys } from "../item.ts";
import { ListItem, ListMembership, SegmentMembership } from "../lists/items.ts";
import { SegmentItem } from "../segments/items.ts";
import { staticMembershipsOf } from "../segments/static-memberships.ts";
import { Preference, preferencesOf } from "../topics/preferences.ts";
import { listTopics } from "../topics/topics.ts";
import { type Addresses, addressesOf, consentNow } from "./addresses.ts";
import { Device, devicesOf } from "./devices.ts";
import { getProfile, type LivingProfile, Subscriber, subscriberOf } from "./subscribers.ts";

/** Memberships that a profile shows of each kind: the newest lists and segments. */
export const MAX_MEMBERSHIPS = 100;

const CurrentConsent = v.object({ channel: v.string(), status: v.picklist(consentStatuses), consented_at: Timestamp });
const Membership = v.object({ id: v.string(), name: v.string(), entered_at: Timestamp });

export const SubscriberProfile = titled("SubscriberProfile", {
  ...Subscriber.entries,
  devices: v.array(Device),
  /** The effective consent on each channel: of the person, or of the present address. */
  consents: v.array(CurrentConsent),
  topics: v.array(Preference),
  lists: v.array(Membership),
  segments: v.array(Membership),
});
type SubscriberProfile = v.InferOutput<typeof SubscriberProfile>;

/**
 * Undefined if there is no such subscriber or it was erased.
 * @param isWhole with all of its lists and segments, and not the newest alone
 */
export async function readProfile(
  store: StoreReader,
  id: string,
  { isWhole = false }: { isWhole?: boolean } = {},
): Promise<SubscriberProfile | undefined> {
  const profile = await getProfile(store, id);
  if (!profile) return undefined;
  const [[addresses = {}], devices, lists, segments, topics] = await Promise.all([
    addressesOf(store, [profile]),
    devicesOf(store, id),
    listsOf(store, id, isWhole),
    segmentsOf(store, id, isWhole),
    listTopics(store),
  ]);
  return {
    ...subscriberOf(profile),
    devices,
    consents: currentConsents(profile, addresses),
    topics: preferencesOf(profile, topics),
    lists,
    segments,
  };
}

function currentConsents(profile: LivingProfile, addresses: Addresses) {
  return consentChannels.flatMap((channel) => {
    const now = consentNow(profile, addresses, channel);
    return now ? [{ channel, status: now.status, consented_at: now.at }] : [];
  });
}

async function listsOf(store: StoreReader, subscriber: string, isWhole: boolean) {
  const range = { newestFirst: true, eventual: true };
  const items = isWhole
    ? await store.queryAll(ListMembership, { subscriber }, range)
    : (await store.query(ListMembership, { subscriber }, { ...range, limit: MAX_MEMBERSHIPS })).items;
  const ids = items.map(({ list_id }) => list_id);
  const rows = await store.getAll(ListItem, idKeys(ids), { eventual: true });
  return named(items, rows);
}

/** Dynamic segments by the rows of the subscriber, static ones by their leaves; the newest of both. */
async function segmentsOf(store: StoreReader, subscriber: string, isWhole: boolean) {
  const shown = isWhole ? undefined : MAX_MEMBERSHIPS;
  // Left memberships are in between: a page may have only these.
  const range = { newestFirst: true, eventual: true, filter: is("member", true) };
  const [present, inLeaves] = await Promise.all([
    store.queryAll(SegmentMembership, { subscriber }, range),
    staticMembershipsOf(store, subscriber, { isWhole }),
  ]);
  const items = present.slice(0, shown);
  const ids = items.map(({ segment_id }) => segment_id);
  const rows = await store.getAll(SegmentItem, idKeys(ids), { eventual: true });
  const others = inLeaves.map(({ segment: { id, name }, entered_at }) => ({ id, name, entered_at }));
  return [...named(items, rows), ...others].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, shown);
}

/** A group that was deleted is left out, though its memberships may still be there. */
const named = (
  memberships: readonly { entered_at: string }[],
  groups: readonly ({ id: string; name: string } | undefined)[],
) =>
  memberships.flatMap(({ entered_at }, i) => {
    const found = groups[i];
    return found ? [{ id: found.id, name: found.name, entered_at }] : [];
  });
