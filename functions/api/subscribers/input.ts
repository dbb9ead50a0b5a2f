// What clients send about a subscriber: identifiers, attributes and consents.
import * as v from "valibot";
import { cursor, limit } from "../../../shared/contract/paging.ts";
import {
  EmailAddress,
  ExternalId,
  JsonObject,
  Locale,
  maxCharacters,
  said,
  TextUpTo,
  TimestampInput,
  TimeZone,
} from "../../../shared/contract/schemas.ts";
import { SearchText } from "../../../shared/contract/search-text.ts";
import { MINUTE, timestamp } from "../../../shared/kernel/clock.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { withoutUndefined } from "../../../shared/kernel/objects.ts";
import { consentChannels } from "../../../shared/rules/channel-types.ts";
import { isPhoneNumber, withAsciiDomain } from "../../../shared/rules/contacts.ts";
import { topicKeyOf } from "../../../shared/rules/topics.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { needsConfirmation } from "../../../shared/store/subscribers/confirmations.ts";
import type { ConsentAssertion } from "../../../shared/store/subscribers/consents.ts";
import { timelineKinds } from "../../../shared/store/subscribers/timeline-entries.ts";
import { requireTopic } from "../../../shared/store/topics/topics.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

const MAX_ATTRIBUTES = 200;
const MAX_KEY_CHARACTERS = 128;
/** AMB-117. */
const MAX_AHEAD_MS = 5 * MINUTE;

const Attributes = v.pipe(
  JsonObject,
  v.maxEntries(MAX_ATTRIBUTES),
  v.check(
    (attributes) => Object.keys(attributes).every(({ length }) => length > 0 && length <= MAX_KEY_CHARACTERS),
    `must have keys of 1 to ${MAX_KEY_CHARACTERS} characters`,
  ),
);

const TOPIC_CHANNEL = /^topic:[a-z0-9][a-z0-9_-]{0,63}$/;

export const ConsentInput = v.strictObject({
  channel: said(
    `${consentChannels.map((channel) => `\`${channel}\``).join(", ")}, or \`topic:<key>\` for a choice of topic`,
    v.optional(
      v.union(
        [v.picklist(consentChannels), v.pipe(v.string(), v.regex(TOPIC_CHANNEL))],
        `must be ${consentChannels.join(", ")} or topic:<key>`,
      ),
      "email",
    ),
  ),
  status: v.picklist(["opted_in", "opted_out"], "must be opted_in or opted_out"),
  consented_at: said("Default: now. At most 5 minutes ahead, and then now", v.optional(TimestampInput)),
  source: v.optional(v.pipe(v.string(), maxCharacters(256))),
  ip: v.optional(v.pipe(v.string(), v.maxLength(64))),
  text: v.optional(v.pipe(v.string(), maxCharacters(2_000))),
});

const fields = {
  email: v.nullish(EmailAddress),
  attributes: v.optional(Attributes),
  phone: v.nullish(
    v.pipe(
      v.string(),
      v.maxLength(16, "must be a phone number in E.164 form"),
      v.check(isPhoneNumber, "must be a phone number in E.164 form"),
    ),
  ),
  timezone: v.nullish(TimeZone),
  locale: v.nullish(Locale),
};

export const SubscriberChange = v.strictObject(fields);

export const Upsert = v.strictObject({ external_id: ExternalId, ...fields, consent: v.optional(ConsentInput) });

/** The reserved fields are attributes as well (D-ATTR). */
export function changeOf({ email, attributes = {}, ...reserved }: v.InferOutput<typeof SubscriberChange>) {
  return { email, attributes: { ...attributes, ...withoutUndefined(reserved) } };
}

/**
 * The consents in a body. An opt-in that its owner has yet to confirm is pending. `field`: where the consent is in the
 * body.
 * @throws 422 for a consent in the future, and for an unknown topic
 */
export async function consentOf(
  { store, workspace }: { store: StoreReader; workspace: () => Promise<WorkspaceRecord | undefined> },
  consent: v.InferOutput<typeof ConsentInput>,
  field = "",
): Promise<ConsentAssertion> {
  const { clock } = store;
  await requireTopic(store, topicKeyOf(consent.channel), `${field}channel`);
  const now = clock.now();
  const { consented_at = timestamp(now) } = consent;
  if (consented_at > timestamp(now + MAX_AHEAD_MS))
    throw invalid({ [`${field}consented_at`]: "must not be more than 5 minutes in the future" });
  // The clock of a client may be ahead; a later consent must still count as newer (AMB-131).
  const at = consented_at > timestamp(now) ? timestamp(now) : consented_at;
  const isPending = consent.status === "opted_in" && (await needsConfirmation(store, workspace, consent.channel));
  return { ...consent, consented_at: at, ...(isPending && { status: "pending" }) };
}

export const listQuery = v.object({
  limit: limit(100, 1_000),
  cursor,
  updated_since: v.optional(TimestampInput),
  external_id: v.optional(TextUpTo(512)),
  email: v.optional(v.pipe(TextUpTo(320), v.transform(withAsciiDomain))),
});

export const searchQuery = v.object({ ...listQuery.entries, q: v.optional(SearchText) });

const Kinds = v.pipe(
  TextUpTo(256),
  v.transform((text) => text.split(",")),
  v.array(v.picklist(timelineKinds, `must be some of ${timelineKinds.join(", ")}`)),
);

export const timelineQuery = v.object({
  kinds: said(
    `Only entries of these kinds, separated by commas: ${timelineKinds.join(", ")}`,
    v.optional(Kinds, timelineKinds.join(",")),
  ),
  limit: limit(50, 100),
  cursor,
});
