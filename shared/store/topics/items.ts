// The stored form of topics (TPC). The choice of a subscriber is a consent: see subscribers/items.ts.
import * as v from "valibot";
import { said, Timestamp } from "../../contract/schemas.ts";
import { topicDefaults } from "../../rules/topics.ts";
import { item } from "../item.ts";

/** The fields of a topic, which are stored as the API returns them. */
export const topicFields = {
  key: v.string(),
  name: v.string(),
  description: v.nullable(v.string()),
  default: v.picklist(topicDefaults),
  double_opt_in: said(
    "A choice of the topic is `pending` until its owner confirms it by the link of a mail",
    v.boolean(),
  ),
  created_at: Timestamp,
  updated_at: Timestamp,
};

export const TopicItem = item({
  about: "A topic of messages, which subscribers opt in and out of.",
  pk: () => "TOPICS",
  sk: ({ key }: { key: string }) => key,
  row: topicFields,
  writers: ["api-topics"],
});

export const TopicCount = item({
  about: "The number of topics, changed in the transactions that create and delete them.",
  pk: () => "COUNT#topics",
  row: { n: v.number() },
  writers: ["api-topics"],
});
