// Chat-app templates: drafted here, reviewed by the provider (WAT).
import * as v from "valibot";
import type { CredentialsFor } from "../../../shared/contract/credentials.ts";
import { OneOf, TrimmedTextUpTo } from "../../../shared/contract/schemas.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { ApiError, conflict, invalid } from "../../../shared/kernel/errors.ts";
import type { ChatAppProvider, TemplateAnswer } from "../../../shared/providers/chat-app.ts";
import { chatApp } from "../../../shared/providers/providers.ts";
import {
  chatAppCategories,
  chatAppTemplateMoves,
  providerName,
  verdictOf,
} from "../../../shared/rules/chat-app-template-states.ts";
import {
  createChatAppTemplate,
  getChatAppTemplate,
  listChatAppTemplates,
  noteSubmission,
  noteVerdict,
} from "../../../shared/store/channels/chat-app-templates.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { ChatAppTemplate, type ChatAppTemplateRow, type CredentialsRow } from "../../../shared/store/channels/items.ts";
import { storeRead, storeWrite } from "../../../shared/store/context.ts";
import { type Opener, vaultOpening } from "../../../shared/store/vault.ts";

/** Limits of the provider. */
const MAX_NAME_CHARACTERS = 512;
const MAX_BODY_CHARACTERS = 1_024;
const LANGUAGE = /^[a-z]{2,3}(_[A-Z]{2,4})?$/;

const NewTemplate = v.strictObject({
  name: v.pipe(
    TrimmedTextUpTo(MAX_NAME_CHARACTERS),
    v.check((name) => providerName(name) !== "", "must have a letter or digit of a to z, 0 to 9"),
  ),
  body: TrimmedTextUpTo(MAX_BODY_CHARACTERS),
  language: v.optional(v.pipe(v.string(), v.regex(LANGUAGE, "must be a language such as en or en_US")), "en_US"),
  category: v.optional(OneOf(chatAppCategories), "MARKETING"),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });
const reviewing = [storeWrite, chatApp, vaultOpening] as const;

export const chatAppTemplateEndpoints = [
  endpoint(
    "POST /api/v1/channels/:id/chat-app-templates",
    { permission: "channels:write", uses: [storeWrite] },
    {
      summary: "Draft a chat-app template",
      description:
        "The provider identifies it by its name, in lower case and with `_` for every other character, and by its " +
        "language: the two are unique in a channel. `{{1}}`, `{{2}}` … are variables that each message fills in.",
      body: NewTemplate,
      returns: ChatAppTemplate,
      status: 201,
      example: { body: { name: "order_shipped", body: "Your order {{1}} is on its way.", category: "UTILITY" } },
      errors: ["QUOTA_EXCEEDED"],
    },
    ({ store, params, body }) => createChatAppTemplate(store, params.id, body),
  ),

  endpoint(
    "GET /api/v1/channels/:id/chat-app-templates",
    { uses: [storeRead] },
    {
      summary: "List the chat-app templates of a channel, oldest first",
      returns: v.object({ items: v.array(ChatAppTemplate) }),
    },
    async ({ store, params }) => ({ items: await listChatAppTemplates(store, params.id) }),
  ),

  endpoint(
    "POST /api/v1/channels/:id/chat-app-templates/:templateId/submit",
    { permission: "channels:write", uses: reviewing },
    {
      summary: "Submit a chat-app template to the provider for review",
      description:
        "Allowed from `draft` and `rejected`, else 409. If the provider refuses to review it, the answer is a 422 with " +
        "the provider's message.",
      returns: ChatAppTemplate,
      errors: ["CONFLICT"],
    },
    async ({ store, vault, chatApp, params }) => {
      const { template, credentials } = await getChatAppTemplate(store, params.id, params.templateId);
      requireSubmittable(template);
      const account = await accountOf(vault, params.id, credentials);
      const { id, verdict = UNDER_REVIEW } = reviewOf(await submit(chatApp, account, template));
      const submitted = await noteSubmission(store, template, id, verdict);
      if (!submitted) throw conflict("Somebody else has submitted this template at the same moment.");
      return submitted;
    },
  ),

  endpoint(
    "POST /api/v1/channels/:id/chat-app-templates/:templateId/refresh",
    { permission: "channels:write", uses: reviewing },
    {
      summary: "Get the status of a submitted chat-app template from the provider",
      description: "409 before its submission.",
      returns: ChatAppTemplate,
      errors: ["CONFLICT"],
    },
    async ({ store, vault, chatApp, params }) => {
      const { template, credentials } = await getChatAppTemplate(store, params.id, params.templateId);
      const { provider_template_id: providerId } = template;
      if (providerId === undefined) throw conflict("The template was not submitted yet; its status is draft.");
      const account = await accountOf(vault, params.id, credentials);
      const { verdict } = reviewOf(await chatApp.readTemplate(account, providerId));
      if (!verdict) return template;
      const noted = await noteVerdict(store, template, { providerId, verdict });
      return noted ?? template;
    },
  ),
];

const UNDER_REVIEW = { status: chatAppTemplateMoves.submit.to, reason: undefined };

function requireSubmittable({ status }: ChatAppTemplateRow): void {
  const { from } = chatAppTemplateMoves.submit;
  if (!from.some((allowed) => allowed === status))
    throw conflict(`A template can be submitted when it is ${from.join(" or ")}; it is ${status}.`);
}

type Account = CredentialsFor<"chat_app">;

async function accountOf(vault: Opener, channel: string, row: CredentialsRow | undefined): Promise<Account> {
  if (!row) throw conflict("No credentials are stored for this channel.");
  const account = await openCredentials(vault, channel, row);
  if (account.type !== "chat_app") throw new Error("A chat-app channel holds credentials of another type.");
  return account;
}

/** Submits a template. After an attempt that crashed the provider may already have it, so it is looked up by name. */
async function submit(
  chatApp: ChatAppProvider,
  account: Account,
  template: ChatAppTemplateRow,
): Promise<TemplateAnswer> {
  const { name, language, category, body, provider_template_id: providerId } = template;
  const wanted = { name: providerName(name), language, category, body };
  if (providerId !== undefined) return chatApp.changeTemplate(account, providerId, wanted);
  const answer = await chatApp.createTemplate(account, wanted);
  if (answer.kind !== "refused") return answer;
  return (await chatApp.findTemplate(account, wanted)) ?? answer;
}

function reviewOf(answer: TemplateAnswer) {
  switch (answer.kind) {
    case "found": {
      const { id, status, reason } = answer.template;
      return { id, verdict: verdictOf(status, reason) };
    }
    case "undecided":
      throw new ApiError("SERVICE_UNAVAILABLE", `The provider could not be asked: ${answer.error}`, {
        headers: { "retry-after": "5" },
      });
    case "refused":
      throw invalid({ template: answer.error });
  }
}
