// Notification templates: reusable titles and bodies, unique by name in their workspace.
import * as v from "valibot";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { MessageContent } from "../../../shared/http/message-content.ts";
import { pageFields } from "../../../shared/http/paging.ts";
import { Force, TextUpTo } from "../../../shared/http/schemas.ts";
import { storeWrite, timers } from "../../../shared/resources.ts";
import { releaseTemplate } from "../../../shared/store/dependents.ts";
import {
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
  Template,
  updateTemplate,
} from "../../../shared/store/sends/templates.ts";

const MAX_NAME_CHARACTERS = 200;

const Name = v.pipe(
  v.string("must be a string"),
  v.trim(),
  v.nonEmpty("must not be empty"),
  v.maxLength(MAX_NAME_CHARACTERS, `must have at most ${MAX_NAME_CHARACTERS} characters`),
);

const NewTemplate = v.strictObject({ name: Name, content: MessageContent });

const TemplateChange = v.pipe(
  v.strictObject({
    name: v.optional(Name),
    content: v.optional(v.partial(MessageContent)),
  }),
  v.check(
    ({ name, content = {} }) => name !== undefined || Object.keys(content).length > 0,
    "name or a field of content is required",
  ),
);

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });

export const templates = group("templates", "Reusable titles and bodies of messages.", [
  endpoint(
    "POST /api/v1/templates",
    { permission: "content:write", agents: "write:drafts" },
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
    { agents: "read" },
    {
      summary: "List templates, newest first",
      query: v.object({ ...pageFields("per_page"), name: v.optional(TextUpTo(200)) }),
      returns: v.object({ data: v.array(Template), total: v.number(), page: v.number() }),
    },
    ({ store, query: { page, per_page: size, name } }) => listTemplates(store, { page, size, name }),
  ),

  endpoint(
    "GET /api/v1/templates/:id",
    { agents: "read" },
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
    { permission: "content:write", uses: [storeWrite, timers] },
    {
      summary: "Delete a template: scheduled jobs that refer to it will fail",
      description:
        "One that an active schedule or journey uses, only if `force` is true: the schedule is then switched off, the " +
        "journey paused, with an annotation.",
      query: Force,
      errors: ["NOT_FOUND", "CONFLICT"],
    },
    async ({ store, timers, params, query }) => {
      await releaseTemplate(store, timers, await getTemplate(store, params.id), query);
      return removeTemplate(store, params.id);
    },
  ),
]);
