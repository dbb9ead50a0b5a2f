// Notification templates (TPL): unique by name in their workspace.
import * as v from "valibot";
import { inOneAnswer, offsetOf, type PageQuery } from "../../contract/paging.ts";
import { isUuid, Timestamp } from "../../contract/schemas.ts";
import { ShownContent } from "../../contract/shown-content.ts";
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, invalid, notFound, requireFound } from "../../kernel/errors.ts";
import type { Store, StoreReader } from "../context.ts";
import { anotherEdit, type EditResult, edited, isStill, outdated, versionOf } from "../edits.ts";
import type { MailKeeping, MailReading } from "../files/mails.ts";
import type { RowOf } from "../item.ts";
import { toJson } from "../json-text.ts";
import { changeNamed, createNamed, getEntities, listNames, removeNamed, requireRoomForName } from "../name-index.ts";
import { abridged } from "../sends/content/apart.ts";
import { contentOfTemplate, type TemplateContent, TemplateItem } from "./items.ts";

export const Template = v.object({
  id: v.string(),
  name: v.string(),
  content: ShownContent,
  created_at: Timestamp,
});
export interface Template {
  id: string;
  name: string;
  content: TemplateContent;
  /** Not of the body: the entity tag. */
  version: number;
  created_at: string;
}

interface TemplateChange {
  name?: string | undefined;
  content?: { [N in keyof TemplateContent]?: TemplateContent[N] | undefined } | undefined;
}

interface KeptIn {
  store: Store;
  mails: MailKeeping;
}

const nameTaken = () => invalid({ name: "is already used by another template" });

/** Creates a template. @throws 422 if the name is taken (TPL-3) */
export async function createTemplate(
  { store, mails }: KeptIn,
  { name, content }: Pick<Template, "name" | "content">,
): Promise<Template> {
  await requireRoomForName(store, TemplateItem, "templates");
  const now = store.clock.now();
  const template = { id: store.ids.uuidAt(now), name, content, version: 1, created_at: timestamp(now) };
  const { id, created_at } = template;
  const [kept = content] = await mails.keep([content]);
  const { by_channel, ...texts } = kept;
  const row = { id, name, ...texts, by_channel: by_channel && toJson(by_channel), created_at };
  const created = await createNamed(store, TemplateItem, row);
  if (created === "name taken") throw nameTaken();
  return template;
}

/** With the mails that are stored apart. */
export async function wholeTemplate(mails: MailReading, template: Template): Promise<Template> {
  const [content = template.content] = await mails.whole([template.content]);
  return { ...template, content };
}

/** The same for an answer. @param read for one of what is done, `asRead` */
export async function shownTemplate(read: MailReading["whole"], template: Template): Promise<Template> {
  const [content = template.content] = await read([template.content]);
  return { ...template, content: abridged(content) };
}

/** Large mails stay apart. @throws 404, also for another workspace's template. */
export async function getTemplate(store: StoreReader, id: string): Promise<Template> {
  const row = requireFound(await store.get(TemplateItem, { id }), "template");
  return templateOf(row);
}

/** Requires a template. @throws 422 TEMPLATE_NOT_FOUND if there is none (NTF-21, AMB-89) */
export async function requireTemplate(store: StoreReader, id: string, field = "template_id"): Promise<Template> {
  const row = isUuid(id) ? await store.get(TemplateItem, { id }) : undefined;
  if (!row)
    throw new ApiError("TEMPLATE_NOT_FOUND", `${field}: no such template in this workspace`, {
      fields: { [field]: "no such template in this workspace" },
    });
  return templateOf(row);
}

/** TPL-4: newest first; `name` matches anywhere in the name, in any case. Mails that are stored apart are left out. */
export async function listTemplates(
  store: StoreReader,
  { name = "", ...page }: PageQuery & { name?: string | undefined },
) {
  const names = await listNames(store, TemplateItem, name);
  const { from, to } = offsetOf(page);
  const ids = names.slice(from, to).map(({ id }) => id);
  const rows = await getEntities(store, TemplateItem, ids, { asRange: name === "" });
  const found = rows.map(templateOf);
  const data = found.map((one) => ({ ...one, content: abridged(one.content) }));
  return { data: inOneAnswer(data), total: names.length, page: page.page };
}

/**
 * TPL-6: supplied fields overwrite, others stay; an empty `by_channel` removes it.
 * @param seen only if it still has this version
 * @throws 404, 422 if the new name is taken.
 */
export async function updateTemplate(
  { store, mails }: KeptIn,
  id: string,
  { name, content = {} }: TemplateChange,
  seen?: number,
): Promise<EditResult<Template>> {
  const [kept = content] = await mails.keep([content]);
  const { by_channel, ...texts } = kept;
  const change = {
    set: { ...texts, ...(by_channel && { by_channel: toJson(by_channel) }) },
    add: anotherEdit,
    ...("by_channel" in content && !by_channel && { remove: ["by_channel" as const] }),
  };
  const when = seen === undefined ? undefined : isStill(seen);
  const outcome = await changeNamed(store, TemplateItem, id, { change, name, when });
  switch (outcome.kind) {
    case "changed":
      return edited(await shownTemplate(mails.asRead, templateOf(outcome.row)));
    case "refused":
      return outdated;
    case "taken":
      throw nameTaken();
    case "missing":
      throw notFound("template");
  }
}

/** Deletes a template. @throws 404 */
export async function removeTemplate(store: Store, id: string): Promise<void> {
  const removed = await removeNamed(store, TemplateItem, id);
  if (removed === "missing") throw notFound("template");
}

const templateOf = (row: RowOf<typeof TemplateItem>): Template => ({
  id: row.id,
  name: row.name,
  content: contentOfTemplate(row),
  version: versionOf(row),
  created_at: row.created_at,
});
