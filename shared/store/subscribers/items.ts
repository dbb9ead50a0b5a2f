// The stored form of subscribers (SUB), their consents and anonymous ids. Their devices: device-items.ts.
import * as v from "valibot";
import { Timestamp } from "../../contract/schemas.ts";
import { consentStatuses } from "../../rules/topics.ts";
import { absent, all, present } from "../conditions.ts";
import { counterRow } from "../counters.ts";
import { hashOf } from "../hash.ts";
import { indexAttributes, item, keyIndexOf, type RowOf } from "../item.ts";
import { json } from "../json-text.ts";
import type { Value } from "../model.ts";
import { shardOf } from "../shards.ts";

/** Profiles and devices of a shard share a partition: see `audience-pages.ts`. A shard is the first digit of an id. */
export const Profile = item({
  about: "A subscriber: its attributes and its newest consents; a tombstone once it is erased.",
  pk: ({ id }: { id: string }) => `S${shardOf(id)}`,
  sk: ({ id }: { id: string }) => id,
  row: {
    react: v.optional(v.picklist(["subscriber", "erasure"])),
    id: v.string(),
    external_id: v.optional(v.string()),
    email: v.optional(v.string()),
    created_at: v.optional(v.string()),
    updated_at: v.optional(v.string()),
    "a:*": json<Value>(),
    /** Status and time of the newest consent by channel, and of the newest choice by topic (`c:topic:news`). */
    "c:*": v.picklist(consentStatuses),
    "ct:*": v.string(),
    /**
     * The address whose owner confirmed opt-ins, and `cc:email`, `cc:topic:news` of what: whoever has another address has
     * confirmed nothing (AMB-129).
     */
    confirmed_address: v.optional(v.string()),
    "cc:*": v.literal(true),
    /** It is nearly as large as the publishable key may make it: each further change by it is measured. */
    full: v.optional(v.literal(true)),
    /** It is nearly as large as a profile may be: each further change of its attributes is measured. */
    heavy: v.optional(v.literal(true)),
    /** It was changed last by an import that starts no journeys: neither does what changed then (AMB-133). */
    historical: v.optional(v.literal(true)),
    /** The pack of the import that created it, also once it is erased: until that is sealed, its counter does not have it. */
    pack: v.optional(v.string()),
    ...indexAttributes("i2"),
    ...indexAttributes("i3"),
    erased_at: v.optional(v.string()),
    /** The call that erased it: a retry of the call recognizes its own write. */
    erased_by: v.optional(v.string()),
    erase_properties: v.optional(v.literal(true)),
    /** The generation of the id that is in use, after several erasures. */
    next: v.optional(v.number()),
    /** The pseudonym that replaces the id in the ledger; removed with the last traces. */
    mark: v.optional(v.string()),
    /** The receipt of the erasure: rows removed or anonymized, by what they were. */
    "er:*": v.number(),
    /** Passes of the erasure that began and that ended. */
    passes_begun: v.optional(v.number()),
    passes_ended: v.optional(v.number()),
    /** A pass was interrupted or ran twice at once: the counts of the receipt are not exact. */
    is_estimated: v.optional(v.literal(true)),
    /** When the last trace was gone. */
    traces_gone_at: v.optional(v.string()),
  },
  writers: [
    "api-subscribers",
    "api-devices",
    "api-notifications",
    "api-mail",
    "api-inbound",
    "api-preferences",
    "import-rows",
    "deliver",
    "mail-event",
    "erase",
  ],
  personal: "scrubbed",
});

/** The profile of a subscriber, or its tombstone. */
export type ProfileRow = RowOf<typeof Profile>;

/** The condition on a profile that the subscriber exists and is not erased. */
export const isAlive = () => all(present("external_id"), absent("erased_at"));

export const SubscribersByAge = keyIndexOf(Profile, {
  index: "i2",
  about: "Subscribers of a shard in the order of their creation.",
  pk: ({ shard }: { shard: string }) => `N${shard}`,
  sk: ({ created_at, id }: { created_at: string; id: string }) => `${created_at}#${id}`,
});

export const SubscribersByPhone = keyIndexOf(Profile, {
  index: "i3",
  about: "Subscribers by the phone number of their attributes.",
  pk: ({ phone }: { phone: string }) => `P#${hashOf(phone)}`,
  sk: ({ id }: { id: string }) => id,
});

export const SubscriberCount = item({
  about:
    "The number of subscribers whose ids begin with two digits, changed in the transactions that create and erase " +
    "them. Imports count those that they create by one digit, many at once. The sum of all is the number.",
  pk: () => "COUNT#subscribers",
  sk: ({ shard }: { shard: string }) => shard,
  row: counterRow,
  writers: ["api-subscribers", "api-devices", "import-rows", "recount"],
});

interface Evidence {
  ip?: string | undefined;
  text?: string | undefined;
  import_job_id?: string | undefined;
}

/** The fields of a consent that are stored as the API returns them. */
export const consentFields = {
  id: v.string(),
  subscriber_id: v.string(),
  channel: v.string(),
  status: v.picklist(consentStatuses),
  express: v.boolean(),
  consented_at: Timestamp,
};

export const ConsentItem = item({
  about: "An assertion of the consent history (D-CONSENT); it never changes.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ consent }: { consent: string }) => `C#${consent}`,
  prefix: "C#",
  row: { ...consentFields, source: v.optional(v.string()), evidence: json<Evidence>(), recorded_at: v.string() },
  writers: [
    "api-subscribers",
    "api-inbound",
    "api-mail",
    "api-preferences",
    "import-rows",
    "deliver",
    "mail-event",
    "erase",
  ],
  personal: "removed",
});

const aliasRow = { subscriber: v.string(), anonymous: v.string() };

export const Alias = item({
  about: "The subscriber that an anonymous id belongs to.",
  pk: ({ anonymous }: { anonymous: string }) => `A#${anonymous}`,
  row: aliasRow,
  writers: ["api-events", "erase"],
  personal: "removed",
});

export const SubscriberAlias = item({
  about: "An anonymous id of a subscriber, stored with the subscriber.",
  pk: ({ subscriber }: { subscriber: string }) => `U#${subscriber}`,
  sk: ({ anonymous }: { anonymous: string }) => `A#${anonymous}`,
  prefix: "A#",
  row: {
    ...aliasRow,
    react: v.literal("alias"),
    /** When the anonymous id was given to the subscriber. */
    at: v.optional(v.string()),
  },
  writers: ["api-events", "erase"],
  personal: "removed",
});
