// The kinds of configuration: how each is read, compared, created and changed.
import type { Connection } from "../connection.ts";
import { type ListedKind, seenName } from "../names.ts";
import { isObject, objectsIn, type Resource } from "../resource.ts";

/** Whether a resource can be changed now. `left` resources stay as they are, and files do not see `ignored` ones. */
export type Editability = { kind: "editable" } | { kind: "left" | "blocked"; reason: string } | { kind: "ignored" };

type Caller = Pick<Connection, "call">;

export interface Kind {
  name: ListedKind;
  /** The field of a file that names it. */
  keyField: "name" | "key";
  /** The id or key in its routes. */
  idOf(resource: Resource): string;
  /** The fields of the API that a file does not have. */
  owned: readonly string[];
  /** Fields that are compared as a whole: what is missing in them is removed. */
  whole: readonly string[];
  /** Fields in which `null` means something other than an absent field. */
  nullable?: readonly string[];
  /** Fields that cannot be changed. */
  fixed: readonly string[];
  editability(resource: Resource): Editability;
  keyOf(resource: Resource): string;
  /** The fields of a resource that a file has, without its references. */
  documentOf?(resource: Resource): Resource;
  /** @returns the new resource */
  create(caller: Caller, document: Resource): Promise<Resource>;
  /** @param document all fields, of the file and what the file leaves as it is */
  update(caller: Caller, id: string, document: Resource, changed: readonly string[]): Promise<void>;
  /** Whether an earlier apply ended before the work that follows a change. */
  isUnfinished?(resource: Resource): boolean;
  finish?(caller: Caller, id: string): Promise<void>;
}

const editable = (): Editability => ({ kind: "editable" });
const nameOf = ({ name }: Resource) => String(name);
const OWNED = ["id", "created_at", "updated_at"] as const;

/** The fields of a document that are named, without those that it lacks. */
const pick = (document: Resource, names: readonly string[]): Resource =>
  Object.fromEntries(names.flatMap((name) => (document[name] === undefined ? [] : [[name, document[name]]])));

/** Writes all fields of a document. */
const writesAll =
  (method: string): Kind["update"] =>
  async ({ call }, id, document) =>
    void (await call(method, id, document));

/** Writes the fields that changed. */
const writesChanged =
  (method: string): Kind["update"] =>
  async ({ call }, id, document, changed) =>
    void (await call(method, id, pick(document, changed)));

/** The defaults of most kinds: they are found by name, can always be changed, and are created from their files. */
const plain = (name: ListedKind) => ({
  name,
  keyField: "name" as const,
  idOf: ({ id }: Resource) => String(id),
  keyOf: nameOf,
  owned: OWNED,
  whole: [],
  fixed: [],
  editability: editable,
  create: ({ call }: Caller, document: Resource) => call(`${name}.create`, document),
});

const lists: Kind = {
  ...plain("lists"),
  owned: [...OWNED, "subscriber_count"],
  update: writesAll("lists.update"),
};

const keyOfTopic = ({ key }: Resource) => String(key);

const topics: Kind = {
  ...plain("topics"),
  keyField: "key",
  idOf: keyOfTopic,
  keyOf: keyOfTopic,
  fixed: ["key"],
  update: writesChanged("topics.update"),
};

const channels: Kind = {
  ...plain("channels"),
  owned: [...OWNED, "status", "verified_at", "verification_error", "last_error", "settings"],
  fixed: ["type"],
  create: async ({ call }, document) => {
    const channel = await call("channels.create", pick(document, ["type", "name"]));
    const settings = pick(document, ["active", "rate_per_second", "price_per_message"]);
    const { active, rate_per_second = null, price_per_message = null } = settings;
    const isDefault = active !== false && rate_per_second === null && price_per_message === null;
    return isDefault ? channel : call("channels.update", channel.id, settings);
  },
  update: writesChanged("channels.update"),
};

