// Notification templates: reusable titles and bodies, unique by name in their workspace.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { MessageBody, MessageTitle } from "../../../shared/http/message-text.ts";
import { pageFields } from "../../../shared/http/paging.ts";
import { Timestamp } from "../../../shared/http/schemas.ts";
import { storeWrite } from "../../../shared/resources.ts";
import {
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
  updateTemplate,
} from "../../../shared/store/sends/templates.ts";

const MOST_NAME_CHARACTERS = 200;

const Name = v.pipe(
  v.string("must be a string"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.maxLength(MOST_NAME_CHARACTERS, `must have at most ${MOST_NAME_CHARACTERS} characters`),
);

const Template = v.object({
  id: v.string(),
  name: v.string(),
  content: v.object({ title: v.string(), body: v.string() }),
  created_at: Timestamp,
});

const NewTemplate = v.strictObject({
  name: Name,
  content: v.strictObject({ title: MessageTitle, body: MessageBody }),
});

const TemplateChange = v.pipe(
  v.strictObject({
    name: v.optional(Name),
    content: v.optional(v.strictObject({ title: v.optional(MessageTitle), body: v.optional(MessageBody) })),
  }),
  v.check(
    ({ name, content }) => name !== undefined || content?.title !== undefined || content?.body !== undefined,
    "at least one of name, content.title and content.body is required",
  ),
);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });

export const templates = group("templates", "Reusable titles and bodies of messages.", [
  endpoint(
    "POST /api/v1/templates",
    { permission: "content:write" },
    {
      summary: "Create a template",
      body: NewTemplate,
      returns: Template,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, body }) => createTemplate(store, body),
  ),

  endpoint(
    "GET /api/v1/templates",
    {},
    {
      summary: "List templates, newest first",
      query: v.object({ ...pageFields("per_page"), name: v.optional(v.string()) }),
      returns: v.object({ data: v.array(Template), total: v.number(), page: v.number() }),
    },
    ({ store, query: { page, per_page: size, name } }) => listTemplates(store, { page, size, name }),
  ),

  endpoint(
    "GET /api/v1/templates/:id",
    {},
    { summary: "Get a template", returns: Template, errors: ["NOT_FOUND"] },
    ({ store, params }) => getTemplate(store, params.id),
  ),

  endpoint(
    "PATCH /api/v1/templates/:id",
    { permission: "content:write" },
    {
      summary: "Change a template: supplied fields overwrite, others stay",
      body: TemplateChange,
      returns: Template,
      example: { body: { name: "Spring sale, second try" } },
      errors: ["NOT_FOUND"],
    },
    ({ store, params, body }) => updateTemplate(store, params.id, body),
  ),

  endpoint(
    "DELETE /api/v1/templates/:id",
    { permission: "content:write" },
    { summary: "Delete a template: scheduled jobs that refer to it will fail", errors: ["NOT_FOUND"] },
    ({ store, params }) => removeTemplate(store, params.id),
  ),
]);
