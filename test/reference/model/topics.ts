// Topics (api-additions): a consent per subscriber and topic, with a default.
import { created, type Operation, ok, read, write } from "./access.ts";
import { optionalOneOf, requiredText } from "./checks.ts";
import { currentConsent, stated } from "./consents.ts";
import { ANY, type Body, conflict, invalid, iso, notFound, type Request, Unordered } from "./kit.ts";
import { personOf } from "./people.ts";
import type { Topic } from "./records/people.ts";
import type { World } from "./world.ts";

const record = ({ created_at, updated_at, ...topic }: Topic): Body => ({
  ...topic,
  created_at: iso(created_at),
  updated_at: iso(updated_at),
});
export const topicOf = (world: World, key: unknown) => world.topics.find((topic) => topic.key === key);

/** A send names a topic that exists. */
export function needTopic(world: World, key: unknown): void {
  if (key !== undefined && !topicOf(world, key)) invalid("topic");
}

const choiceOf = (world: World, subscriber: string, key: string) => currentConsent(world, subscriber, `topic:${key}`);

/** What goes for those who chose nothing: of a topic that there is not, nobody wants it. */
export const defaultOf = (world: World, key: string): string => topicOf(world, key)?.default ?? "out";

/** A send keeps the default of the time at which it was made. */
export const isOut = (world: World, subscriber: string, { topic, topic_default }: Body): boolean => {
  const choice = topic && choiceOf(world, subscriber, topic);
  if (choice) return choice.status !== "opted_in";
  return topic !== undefined && (topic_default ?? defaultOf(world, topic)) === "out";
};

export function topicChoices(world: World, subscriber: string): Body[] {
  return world.topics.map(({ key, name, description, default: fallback }) => {
    const choice = choiceOf(world, subscriber, key);
    const chosen = choice?.status === "pending" ? "opted_out" : choice?.status;
    const status = chosen ?? (fallback === "in" ? "opted_in" : "opted_out");
    return {
      key,
      name,
      description,
      default: fallback,
      status,
      consented_at: choice ? iso(choice.consented_at) : null,
    };
  });
}

function create(world: World, { body }: Request) {
  requiredText(body, "key");
  requiredText(body, "name");
  optionalOneOf(body, "default", ["in", "out"]);
  if (topicOf(world, body.key)) conflict();
  const { key, name, description = null, default: fallback = "in", double_opt_in = false } = body;
  const topic = {
    key,
    name,
    description,
    default: fallback,
    double_opt_in,
    created_at: world.now,
    updated_at: world.now,
  };
  world.topics.push(topic);
  return created(record(topic));
}

function patch(world: World, { body }: Request, { key }: Record<string, string>) {
  const topic = topicOf(world, key) ?? notFound();
  const { name = topic.name, description = topic.description, default: fallback = topic.default } = body;
  const { double_opt_in = topic.double_opt_in } = body;
  Object.assign(topic, { name, description, default: fallback, double_opt_in, updated_at: world.now });
  return ok(record(topic));
}

function preferences(world: World, { query }: Request) {
  const { id } = personOf(world, query) ?? notFound();
  return ok({ subscriber_id: id, topics: new Unordered(topicChoices(world, id)) });
}

/** `topics`: a map of keys to what the person chooses. */
function choose(world: World, { body }: Request) {
  const subscriber = personOf(world, body) ?? notFound();
  const unknown = Object.keys(body.topics).filter((key) => !topicOf(world, key));
  if (unknown.length > 0) invalid(...unknown.map((key) => `topics.${key}`));
  // Choosing what is chosen already is no new statement.
  const news = Object.entries<string>(body.topics).filter(
    ([topic, status]) => choiceOf(world, subscriber.id, topic)?.status !== status,
  );
  for (const [topic, status] of news)
    stated(world, subscriber, { channel: `topic:${topic}`, status, consented_at: world.now, source: ANY });
  const { id } = subscriber;
  return ok({ subscriber_id: id, topics: new Unordered(topicChoices(world, id)) });
}

export const topicOperations: Operation[] = [
  write("POST /api/v1/topics", "content:write", create),
  read("GET /api/v1/topics", (world) => ok({ items: new Unordered(world.topics.map(record)) })),
  read("GET /api/v1/topics/:key", (world, _, { key }) => ok(record(topicOf(world, key) ?? notFound()))),
  write("PATCH /api/v1/topics/:key", "content:write", patch),
  { route: "GET /v1/preferences", who: ["sdk"], run: preferences },
  { route: "PUT /v1/preferences", who: ["sdk"], run: choose },
];
