// Notification templates (TPL).
import { created, type Operation, ok, read, write } from "./access.ts";
import { listing, pageNumber, requiredText } from "./checks.ts";
import { type Body, invalid, iso, isRecord, type Request, templateNotFound, Unordered } from "./kit.ts";
import type { Template } from "./records/sends.ts";
import { existing, found, newId, type World } from "./world.ts";

const record = ({ created_at, ...template }: Template): Body => ({ ...template, created_at: iso(created_at) });
/** NTF-21, AMB-89: wherever a template is named it must exist. */
export function needTemplate(world: World, id: unknown): void {
  if (id !== undefined && id !== null && !found(world.templates, id)) templateNotFound();
}

/** TPL-2: a duplicate name is 422. */
function create(world: World, { body }: Request) {
  requiredText(body, "name");
  if (!isRecord(body.content)) invalid();
  if (!body.content.title) invalid("content.title");
  if (!body.content.body) invalid("content.body");
  if (world.templates.some(({ name }) => name === body.name)) invalid("name");
  const template = {
    id: newId(world, "template"),
    name: body.name,
    content: { ...body.content },
    created_at: world.now,
  };
  world.templates.push(template);
  return created(record(template));
}

/** TPL-4: a case-insensitive contains filter. */
function page(world: World, { query }: Request) {
  pageNumber(query, "page", 1, 1e9);
  const size = pageNumber(query, "per_page", 20, 100);
  const matching = world.templates.filter(({ name }) => name.toLowerCase().includes((query.name ?? "").toLowerCase()));
  return listing("data", new Unordered(matching.map(record)), size, matching.length);
}

/** TPL-6: what is supplied overwrites, the rest stays. */
function patch(world: World, { body }: Request, { id }: Record<string, string>) {
  if (Object.keys(body).length === 0) invalid();
  const template = existing(world.templates, id);
  if (world.templates.some((other) => other !== template && other.name === body.name)) invalid("name");
  if (body.name !== undefined) template.name = body.name;
  template.content = { ...template.content, ...body.content };
  return ok(record(template));
}

export const templateOperations: Operation[] = [
  write("POST /api/v1/templates", "content:write", create),
  read("GET /api/v1/templates", page),
  read("GET /api/v1/templates/:id", (world, _, { id }) => ok(record(existing(world.templates, id)))),
  write("PATCH /api/v1/templates/:id", "content:write", patch),
];
