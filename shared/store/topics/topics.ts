// The topics of a workspace (TPC-1), and the part of a topic that a send keeps.
import type * as v from "valibot";
import { titled } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, conflict, invalid, notFound, requireFound } from "../../kernel/errors.ts";
import type { SendTopic } from "../../rules/topics.ts";
import { absent, any, below, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, fieldsOf, putItem, type RowOf, removeItem } from "../item.ts";
import { failuresOf, transacted, whereItHolds } from "../refusals.ts";
import { TopicCount, TopicItem, topicFields } from "./items.ts";

export const MAX_TOPICS = 100;

export const Topic = titled("Topic", topicFields);
export type Topic = v.InferOutput<typeof Topic>;

type TopicRow = RowOf<typeof TopicItem>;
type TopicInput = Pick<Topic, "key" | "name" | "default"> & {
  description?: string | null | undefined;
  double_opt_in?: boolean | undefined;
};
type TopicChange = { [F in "name" | "description" | "default" | "double_opt_in"]?: TopicInput[F] | undefined };

const topicOf = (row: TopicRow): Topic => fieldsOf(topicFields, row);

/** In the order of their keys. */
export async function listTopics(store: StoreReader): Promise<Topic[]> {
  return (await store.queryAll(TopicItem, {})).map(topicOf);
}

/** Reads one, a moment old. */
export async function hasTopics(store: StoreReader): Promise<boolean> {
  const { items } = await store.query(TopicItem, {}, { limit: 1, eventual: true });
  return items.length > 0;
}

export const topicExists = async (store: StoreReader, key: string): Promise<boolean> =>
  (await store.get(TopicItem, { key })) !== undefined;

/** Gets a topic. @throws 404, also for another workspace's topic */
export async function getTopic(store: StoreReader, key: string): Promise<Topic> {
  const row = requireFound(await store.get(TopicItem, { key }), "topic");
  return topicOf(row);
}

/** Creates a topic. @throws 409 if the key is taken, 429 beyond 100 topics */
export async function createTopic(
  store: Store,
  { description = null, double_opt_in = false, ...input }: TopicInput,
): Promise<Topic> {
  const at = timestamp(store.clock.now());
  const topic: Topic = { ...input, description, double_opt_in, created_at: at, updated_at: at };
  const { key } = topic;
  const [taken, full] = await failuresOf(store, [
    putItem(TopicItem, { key }, topic, absent()),
    changeItem(TopicCount, {}, { add: { n: 1 } }, any(absent(), below("n", MAX_TOPICS))),
  ]);
  if (taken) throw conflict(`The key is already used by another topic.`);
  if (full) throw new ApiError("QUOTA_EXCEEDED", `A workspace has at most ${MAX_TOPICS} topics.`);
  return topic;
}

/** Supplied fields overwrite, others stay. A new default is that of sends made from now on. @throws 404. */
export async function updateTopic(store: Store, key: string, change: TopicChange): Promise<Topic> {
  const set = { ...change, updated_at: timestamp(store.clock.now()) };
  const row = await whereItHolds(store.change(TopicItem, { key }, { set }, present()));
  if (!row) throw notFound("topic");
  return topicOf(row);
}

/** The choices of subscribers stay, and count again for a topic of the same key. @throws 404. */
export async function removeTopic(store: Store, key: string): Promise<void> {
  const isRemoved = await transacted(store, [
    removeItem(TopicItem, { key }, present()),
    changeItem(TopicCount, {}, { add: { n: -1 } }),
  ]);
  if (!isRemoved) throw notFound("topic");
}

/** Whether a choice of the topic waits for a confirmation. */
export const isDoubleOptIn = async (store: StoreReader, key: string): Promise<boolean> =>
  (await store.get(TopicItem, { key }))?.double_opt_in === true;

/** The name of a topic; undefined without a key, or for a topic that is gone. */
export const topicName = async (store: StoreReader, key: string | undefined): Promise<string | undefined> =>
  key === undefined ? undefined : (await store.get(TopicItem, { key }))?.name;

/** The part of a requested topic that a send keeps. @throws 422 naming the field if there is no such topic */
export async function requireTopic(
  store: StoreReader,
  key: string | null | undefined,
  field = "topic",
): Promise<SendTopic | undefined> {
  if (key === undefined || key === null) return undefined;
  const row = await store.get(TopicItem, { key });
  if (!row) throw invalid({ [field]: "no such topic in this workspace" });
  return { key, default: row.default };
}

/** The same for what names its topic since earlier. A deleted topic reaches only subscribers who opted in to it. */
export async function topicOfSend(store: StoreReader, key: string | null | undefined): Promise<SendTopic | undefined> {
  if (key === undefined || key === null) return undefined;
  const row = await store.get(TopicItem, { key });
  return { key, default: row?.default ?? "out" };
}
