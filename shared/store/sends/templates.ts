// Notification templates (TPL): unique by name in their workspace.
import { timestamp } from "../../clock.ts";
import { ApiError, invalid, notFound } from "../../http/errors.ts";
import { offsetOf, type PageQuery } from "../../http/paging.ts";
import { isUuid } from "../../http/schemas.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { changeNamed, createNamed, getEntities, listEntries, MOST_ENTRIES, removeNamed } from "../catalogue.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";

export interface Template {
  id: string;
  name: string;
  content: { title: string; body: string };
  created_at: string;
}

interface TemplateChange {
  name?: string | undefined;
  content?: { title?: string | undefined; body?: string | undefined } | undefined;
}

const nameTaken = () => invalid({ name: "is already used by another template" });

/** @throws 422 if the name is taken (TPL-3). */
export async function createTemplate(
  store: Store,
  { name, content }: Pick<Template, "name" | "content">,
): Promise<Template> {
  if ((await listEntries(store, "template")).length >= MOST_ENTRIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MOST_ENTRIES} templates.`);
  const now = store.clock.now();
  const template = { id: store.ids.uuidAt(now), name, content, created_at: timestamp(now) };
  const { title, body } = content;
  if (!(await createNamed(store, "template", name, template.id, { title, body, created_at: template.created_at })))
    throw nameTaken();
  return template;
}

/** @throws 404, also for another workspace's template. */
export async function getTemplate(store: StoreReader, id: string): Promise<Template> {
  const item = await store.get(keys.entity(store.tenant, "template", id));
  if (!item) throw notFound("template");
  return templateOf(item);
}

/** @throws 422 TEMPLATE_NOT_FOUND if a reference points nowhere (NTF-21, AMB-89). */
export async function requireTemplate(store: StoreReader, id: string): Promise<Template> {
  const item = isUuid(id) ? await store.get(keys.entity(store.tenant, "template", id)) : undefined;
  if (!item)
    throw new ApiError("TEMPLATE_NOT_FOUND", "template_id: no such template in this workspace", {
      fields: { template_id: "no such template in this workspace" },
    });
  return templateOf(item);
}

/** TPL-4: newest first; `name` matches anywhere, whatever the case. */
export async function listTemplates(
  store: StoreReader,
  { name = "", ...page }: PageQuery & { name?: string | undefined },
) {
  const wanted = name.toLowerCase();
  const entries = (await listEntries(store, "template")).filter((entry) => entry.name.toLowerCase().includes(wanted));
  const { from, to } = offsetOf(page);
  const items = await getEntities(
    store,
    "template",
    entries.slice(from, to).map(({ id }) => id),
    { adjoin: wanted === "" },
  );
  return { data: items.map(templateOf), total: entries.length, page: page.page };
}

/** TPL-6: supplied fields overwrite, others stay. @throws 404, 422 if the new name is taken. */
export async function updateTemplate(
  store: Store,
  id: string,
  { name, content = {} }: TemplateChange,
): Promise<Template> {
  const set = { title: content.title, body: content.body };
  const changed = await changeNamed(store, "template", id, { set }, name);
  if (changed === "missing") throw notFound("template");
  if (changed === "taken") throw nameTaken();
  return templateOf(changed);
}

/** @throws 404. */
export async function removeTemplate(store: Store, id: string): Promise<void> {
  if (!(await removeNamed(store, "template", id))) throw notFound("template");
}

const templateOf = (item: Item): Template => ({
  id: String(item.id),
  name: String(item.name),
  content: { title: String(item.title), body: String(item.body) },
  created_at: String(item.created_at),
});
