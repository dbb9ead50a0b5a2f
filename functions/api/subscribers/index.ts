// Subscribers: upsert from the client, listing for integrations, erasure from the dashboard.
import * as v from "valibot";
import { MINUTE, timestamp } from "../../../shared/clock.ts";
import type { Context } from "../../../shared/deps.ts";
import { workspaceOf } from "../../../shared/http/authenticate.ts";
import { type Call, endpoints, group, type Shape } from "../../../shared/http/endpoint.ts";
import { invalid, notFound } from "../../../shared/http/errors.ts";
import { limit } from "../../../shared/http/paging.ts";
import { ExternalId, JsonObject, TimestampInput, Uuid } from "../../../shared/http/schemas.ts";
import { plans } from "../../../shared/plans.ts";
import { audienceSize, type StoreReader, secrets, storeRead, storeWrite } from "../../../shared/resources.ts";
import { isEmailAddress, isLocale, isPhoneNumber } from "../../../shared/rules/contacts.ts";
import { isTimeZone } from "../../../shared/rules/time-zones.ts";
import { Consent, consentsOf } from "../../../shared/store/subscribers/consents.ts";
import { listSubscribers } from "../../../shared/store/subscribers/list.ts";
import {
  countSubscribers,
  eraseSubscriber,
  getSubscriber,
  Subscriber,
  upsertSubscriber,
} from "../../../shared/store/subscribers/subscribers.ts";

const MAX_ATTRIBUTES = 200;
const MAX_KEY_CHARACTERS = 128;
const MAX_SEARCH_CHARACTERS = 128;
export const MAX_BULK = 1_000;
const MAX_CONCURRENT_ERASURES = 25;
/** AMB-117. */
const MAX_AHEAD_MS = 5 * MINUTE;

const Email = v.pipe(v.string("must be a string"), v.check(isEmailAddress, "must be an e-mail address"));

const Attributes = v.pipe(
  JsonObject,
  v.maxEntries(MAX_ATTRIBUTES, `must have at most ${MAX_ATTRIBUTES} keys`),
  v.check(
    (attributes) => Object.keys(attributes).every(({ length }) => length > 0 && length <= MAX_KEY_CHARACTERS),
    `must have keys of 1 to ${MAX_KEY_CHARACTERS} characters`,
  ),
);

const ConsentInput = v.strictObject({
  channel: v.optional(v.picklist(["email", "sms", "chat_app"], "must be email, sms or chat_app"), "email"),
  status: v.picklist(["opted_in", "opted_out"], "must be opted_in or opted_out"),
  consented_at: v.pipe(v.optional(TimestampInput), v.description("Default: now. At most 5 minutes ahead")),
  source: v.optional(v.pipe(v.string(), v.maxLength(256))),
  ip: v.optional(v.pipe(v.string(), v.maxLength(64))),
  text: v.optional(v.pipe(v.string(), v.maxLength(2_000))),
});

const Upsert = v.strictObject({
  external_id: ExternalId,
  email: v.nullish(Email),
  attributes: v.optional(Attributes),
  consent: v.optional(ConsentInput),
  phone: v.nullish(v.pipe(v.string(), v.check(isPhoneNumber, "must be a phone number in E.164 form"))),
  timezone: v.nullish(v.pipe(v.string(), v.check(isTimeZone, "must be an IANA time zone"))),
  locale: v.nullish(v.pipe(v.string(), v.check(isLocale, "must be a BCP 47 language tag"))),
});

const listQuery = v.object({
  limit: limit(100, 1_000),
  cursor: v.optional(v.string()),
  updated_since: v.optional(TimestampInput),
  external_id: v.optional(v.string()),
  email: v.optional(v.string()),
});
const SearchText = v.pipe(
  v.string(),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.maxLength(MAX_SEARCH_CHARACTERS, `must have at most ${MAX_SEARCH_CHARACTERS} characters`),
  v.description("What the external id, the e-mail address or the attribute `last_name` begins with"),
);
const SubscriberPage = v.object({ items: v.array(Subscriber), next_cursor: v.string() });

const upserting = {
  summary: "Create or update a subscriber by external_id",
  body: Upsert,
  returns: Subscriber,
  errors: ["QUOTA_EXCEEDED"],
} as const satisfies Shape;

const upsertUses = [storeWrite, secrets, audienceSize] as const;

type Upserting = Context<typeof upsertUses> & Pick<Call<typeof upserting>, "caller" | "body" | "clock">;

async function upsert({ store, secrets, audienceSize, caller, body, clock }: Upserting) {
  const { external_id, email, attributes = {}, consent, ...reserved } = body;
  const now = timestamp(clock.now());
  if (consent?.consented_at !== undefined && consent.consented_at > timestamp(clock.now() + MAX_AHEAD_MS))
    throw invalid({ "consent.consented_at": "must not be more than 5 minutes in the future" });
  const given = Object.fromEntries(Object.entries(reserved).filter(([, value]) => value !== undefined));
  const input = {
    external_id,
    email,
    attributes: { ...attributes, ...given },
    consent: consent && { ...consent, consented_at: consent.consented_at ?? now },
  };
  const cap = await audienceSize.capOf(plans[workspaceOf(caller).plan].subscribers);
  return upsertSubscriber(store, await secrets.root(), input, cap);
}

