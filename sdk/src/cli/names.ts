// Finds things of a workspace by their names.
import { ServiceError } from "../errors.ts";
import { CommandError } from "./command.ts";
import type { Connection } from "./connection.ts";
import type { Resource } from "./resource.ts";

type Caller = Pick<Connection, "call">;

/** The same as in shared/rules/characters.ts of the service; a test compares them. */
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
export type ListedKind = keyof typeof lists;

/** Page sizes: the next smaller one is used if an answer has no room for a page. Each divides the one before. */
const PAGE_SIZES = [100, 20, 5, 1] as const;

/** Everything of a kind, page by page. */
export async function listAll({ call }: Caller, kind: ListedKind): Promise<Resource[]> {
  const { method, items, paging } = lists[kind];
  const ask = async (query?: object) => {
    const { [items]: part, total, next_cursor: cursor } = await call(method, ...(query ? [query] : []));
    return { part: part as Resource[], total: Number(total), cursor: String(cursor ?? "") };
  };
  const numbered = async (page: number, [size, ...smaller]: readonly number[]): ReturnType<typeof ask> => {
    try {
      return await ask({ page, [paging]: size });
    } catch (error) {
      const isTooLarge = error instanceof ServiceError && error.fields?.page !== undefined;
      const [next] = smaller;
      if (!isTooLarge || size === undefined || next === undefined) throw error;
      const [count, first] = [size / next, (page - 1) * (size / next) + 1];
      const all = await numbered(first, smaller);
      for (let n = 1; n < count; n++) all.part.push(...(await numbered(first + n, smaller)).part);
      return all;
    }
  };

  const found: Resource[] = [];
  for (let page = 1, after = ""; ; page++) {
    const isNumbered = paging !== "cursor" && paging !== "none";
    const { part, total, cursor } = isNumbered
      ? await numbered(page, PAGE_SIZES)
      : await ask(after ? { cursor: after } : undefined);
    found.push(...part);
    after = cursor;
    const isAll = isNumbered ? part.length === 0 || found.length >= total : cursor === "";
    if (isAll) return found;
  }
}

/** The id of a subscriber. @throws CommandError if there is none with the external id */
export async function subscriberId({ client }: Pick<Connection, "client">, external_id: string): Promise<string> {
  const [found] = (await client.subscribers.list({ external_id })).items;
  if (!found) throw new CommandError(`There is no subscriber with the external id ${external_id}.`);
  return found.id;
}

const singular = (kind: ListedKind) => kind.slice(0, -1);

/** Whether something has this name or id. */
export const isCalled =
  (nameOrId: string) =>
  ({ id, name }: Resource): boolean =>
    id === nameOrId || name === nameOrId || name === seenName(nameOrId);

/** The id of the resource with this name or id. @throws CommandError if there is none, or more than one. */
export async function idOf(caller: Caller, kind: ListedKind, nameOrId: string): Promise<string> {
  const all = await listAll(caller, kind);
  const [found, ...more] = all.filter(isCalled(nameOrId));
  if (!found) throw new CommandError(`There is no ${singular(kind)} ${nameOrId}.`);
  if (more.length > 0) {
    const ids = [found, ...more].map(({ id }) => String(id));
    throw new CommandError(`${ids.length} ${kind} have the name ${nameOrId}. Use an id: ${ids.join(", ")}`);
  }
  return String(found.id);
}
