// The chat app by the WhatsApp Cloud API: texts, approved templates, and the templates themselves (CRD-7, WAT-4, WAT-5).
import type { Clock } from "../clock.ts";
import type { Egress, Exchange } from "../egress/egress.ts";
import { variablesOf } from "../rules/chat-app-template-states.ts";
import {
  type Addresses,
  type CredentialsFor,
  jsonOf,
  type Outcome,
  type Outgoing,
  type Provider,
  rejected,
  retryAfter,
  retryable,
  unproven,
  withoutAnswer,
} from "./provider.ts";

type ChatApp = CredentialsFor<"chat_app">;
type Answered = Extract<Exchange, { outcome: "answered" }>;

const GRAPH = "https://graph.facebook.com/v23.0";
const MAX_CHARACTERS = 4_096;
/** Rates and outages, by the provider's error codes: the message was not taken. */
const AGAIN = new Set([2, 4, 80007, 130429, 131016, 131048, 131056, 133004]);
/** "Something went wrong", without saying before or after what. */
const UNSURE = new Set([1, 131000]);

export interface NewChatTemplate {
  name: string;
  language: string;
  category: "MARKETING" | "UTILITY" | "AUTHENTICATION";
  /** With `{{1}}`, `{{2}}` … for what is filled in. */
  body: string;
}

/** The provider's own words: `PENDING`, `APPROVED`, `REJECTED` …, with the reason of a refusal. */
export interface ChatTemplateState {
  id: string;
  status: string;
  reason?: string;
}

export type TemplateAnswer = { ok: true; template: ChatTemplateState } | { ok: false; error: string; mayPass: boolean };

export interface ChatAppProvider extends Provider<ChatApp, Addresses["chat_app"]> {
  /** Submits a template for review (WAT-4). */
  createTemplate(credentials: ChatApp, template: NewChatTemplate): Promise<TemplateAnswer>;
  /** Submits one that the provider knows already, after it was rejected. */
  changeTemplate(credentials: ChatApp, id: string, template: NewChatTemplate): Promise<TemplateAnswer>;
  /** The same template, submitted before by an attempt whose answer was lost; undefined where there is none. */
  findTemplate(credentials: ChatApp, template: NewChatTemplate): Promise<TemplateAnswer | undefined>;
  /** What became of it (WAT-5). */
  readTemplate(credentials: ChatApp, id: string): Promise<TemplateAnswer>;
}