const reading = {
  summary: "Get a subscriber",
  returns: Subscriber,
  errors: ["NOT_FOUND"],
} as const satisfies Shape;

async function read({ store, params }: { store: StoreReader; params: { id: string } }) {
  const subscriber = await getSubscriber(store, params.id);
  if (!subscriber) throw notFound("subscriber");
  return subscriber;
}

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const subscribers = group("subscribers", "The users that a workspace sends messages to.", [
  endpoint("POST /api/v1/subscribers/upsert", { credentials: ["sdk"], uses: upsertUses }, upserting, (call) =>
    upsert(call),
  ),

  endpoint(
    "POST /v1/subscribers/upsert",
    { credentials: ["server"], scope: "subscribers:write", uses: upsertUses },
    upserting,
    (call) => upsert(call),
  ),

  endpoint(
    "DELETE /api/v1/subscribers/:id",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Erase a subscriber with its devices and memberships",
      description:
        "Its events stay in exports without their actor; with `erase_properties=true` without properties too.",
      query: v.object({
        erase_properties: v.optional(v.picklist(["true", "false"], "must be true or false"), "false"),
      }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, params, query }) => {
      const eraseProperties = query.erase_properties === "true";
      if (!(await eraseSubscriber(store, params.id, { eraseProperties }))) throw notFound("subscriber");
    },
  ),

  endpoint(
    "POST /api/v1/subscribers/bulk-delete",
    { permission: "subscribers:write", uses: [storeWrite] },
    {
      summary: "Erase up to 1,000 subscribers",
      body: v.strictObject({
        subscriber_ids: v.pipe(
          v.array(Uuid, "must be an array of UUIDs"),
          v.minLength(1, "must name at least one subscriber"),
          v.maxLength(MAX_BULK, `must name at most ${MAX_BULK} subscribers`),
        ),
        erase_properties: v.optional(v.boolean("must be true or false"), false),
      }),
      returns: v.object({ deleted: v.number(), not_found: v.array(v.string()) }),
    },
    async ({ store, body }) => {
      const ids = [...new Set(body.subscriber_ids)];
      const notFoundIds: string[] = [];
      for (let start = 0; start < ids.length; start += MAX_CONCURRENT_ERASURES) {
        const batch = ids.slice(start, start + MAX_CONCURRENT_ERASURES);
        const erased = await Promise.all(
          batch.map((id) => eraseSubscriber(store, id, { eraseProperties: body.erase_properties })),
        );
        notFoundIds.push(...batch.filter((_, i) => !erased[i]));
      }
      return { deleted: ids.length - notFoundIds.length, not_found: notFoundIds };
    },
  ),

  endpoint(
    "GET /v1/subscribers",
    { credentials: ["server"], scope: "subscribers:read", uses: [storeRead, secrets] },
    { summary: "List subscribers for an integration, newest first", query: listQuery, returns: SubscriberPage },
    async ({ store, secrets, query }) => listSubscribers(store, await secrets.root(), query),
  ),

  endpoint(
    "GET /v1/subscribers/:id",
    { credentials: ["server"], scope: "subscribers:read", uses: [storeRead] },
    reading,
    (call) => read(call),
  ),

  endpoint(
    "GET /api/v1/subscribers",
    { uses: [storeRead, secrets] },
    {
      summary: "List subscribers, newest first, or search them",
      description:
        "With `q` the list is in the order of what was found, whatever the case. A subscriber can be found moments after " +
        "it was written.",
      query: v.object({ ...listQuery.entries, q: v.optional(SearchText) }),
      returns: SubscriberPage,
    },
    async ({ store, secrets, query }) => listSubscribers(store, await secrets.root(), query),
  ),

  endpoint(
    "GET /api/v1/subscribers/count",
    { uses: [storeRead] },
    { summary: "Count subscribers", returns: v.object({ count: v.number(), exact: v.boolean() }) },
    async ({ store }) => ({ count: await countSubscribers(store), exact: true }),
  ),

  endpoint("GET /api/v1/subscribers/:id", { uses: [storeRead] }, reading, (call) => read(call)),

  endpoint(
    "GET /api/v1/subscribers/:id/consents",
    { uses: [storeRead] },
    {
      summary: "List a subscriber's consent history, newest first",
      returns: v.object({ items: v.array(Consent) }),
      errors: ["NOT_FOUND"],
    },
    async ({ store, params }) => {
      if (!(await getSubscriber(store, params.id))) throw notFound("subscriber");
      return { items: await consentsOf(store, params.id) };
    },
  ),
]);
