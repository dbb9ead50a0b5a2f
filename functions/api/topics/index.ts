// Topics: what messages are about, so that subscribers can opt in and out of each (TPC-1).
import * as v from "valibot";
import { DescriptionUpTo, NameUpTo, said } from "../../../shared/contract/schemas.ts";
import { TopicKey } from "../../../shared/contract/topic-key.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { topicDefaults } from "../../../shared/rules/topics.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { refuseUsedTopic } from "../../../shared/store/dependents.ts";
import {
  createTopic,
  getTopic,
  listTopics,
  MAX_TOPICS,
  removeTopic,
  Topic,
  updateTopic,
} from "../../../shared/store/topics/topics.ts";

const MAX_NAME_CHARACTERS = 128;
const MAX_DESCRIPTION_CHARACTERS = 500;

const Name = NameUpTo(MAX_NAME_CHARACTERS);
const Description = DescriptionUpTo(MAX_DESCRIPTION_CHARACTERS);
const Default = said(
  "Whether a subscriber without a choice is in the topic",
  v.picklist(topicDefaults, "must be in or out"),
);

const DoubleOptIn = said(
  "A choice of the topic is `pending` until its owner confirms it by the link of a mail. Default: false",
  v.boolean(),
);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const topics = group("topics", "Topics of messages, which subscribers opt in and out of.", [
  endpoint(
    "POST /api/v1/topics",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Create a topic",
      description: `The key never changes: sends and choices of subscribers refer to it. A workspace has at most ${MAX_TOPICS} topics.`,
      body: v.strictObject({
        key: TopicKey,
        name: Name,
        description: Description,
        default: v.optional(Default, "in"),
        double_opt_in: v.optional(DoubleOptIn),
      }),
      returns: Topic,
      names: "key",
      status: 201,
      example: { body: { key: "news", name: "News", description: "Once a week", default: "in" } },
      errors: ["CONFLICT", "QUOTA_EXCEEDED"],
    },
    ({ store, body }) => createTopic(store, body),
  ),

  endpoint(
    "GET /api/v1/topics",
    { agents: "read", uses: [storeRead] },
    { summary: "List the topics, in the order of their keys", returns: v.object({ items: v.array(Topic) }) },
    async ({ store }) => ({ items: await listTopics(store) }),
  ),

  endpoint(
    "GET /api/v1/topics/:key",
    { uses: [storeRead] },
    { summary: "Get a topic", returns: Topic },
    ({ store, params }) => getTopic(store, params.key),
  ),

  endpoint(
    "PATCH /api/v1/topics/:key",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Change a topic: supplied fields overwrite, others stay",
      description: "Sends that were made before keep the default of their time.",
      body: v.pipe(
        v.strictObject({
          name: v.optional(Name),
          description: Description,
          default: v.optional(Default),
          double_opt_in: v.optional(DoubleOptIn),
        }),
        v.check((change) => Object.keys(change).length > 0, "at least one field is required"),
      ),
      returns: Topic,
      example: { body: { name: "Weekly news" } },
    },
    ({ store, params, body }) => updateTopic(store, params.key, body),
  ),

  endpoint(
    "DELETE /api/v1/topics/:key",
    { permission: "content:write", uses: [storeWrite] },
    {
      summary: "Delete a topic",
      description:
        "Refused while a released campaign, an active schedule or an active journey names it. The choices of subscribers " +
        "stay in their history, and count again if a topic with this key is created.",
      errors: ["CONFLICT"],
    },
    async ({ store, params }) => {
      await getTopic(store, params.key);
      await refuseUsedTopic(store, params.key);
      await removeTopic(store, params.key);
    },
  ),
]);