export function chatAppProvider({ egress, clock }: { egress: Egress; clock: Clock }): ChatAppProvider {
  const ask = ({ access_token }: ChatApp, method: "GET" | "POST", path: string, body?: object): Promise<Exchange> =>
    egress.request({
      purpose: "chat-app",
      method,
      url: `${GRAPH}/${path}`,
      headers: { authorization: `Bearer ${access_token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  const templateFrom = (exchange: Exchange, providerId?: string): TemplateAnswer => {
    if (exchange.outcome !== "answered") return { ok: false, error: exchange.reason, mayPass: true };
    if (exchange.status !== 200) {
      const { message, code } = errorOf(exchange);
      return { ok: false, error: message, mayPass: AGAIN.has(code) || exchange.status >= 500 };
    }
    const { id = providerId, status, rejected_reason } = jsonOf(exchange.body);
    if (!id || typeof status !== "string") return { ok: false, error: "The answer is no template.", mayPass: true };
    const reason = typeof rejected_reason === "string" && rejected_reason !== "NONE" ? rejected_reason : undefined;
    return { ok: true, template: { id: String(id), status, ...(reason && { reason }) } };
  };

  return {
    send: async (credentials, message) => {
      const content = contentOf(message);
      if ("text" in content && content.text.body.length > MAX_CHARACTERS) return rejected("message_too_long");
      const exchange = await ask(credentials, "POST", `${credentials.phone_number_id}/messages`, {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: message.address.phone.replace(/^\+/, ""),
        ...content,
        biz_opaque_callback_data: `${message.job}:${message.subscriber}`,
      });
      return outcomeOf(exchange, clock.now());
    },
    verify: async (credentials) => {
      const exchange = await ask(credentials, "GET", `${credentials.phone_number_id}?fields=id,display_phone_number`);
      if (exchange.outcome !== "answered") return unproven(exchange);
      if (exchange.status === 200) return { ok: true };
      const { message: error, code } = errorOf(exchange);
      return AGAIN.has(code) || exchange.status >= 500 ? { ok: false, error, mayPass: true } : { ok: false, error };
    },
    createTemplate: async (credentials, template) => {
      const { name, language, category } = template;
      const wanted = { name, language, category, components: componentsOf(template) };
      return templateFrom(await ask(credentials, "POST", `${credentials.waba_id}/message_templates`, wanted));
    },
    changeTemplate: async (credentials, id, template) => {
      const wanted = { category: template.category, components: componentsOf(template) };
      const exchange = await ask(credentials, "POST", encodeURIComponent(id), wanted);
      const isTaken = exchange.outcome === "answered" && exchange.status === 200;
      return isTaken ? { ok: true, template: { id, status: "PENDING" } } : templateFrom(exchange);
    },
    findTemplate: async (credentials, { name, language, body }) => {
      const query = new URLSearchParams({
        name,
        language,
        fields: "id,name,language,status,rejected_reason,components",
      });
      const exchange = await ask(credentials, "GET", `${credentials.waba_id}/message_templates?${query}`);
      if (exchange.outcome !== "answered" || exchange.status !== 200) return undefined;
      const { data } = jsonOf(exchange.body);
      const same = (Array.isArray(data) ? (data as ListedTemplate[]) : []).find(
        (providerId) => providerId.name === name && providerId.language === language && bodyOf(providerId) === body,
      );
      return same && templateFrom({ ...exchange, body: JSON.stringify(same) });
    },
    readTemplate: async (credentials, id) => {
      const path = `${encodeURIComponent(id)}?fields=id,name,status,rejected_reason`;
      return templateFrom(await ask(credentials, "GET", path), id);
    },
  };
}

interface ListedTemplate {
  name?: string;
  language?: string;
  components?: { type?: string; text?: string }[];
}

const bodyOf = ({ components = [] }: ListedTemplate) => components.find(({ type }) => type === "BODY")?.text;

function componentsOf({ body }: NewChatTemplate): object[] {
  const variables = variablesOf(body);
  // A reviewer wants to see something in place of each variable.
  const example = variables > 0 && { example: { body_text: [Array.from({ length: variables }, () => "example")] } };
  return [{ type: "BODY", text: body, ...example }];
}

function contentOf({ template, title, body }: Outgoing<Addresses["chat_app"]>) {
  if (!template) {
    const text = title ? `*${title.replaceAll(/\s+/g, " ")}*\n${body}` : body;
    return { type: "text", text: { body: text, preview_url: false } };
  }
  // The provider refuses line breaks and runs of spaces in what it fills in.
  const parameters = template.parameters.map((text) => ({ type: "text", text: text.replaceAll(/\s+/g, " ") }));
  const components = parameters.length > 0 && { components: [{ type: "body", parameters }] };
  return {
    type: "template",
    template: { name: template.name, language: { code: template.language }, ...components },
  };
}

function errorOf({ status, body }: Answered): { code: number; message: string } {
  const { error } = jsonOf(body) as { error?: { code?: number; message?: string } };
  return { code: Number(error?.code ?? Number.NaN), message: error?.message ?? String(status) };
}

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.outcome !== "answered") return withoutAnswer(exchange);
  const { status, headers, body } = exchange;
  if (status === 200) {
    const [message] = (jsonOf(body).messages ?? []) as { id?: string }[];
    return { status: "accepted", ...(message?.id && { providerId: message.id }) };
  }
  const { code } = errorOf(exchange);
  const reason = Number.isNaN(code) ? String(status) : String(code);
  if (AGAIN.has(code) || status === 429 || (status === 503 && !UNSURE.has(code)))
    return retryable(reason, retryAfter(headers, now));
  if (UNSURE.has(code) || status >= 500) return { status: "unknown", reason };
  return rejected(reason);
}
