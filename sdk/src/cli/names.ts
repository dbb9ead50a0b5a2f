// Finds things of a workspace by their names.
import { CommandError } from "./command.ts";
import type { Connection } from "./connection.ts";
import type { Resource } from "./resource.ts";

type Caller = Pick<Connection, "call">;

/** As in shared/rules/characters.ts of the service, which a test compares. */
const SHAPES = "\\u200c\\u200d\\ufe00-\\ufe0f\\u{e0020}-\\u{e007f}\\u{e0100}-\\u{e01ef}";
const UNSEEN = new RegExp(`(?![${SHAPES}])\\p{DI}`, "gu");
const UNSEEN_SHAPES = new RegExp(
  `(?<=^|[\\s\\p{ASCII}\\p{sc=Latn}\\p{sc=Grek}\\p{sc=Cyrl}])(?!\\ufe0f\\u20e3)[${SHAPES}]+|[\\u200c\\u200d]+$`,
  "gu",
);

/** A name as the service keeps it: as it looks, in one form of Unicode, with single spaces. */
export const seenName = (name: string): string =>
  name
    .replaceAll(UNSEEN, "")
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replaceAll(UNSEEN_SHAPES, "")
    .trim()
    .normalize("NFC");

/** How each list is read: the field that holds its items, and how its pages are asked for. */
const lists = {
  templates: { method: "templates.list", items: "data", paging: "per_page" },
  lists: { method: "lists.list", items: "items", paging: "page_size" },
  campaigns: { method: "campaigns.list", items: "items", paging: "page_size" },
  segments: { method: "segments.list", items: "segments", paging: "cursor" },
  journeys: { method: "journeys.list", items: "journeys", paging: "cursor" },
  topics: { method: "topics.list", items: "items", paging: "none" },
  channels: { method: "channels.list", items: "channels", paging: "none" },
  webhooks: { method: "webhooks.list", items: "items", paging: "none" },
} as const;
export type Listed = keyof typeof lists;

const PAGE_SIZE = 100;

/** Everything of a kind, page by page. */
export async function listAll({ call }: Caller, kind: Listed): Promise<Resource[]> {
  const { method, items, paging } = lists[kind];
  const found: Resource[] = [];
  for (let page = 1, cursor = ""; ; page++) {
    const query = paging === "cursor" ? { ...(cursor && { cursor }) } : { page, [paging]: PAGE_SIZE };
    const answer = paging === "none" ? await call(method) : await call(method, query);
    const part = answer[items] as Resource[];
    found.push(...part);
    cursor = paging === "cursor" ? String(answer.next_cursor ?? "") : "";
    const isAll = paging === "none" || part.length === 0 || found.length >= Number(answer.total);
    if (paging === "cursor" ? cursor === "" : isAll) return found;
  }
}

/** The id of a subscriber. @throws CommandError if there is none with the external id */
export async function subscriberId({ client }: Pick<Connection, "client">, external_id: string): Promise<string> {
  const [found] = (await client.subscribers.list({ external_id })).items;
  if (!found) throw new CommandError(`There is no subscriber with the external id ${external_id}.`);
  return found.id;
}

const singular = (kind: Listed) => kind.slice(0, -1);

/** Whether something has this name or id. */
export const isCalled =
  (nameOrId: string) =>
  ({ id, name }: Resource): boolean =>
    id === nameOrId || name === nameOrId || name === seenName(nameOrId);

/** The id of what has this name or id. @throws CommandError if there is none, or more than one. */
export async function idOf(caller: Caller, kind: Listed, nameOrId: string): Promise<string> {
  const all = await listAll(caller, kind);
  const [found, ...more] = all.filter(isCalled(nameOrId));
  if (!found) throw new CommandError(`There is no ${singular(kind)} ${nameOrId}.`);
  if (more.length > 0) {
    const ids = [found, ...more].map(({ id }) => String(id));
    throw new CommandError(`${ids.length} ${kind} have the name ${nameOrId}. Use an id: ${ids.join(", ")}`);
  }
  return String(found.id);
}
