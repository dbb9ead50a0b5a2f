// Notification templates (TPL): unique by name in their workspace.
import * as v from "valibot";
import { timestamp } from "../../clock.ts";
import { ApiError, invalid, notFound } from "../../http/errors.ts";
import { offsetOf, type PageQuery } from "../../http/paging.ts";
import { isUuid, Timestamp } from "../../http/schemas.ts";
import type { Store, StoreReader } from "../../resources.ts";
import { fieldsOf, type RowOf } from "../item.ts";
import { changeNamed, createNamed, getEntities, listNames, MAX_ENTITIES, removeNamed } from "../name-index.ts";
import { TemplateItem, templateContent } from "./template-items.ts";

const Content = v.object(templateContent);

export const Template = v.object({ id: v.string(), name: v.string(), content: Content, created_at: Timestamp });
export type Template = v.InferOutput<typeof Template>;

interface TemplateChange {
  name?: string | undefined;
  content?: { [N in keyof Template["content"]]?: Template["content"][N] | undefined } | undefined;
}

const nameTaken = () => invalid({ name: "is already used by another template" });

/** @throws 422 if the name is taken (TPL-3). */
export async function createTemplate(
  store: Store,
  { name, content }: Pick<Template, "name" | "content">,
): Promise<Template> {
  if ((await listNames(store, TemplateItem)).length >= MAX_ENTITIES)
    throw new ApiError("QUOTA_EXCEEDED", `A workspace holds at most ${MAX_ENTITIES} templates.`);
  const now = store.clock.now();
  const template = { id: store.ids.uuidAt(now), name, content, created_at: timestamp(now) };
  const { id, created_at } = template;
  if (!(await createNamed(store, TemplateItem, { id, name, ...content, created_at }))) throw nameTaken();
  return template;
}

/** @throws 404, also for another workspace's template. */
export async function getTemplate(store: StoreReader, id: string): Promise<Template> {
  const row = await store.get(TemplateItem, { id });
  if (!row) throw notFound("template");
  return templateOf(row);
}

/** @throws 422 TEMPLATE_NOT_FOUND if there is no such template (NTF-21, AMB-89). */
export async function requireTemplate(store: StoreReader, id: string): Promise<Template> {
  const row = isUuid(id) ? await store.get(TemplateItem, { id }) : undefined;
  if (!row)
    throw new ApiError("TEMPLATE_NOT_FOUND", "template_id: no such template in this workspace", {
      fields: { template_id: "no such template in this workspace" },
    });
  return templateOf(row);
}

/** TPL-4: newest first; `name` matches anywhere in the name, in any case. */
export async function listTemplates(
  store: StoreReader,
  { name = "", ...page }: PageQuery & { name?: string | undefined },
) {
  const wanted = name.toLowerCase();
  const names = (await listNames(store, TemplateItem)).filter((one) => one.name.toLowerCase().includes(wanted));
  const { from, to } = offsetOf(page);
  const ids = names.slice(from, to).map(({ id }) => id);
  const rows = await getEntities(store, TemplateItem, ids, { asRange: wanted === "" });
  return { data: rows.map(templateOf), total: names.length, page: page.page };
}

/** TPL-6: supplied fields overwrite, others stay. @throws 404, 422 if the new name is taken. */
export async function updateTemplate(
  store: Store,
  id: string,
  { name, content = {} }: TemplateChange,
): Promise<Template> {
  const changed = await changeNamed(store, TemplateItem, id, { set: content }, name);
  if (changed === "missing") throw notFound("template");
  if (changed === "taken") throw nameTaken();
  return templateOf(changed);
}

/** @throws 404. */
export async function removeTemplate(store: Store, id: string): Promise<void> {
  if (!(await removeNamed(store, TemplateItem, id))) throw notFound("template");
}

const templateOf = (row: RowOf<typeof TemplateItem>): Template => ({
  id: row.id,
  name: row.name,
  content: fieldsOf(templateContent, row),
  created_at: row.created_at,
});
