// The preferences of a subscriber (TPC-3): a choice is a consent, so that its history, its erasure and its purge are
// those of consents (docs/decisions/0038).
import * as v from "valibot";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { chunksOf } from "../../rules/chunks.ts";
import { consentChannelOf, isInTopic } from "../../rules/topics.ts";
import { all, asRead } from "../conditions.ts";
import type { Store } from "../context.ts";
import { familyOf } from "../families.ts";
import { type ConditionOf, changeItem } from "../item.ts";
import { busy, contended, done, transacted, untilUncontended } from "../refusals.ts";
import { mailAddressId } from "../subscribers/address-items.ts";
import { type ConsentAssertion, confirmedAsRead, consentChange, consentWrite } from "../subscribers/consents.ts";
import { isAlive, Profile } from "../subscribers/items.ts";
import { getProfile, type LivingProfile } from "../subscribers/subscribers.ts";
import { topicFields } from "./items.ts";
import type { Topic } from "./topics.ts";

/** Choices of one transaction, which holds a row of the history for each, and the profile: as many as it takes. */
const CHOICES_AT_ONCE = 99;

export const Preference = titled("Preference", {
  key: topicFields.key,
  name: topicFields.name,
  description: topicFields.description,
  default: topicFields.default,
  status: said(
    "Whether the subscriber is in the topic: by the newest choice, else by the default",
    v.picklist(["opted_in", "opted_out"]),
  ),
  consented_at: said("When it was chosen; `null` while the default decides", v.nullable(Timestamp)),
});
export type Preference = v.InferOutput<typeof Preference>;

export type Choices = Readonly<Record<string, "opted_in" | "opted_out">>;

/** The topics of the workspace as a subscriber has them. */
export function preferencesOf(profile: LivingProfile, topics: readonly Topic[]): Preference[] {
  const consents = Object.fromEntries(familyOf(profile, "c:"));
  const times = new Map<string, string>(familyOf(profile, "ct:"));
  return topics.map((topic) => ({
    key: topic.key,
    name: topic.name,
    description: topic.description,
    default: topic.default,
    status: isInTopic(consents, topic) ? "opted_in" : "opted_out",
    consented_at: times.get(consentChannelOf(topic.key)) ?? null,
  }));
}

/** The keys of topics that need a confirmation to opt in. */
export const askingOf = (topics: readonly Topic[]): ReadonlySet<string> =>
  new Set(topics.filter(({ double_opt_in }) => double_opt_in).map(({ key }) => key));

interface PreferenceChange {
  source: string;
  asking: ReadonlySet<string>;
  /** The id of the address whose owner chooses: that confirms, while it is the subscriber's (AMB-129). */
  owned?: string | undefined;
}

/** How often choices are read again while others are made. */
const MAX_ATTEMPTS = 8;

/**
 * Records choices of a subscriber, now. A choice that is the newest one already changes nothing. A choice is written on
 * those that were read: a late request of a process that is gone replaces none that was made after it.
 * @param read the subscriber as it was read, which is read again only if others chose meanwhile: a profile may be large
 * @param choices by the keys of topics that exist
 * @returns the subscriber after it; undefined if it is not there any more
 * @throws 503 while others are made again and again
 */
export async function choose(
  store: Store,
  read: LivingProfile,
  choices: Choices,
  choosing: PreferenceChange,
): Promise<LivingProfile | undefined> {
  let profile: LivingProfile | undefined = read;
  return untilUncontended(
    busy.unavailable("Other choices are made at the moment. Try again."),
    async () => {
      if (!profile) return done(undefined);
      const outcome = await record(store, profile, choices, choosing);
      if (outcome.kind === "recorded") return done(outcome.profile);
      profile = await getProfile(store, read.id);
      return contended;
    },
    MAX_ATTEMPTS,
  );
}

type RecordResult =
  | { kind: "recorded"; profile: LivingProfile }
  /** One of them was chosen again since the profile was read, or the subscriber was erased. */
  | { kind: "chosen meanwhile" };

async function record(
  store: Store,
  profile: LivingProfile,
  choices: Choices,
  { source, asking, owned }: PreferenceChange,
): Promise<RecordResult> {
  const current = new Map<string, string>(familyOf(profile, "c:"));
  const times = new Map<string, string>(familyOf(profile, "ct:"));
  const isAsRead = (channel: string): ConditionOf<typeof Profile> => asRead(`ct:${channel}`, times.get(channel));
  const isOwner = owned !== undefined && mailAddressId(profile) === owned;
  const asks = (key: string, status: string) => status === "opted_in" && asking.has(key);
  const changed = Object.entries(choices)
    .filter(([key, status]) => current.get(consentChannelOf(key)) !== status)
    .map(([key, status]) => [key, asks(key, status) && !isOwner ? ("pending" as const) : status] as const);
  let after = profile;
  for (const batch of chunksOf(changed, CHOICES_AT_ONCE)) {
    const now = store.clock.now();
    const consents = batch.map(
      ([key, status]): ConsentAssertion => ({
        channel: consentChannelOf(key),
        status,
        consented_at: timestamp(now),
        source,
      }),
    );
    const confirmed = confirmedAsRead(
      profile,
      batch.filter(([key, status]) => asks(key, status)).map(([key]) => consentChannelOf(key)),
    );
    const { set, remove } = consentChange(...consents);
    const change = { set: { ...set, ...confirmed.set }, remove };
    const when = all(isAlive(), ...confirmed.when, ...consents.map(({ channel }) => isAsRead(channel)));
    const isWritten = await transacted(store, [
      changeItem(Profile, { id: profile.id }, change, when),
      ...consents.map((consent) => consentWrite(store, { subscriber: profile.id, id: store.ids.uuidAt(now) }, consent)),
    ]);
    if (!isWritten) return { kind: "chosen meanwhile" };
    after = { ...after, ...change.set };
  }
  return { kind: "recorded", profile: after };
}
