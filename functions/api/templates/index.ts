// Notification templates: reusable titles and bodies, unique by name in their workspace.
import * as v from "valibot";
import { CustomData } from "../../../shared/contract/custom-data.ts";
import { MessageContent } from "../../../shared/contract/message-content.ts";
import { pageFields } from "../../../shared/contract/paging.ts";
import { Force, NameUpTo, OneOf, SomeOf, said, TextUpTo, Uuid } from "../../../shared/contract/schemas.ts";
import { TopicOfSend } from "../../../shared/contract/topic-key.ts";
import { attributesSeenBy } from "../../../shared/http/authenticate.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { editAsSeen, IF_MATCH, tagged } from "../../../shared/http/if-match.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { channelTypes } from "../../../shared/rules/channel-types.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { listChannels } from "../../../shared/store/channels/channels.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { releaseTemplate, templateUsers, UsedBy, usedBy } from "../../../shared/store/dependents.ts";
import { mailKeeping, mailReading } from "../../../shared/store/files/mails.ts";
import { chatAppWords } from "../../../shared/store/sends/content/chat-app-words.ts";
import { mailFrameOf, Rendering, renderingsOf } from "../../../shared/store/sends/content/renderings.ts";
import { categories } from "../../../shared/store/sends/jobs/job-spec.ts";
import { getProfile } from "../../../shared/store/subscribers/subscribers.ts";
import {
  createTemplate,
  getTemplate,
  listTemplates,
  removeTemplate,
  shownTemplate,
  Template,
  updateTemplate,
} from "../../../shared/store/templates/templates.ts";

const MAX_NAME_CHARACTERS = 200;

const Name = NameUpTo(MAX_NAME_CHARACTERS);

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

const PreviewedContent = v.strictObject({
  content: MessageContent,
  data: v.optional(CustomData),
  render_for: said(
    "The subscriber whose attributes fill the texts. Left out: a subscriber without attributes",
    v.optional(Uuid),
  ),
  channels: said(
    "The kinds of channels that are shown. Default: all of them",
    v.optional(SomeOf(OneOf(channelTypes), "channel", channelTypes.length), [...channelTypes]),
  ),
  category: said(
    "Of a send with this content: marketing mail has the footer of the workspace, and its links carry `utm_defaults`",
    v.optional(v.picklist(categories, "must be marketing or transactional")),
  ),
  topic: said("Of the send: its mail has a link to the preferences", TopicOfSend),
  name: said("Of the send: what `utm_campaign` says where the workspace sets none", v.optional(Name)),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });

export const templates = group("templates", "Reusable titles and bodies of messages.", [
  endpoint(
    "POST /api/v1/templates",
    { permission: "content:write", agents: "write:drafts", uses: [mailKeeping] },
    {
      summary: "Create a template",
      body: NewTemplate,
      returns: Template,
      status: 201,
      errors: ["QUOTA_EXCEEDED"],
    },
    (call) => createTemplate(call, call.body),
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
    "POST /api/v1/templates/preview",
    { effect: "read", agents: "read", uses: [workspaceRead] },
    {
      summary: "Preview a content before it is saved: what a subscriber would see on each channel",
      description:
        "Rendered by the code that sends; the links of a footer lead nowhere. Nothing is stored or sent, and consent is not judged: see " +
        "`POST /api/v1/notifications/preview` for who would get a send.",
      body: PreviewedContent,
      returns: v.object({ renderings: v.array(Rendering) }),
      example: { body: { content: { title: "Hello {{ subscriber.first_name }}", body: "It works." } } },
    },
    async ({
      store,
      workspace,
      caller,
      body: { content, data = null, render_for, channels, category, topic, name = null },
      clock,
    }) => {
      const profile = render_for === undefined ? undefined : await getProfile(store, render_for);
      if (render_for !== undefined && !profile) throw invalid({ render_for: "no such subscriber in this workspace" });
      const said = { ...content, data, variant_b: null };
      const chatApps = channels.includes("chat_app") ? await listChannels(store) : [];
      const settings = category === "marketing" ? await workspace() : undefined;
      return {
        renderings: renderingsOf(said, channels, {
          profile,
          sees: attributesSeenBy(caller),
          arm: "a",
          now: clock.now(),
          mail: mailFrameOf(settings, { category, topic, name }),
          chatApp: await chatAppWords(store, chatApps, said),
        }),
      };
    },
  ),

  endpoint(
    "GET /api/v1/templates/:id",
    { agents: "read", uses: [mailReading] },
    {
      summary: "Get a template",
      description: "The header `ETag` is its version.",
      returns: Template,
    },
    async ({ store, mails, params }) => tagged(await shownTemplate(mails.whole, await getTemplate(store, params.id))),
  ),

  endpoint(
    "GET /api/v1/templates/:id/usage",
    {},
    {
      summary: "Get what would send a template",
      returns: v.object({ used_by: said("What would send it", UsedBy) }),
    },
    async ({ store, params }) => {
      const { id } = await getTemplate(store, params.id);
      return { used_by: usedBy(await templateUsers(store, id)) };
    },
  ),

  endpoint(
    "PATCH /api/v1/templates/:id",
    { permission: "content:write", uses: [mailKeeping] },
    {
      summary: "Change a template: supplied fields overwrite, others stay",
      description: IF_MATCH,
      body: TemplateChange,
      returns: Template,
      example: { body: { name: "Spring sale, second try" } },
      errors: ["PRECONDITION_FAILED"],
    },
    ({ store, mails, params, body, headers }) =>
      editAsSeen(headers, Template, {
        read: async () => shownTemplate(mails.asRead, await getTemplate(store, params.id)),
        edit: (seen) => updateTemplate({ store, mails }, params.id, body, seen?.version),
      }),
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
      errors: ["CONFLICT"],
    },
    async ({ store, timers, params, query }) => {
      await releaseTemplate(store, timers, await getTemplate(store, params.id), query);
      return removeTemplate(store, params.id);
    },
  ),
]);
