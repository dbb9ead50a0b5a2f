// Preferences: the topics and the choices of one subscriber, for apps and backends (TPC-3).
import * as v from "valibot";
import { ExternalId, said, titled, Uuid } from "../../../shared/contract/schemas.ts";
import { TopicKey } from "../../../shared/contract/topic-key.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { invalid, notFound } from "../../../shared/kernel/errors.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { type StoreReader, storeRead, storeWrite } from "../../../shared/store/context.ts";
import type { Secrets } from "../../../shared/store/secrets.ts";
import { findByExternalId, getProfile, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { askingOf, type Choices, choose, Preference, preferencesOf } from "../../../shared/store/topics/preferences.ts";
import { listTopics, MAX_TOPICS } from "../../../shared/store/topics/topics.ts";

const subscriberFields = {
  subscriber_id: said("The subscriber, by its id", v.optional(Uuid)),
  external_id: said("The subscriber, by the workspace's own id", v.optional(ExternalId)),
};

type SubscriberQuery = { subscriber_id?: string | undefined; external_id?: string | undefined };

const Preferences = titled("Preferences", { subscriber_id: v.string(), topics: v.array(Preference) });

const Status = v.picklist(["opted_in", "opted_out"], "must be opted_in or opted_out");
const Chosen = said("Whether the subscriber wants it", Status);
const AT_MOST = `must name at most ${MAX_TOPICS} topics`;

const Topics = v.pipe(
  v.union(
    [
      v.pipe(v.record(TopicKey, Status), v.maxEntries(MAX_TOPICS, AT_MOST)),
      v.array(v.object({ key: TopicKey, status: Chosen })),
    ],
    "must be an object, or the topics as they were read",
  ),
  v.check((topics) => Object.keys(topics).length > 0, "must name at least one topic"),
  v.check((topics) => Object.keys(topics).length <= MAX_TOPICS, AT_MOST),
  v.description(
    "`opted_in` or `opted_out` by the key of the topic. Or the topics as they were read: those whose `status` is another one are chosen",
  ),
);

const endpoint = endpoints({ credentials: ["sdk", "server", "dashboard"], uses: [secrets] });

export const preferences = group("preferences", "What a subscriber wants to hear about.", [
  endpoint(
    "GET /v1/preferences",
    { scope: "subscribers:read", uses: [storeRead] },
    {
      summary: "Get a subscriber's preferences",
      description: "Exactly one of `subscriber_id` and `external_id` names the subscriber.",
      query: v.object(subscriberFields),
      returns: Preferences,
      example: { query: { external_id: "ada" } },
      errors: ["NOT_FOUND"],
    },
    async ({ store, secrets, query }) => {
      const [profile, topics] = await Promise.all([requireProfile(store, secrets, query), listTopics(store)]);
      return { subscriber_id: profile.id, topics: preferencesOf(profile, topics) };
    },
  ),

  endpoint(
    "PUT /v1/preferences",
    { scope: "subscribers:write", permission: "subscribers:write", consents: () => true, uses: [storeWrite] },
    {
      summary: "Set a subscriber's choice of topics",
      description:
        "Exactly one of `subscriber_id` and `external_id` names the subscriber. Topics that are not named stay as they " +
        "are. Each change is added to the consent history.",
      names: "subscriber_id",
      body: v.strictObject({
        ...subscriberFields,
        topics: Topics,
      }),
      returns: Preferences,
      example: { body: { external_id: "ada", topics: { news: "opted_out" } } },
      errors: ["NOT_FOUND"],
    },
    async ({ store, secrets, caller, body: { topics, ...named } }) => {
      const [profile, all] = await Promise.all([requireProfile(store, secrets, named), listTopics(store)]);
      const current = preferencesOf(profile, all);
      const choices = Array.isArray(topics) ? changesTo(current, topics) : topics;
      requireTopics(current, choices);
      const chosen = await choose(store, profile, choices, { source: sourceOf[caller.kind], asking: askingOf(all) });
      if (!chosen) throw notFound("subscriber");
      return { subscriber_id: profile.id, topics: preferencesOf(chosen, all) };
    },
  ),
]);

/** The source of a consent, by its recorder. */
const sourceOf = {
  sdk: "preferences",
  server: "server",
  dashboard: "dashboard",
  agent: "agent",
  public: "preferences",
} as const;

/** The profile of a subscriber. @throws 422 unless exactly one id is given, 404 if no subscriber has it */
async function requireProfile(
  store: StoreReader,
  secrets: Secrets,
  { subscriber_id, external_id }: SubscriberQuery,
): Promise<LivingProfile> {
  if ((subscriber_id === undefined) === (external_id === undefined))
    throw invalid({ subscriber_id: "exactly one of subscriber_id and external_id is required" });
  const profile =
    external_id === undefined
      ? await getProfile(store, subscriber_id ?? "")
      : await findByExternalId(store, await secrets.root(), external_id);
  if (!profile) throw notFound("subscriber");
  return profile;
}

/** The changes to topics that were read before. Unchanged topics are not choices (AMB-115). */
function changesTo(current: readonly Preference[], topics: readonly Pick<Preference, "key" | "status">[]): Choices {
  const statuses = new Map(current.map(({ key, status }) => [key, status]));
  return Object.fromEntries(topics.flatMap(({ key, status }) => (statuses.get(key) === status ? [] : [[key, status]])));
}

/** @throws 422 naming a topic that the workspace does not have. */
function requireTopics(current: readonly Preference[], choices: Choices): void {
  const keys = new Set(current.map(({ key }) => key));
  const unknown = Object.keys(choices).filter((key) => !keys.has(key));
  if (unknown.length > 0)
    throw invalid(Object.fromEntries(unknown.map((key) => [`topics.${key}`, "no such topic in this workspace"])));
}