const segments: Kind = {
  ...plain("segments"),
  owned: [...OWNED, "needs_recompute", "last_error", "count"],
  whole: ["rule"],
  fixed: ["is_dynamic"],
  update: async ({ call }, id, document) => void (await call("segments.update", id, pick(document, ["name", "rule"]))),
  // A new segment is computed by itself; a changed one only on request.
  isUnfinished: ({ is_dynamic, needs_recompute, created_at, updated_at }) =>
    is_dynamic === false && needs_recompute === true && created_at !== updated_at,
  finish: async ({ call }, id) => void (await call("segments.recompute", id)),
};

const templates: Kind = {
  ...plain("templates"),
  update: async ({ call }, id, { content, ...document }, changed) => {
    // Texts of channels that are not among all texts any more are removed.
    const texts = isObject(content) ? { by_channel: {}, ...content } : content;
    await call("templates.update", id, pick({ ...document, content: texts }, changed));
  },
};

/** A webhook endpoint has no name: its description stands for one, else its address. */
const nameOfEndpoint = ({ description, target_url }: Resource) =>
  seenName(typeof description === "string" ? description : "") || String(target_url);

const webhooks: Kind = {
  ...plain("webhooks"),
  owned: [...OWNED, "consecutive_failures", "disabled_at", "secret"],
  whole: ["events"],
  keyOf: nameOfEndpoint,
  documentOf: (webhook) => ({ name: nameOfEndpoint(webhook), ...without(webhook, ["description"]) }),
  create: async ({ call }, { name, active, ...endpoint }) => {
    const webhook = await call("webhooks.create", { ...endpoint, description: name });
    if (active === false) await call("webhooks.update", webhook.id, { active });
    return webhook;
  },
  update: async ({ call }, id, document, changed) => {
    const { name, ...endpoint } = pick(document, changed);
    // An endpoint without a description is found by its address, unless that changes.
    const isNamed = name !== undefined || endpoint.target_url !== undefined;
    await call("webhooks.update", id, { ...endpoint, ...(isNamed && { description: document.name }) });
  },
};

const journeys: Kind = {
  ...plain("journeys"),
  owned: [...OWNED, "status", "version", "entered", "completed"],
  whole: ["trigger", "entry_rules", "steps"],
  editability: ({ status }) => {
    if (status === "archived") return { kind: "ignored" };
    if (status !== "active") return editable();
    return { kind: "blocked", reason: "the journey is active: pause it, then apply again" };
  },
  update: writesAll("journeys.replace"),
};

/** Fields that repeat the first message of a campaign. */
const REPEATED = [
  "content",
  "template_id",
  "chat_app_template_id",
  "chat_app_parameters",
  "variant_b",
  "split_percentage",
  "channel_ids",
];
const OWNED_BY_MESSAGE = ["id", "position", "job_id", "error"];

const without = (resource: Resource, names: readonly string[]): Resource =>
  Object.fromEntries(Object.entries(resource).filter(([name]) => !names.includes(name)));

const campaigns: Kind = {
  ...plain("campaigns"),
  owned: [...OWNED, ...REPEATED, "status", "approval", "last_error"],
  whole: ["target"],
  nullable: ["safety"],
  editability: ({ status }) =>
    status === "draft"
      ? editable()
      : { kind: "left", reason: `the campaign is ${String(status)}: a draft needs another name` },
  documentOf: (campaign) => {
    const messages = objectsIn(campaign.messages);
    const isRepeated = campaign.scheduled_at === messages[0]?.scheduled_at;
    return {
      ...without(campaign, isRepeated ? ["scheduled_at"] : []),
      messages: messages.map((message) => without(message, OWNED_BY_MESSAGE)),
    };
  },
  update: writesAll("campaigns.replace"),
};

/** The kinds in an order in which each refers only to those before it. */
export const kinds: readonly Kind[] = [lists, topics, channels, segments, templates, webhooks, journeys, campaigns];

/** The fields of a resource that a file has: no ids, states or times, and no `null` without a meaning. */
export function documentOf({ keyField, owned, nullable = [], documentOf: shape }: Kind, resource: Resource): Resource {
  const document = without(shape ? shape(resource) : resource, owned);
  const fields = Object.fromEntries(
    Object.entries(document).filter(([name, value]) =>
      value === null ? nullable.includes(name) : value !== undefined,
    ),
  );
  return { [keyField]: fields[keyField], ...fields };
}
