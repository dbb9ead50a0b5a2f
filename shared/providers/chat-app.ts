// The chat app by the WhatsApp Cloud API: texts, approved templates, and the templates themselves (CRD-7, WAT-4, WAT-5).
import type { CredentialsFor } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import type { Exchange } from "../egress/exchange.ts";
import type { Clock } from "../kernel/clock.ts";
import { titledText } from "../rules/channel-texts.ts";
import { type chatAppCategories, variablesOf } from "../rules/chat-app-template-states.ts";
import {
  type Addresses,
  type AnsweredExchange,
  accepted,
  jsonOf,
  type Outcome,
  type OutgoingMessage,
  type Provider,
  refusedForNow,
  rejected,
  retryAfter,
  throttled,
  unanswered,
  unverifiable,
  unverified,
  type VerificationFailure,
} from "./provider.ts";
import { digitsOf, referenceOf } from "./text-messages.ts";

type ChatApp = CredentialsFor<"chat_app">;

const GRAPH = "https://graph.facebook.com/v23.0";
const MAX_CHARACTERS = 4_096;
/** The provider's error codes for rate limits and outages: the message was not accepted. */
const RETRYABLE = new Set([2, 4, 80007, 130429, 131016, 131048, 131056, 133004]);
/** Rate limits of the app, the account and the number. The limit of a pair of numbers concerns one recipient only. */
const THROTTLED = new Set([4, 80007, 130429]);
/** Codes for unspecified errors: the message may have been accepted. */
const UNKNOWN = new Set([1, 131000]);

interface NewChatTemplate {
  name: string;
  language: string;
  category: (typeof chatAppCategories)[number];
  /** With the variables `{{1}}`, `{{2}}` … */
  body: string;
}

/** The provider's own status, `PENDING`, `APPROVED`, `REJECTED` …, with the reason of a rejection. */
interface ChatTemplateState {
  id: string;
  status: string;
  reason?: string;
}

export type TemplateAnswer = { kind: "found"; template: ChatTemplateState } | VerificationFailure;

export interface ChatAppProvider extends Provider<ChatApp, Addresses["chat_app"]> {
  /** Submits a template for review (WAT-4). */
  createTemplate(credentials: ChatApp, template: NewChatTemplate): Promise<TemplateAnswer>;
  /** Submits a template again after a rejection. */
  changeTemplate(credentials: ChatApp, id: string, template: NewChatTemplate): Promise<TemplateAnswer>;
  /** The same template, if an earlier attempt submitted it but its answer was lost; else undefined. */
  findTemplate(credentials: ChatApp, template: NewChatTemplate): Promise<TemplateAnswer | undefined>;
  /** The current status of a template (WAT-5). */
  readTemplate(credentials: ChatApp, id: string): Promise<TemplateAnswer>;
}

type Request = (
  credentials: ChatApp,
  method: "GET" | "POST",
  path: string,
  body?: object | undefined,
) => Promise<Exchange>;

/** Messages by the chat app's HTTP API, and its templates: their creation, their change and their review. */
export function chatAppProvider({ egress, clock }: { egress: Egress; clock: Clock }): ChatAppProvider {
  const request: Request = ({ access_token }, method, path, body) =>
    egress.request({
      purpose: "chat_app",
      method,
      url: `${GRAPH}/${path}`,
      headers: { authorization: `Bearer ${access_token}`, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  return { ...messageCalls(request, clock), ...templateCalls(request) };
}

const messageCalls = (request: Request, clock: Clock): Provider<ChatApp, Addresses["chat_app"]> => ({
  send: async (credentials, message) => {
    const content = contentOf(message);
    if ("text" in content && content.text.body.length > MAX_CHARACTERS) return rejected("message_too_long");
    const exchange = await request(credentials, "POST", `${credentials.phone_number_id}/messages`, {
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: digitsOf(message),
      ...content,
      biz_opaque_callback_data: referenceOf(message),
    });
    return outcomeOf(exchange, clock.now());
  },
  verify: async (credentials) => {
    const path = `${credentials.phone_number_id}?fields=id,display_phone_number`;
    const exchange = await request(credentials, "GET", path);
    if (exchange.kind !== "answered") return unverifiable(exchange);
    if (exchange.status === 200) return { kind: "verified" };
    return refusalOf(exchange);
  },
});

const templateCalls = (request: Request): Omit<ChatAppProvider, "send" | "verify"> => ({
  createTemplate: async (credentials, template) => {
    const { name, language, category } = template;
    const wanted = { name, language, category, components: componentsOf(template) };
    return templateOf(await request(credentials, "POST", `${credentials.waba_id}/message_templates`, wanted));
  },
  changeTemplate: async (credentials, id, template) => {
    const wanted = { category: template.category, components: componentsOf(template) };
    const exchange = await request(credentials, "POST", encodeURIComponent(id), wanted);
    const isAccepted = exchange.kind === "answered" && exchange.status === 200;
    return isAccepted ? { kind: "found", template: { id, status: "PENDING" } } : templateOf(exchange);
  },
  findTemplate: async (credentials, { name, language, body }) => {
    const fields = "id,name,language,status,rejected_reason,components";
    const query = new URLSearchParams({ name, language, fields });
    const exchange = await request(credentials, "GET", `${credentials.waba_id}/message_templates?${query}`);
    if (exchange.kind !== "answered" || exchange.status !== 200) return undefined;
    const { data } = jsonOf<{ data: ListedTemplate[] }>(exchange.body);
    const same = (Array.isArray(data) ? data : []).find(
      (listed) => listed.name === name && listed.language === language && bodyOf(listed) === body,
    );
    return same && templateOf({ ...exchange, body: JSON.stringify(same) });
  },
  readTemplate: async (credentials, id) => {
    const path = `${encodeURIComponent(id)}?fields=id,name,status,rejected_reason`;
    return templateOf(await request(credentials, "GET", path), id);
  },
});

function templateOf(exchange: Exchange, knownId?: string): TemplateAnswer {
  if (exchange.kind !== "answered") return { kind: "undecided", error: exchange.reason };
  if (exchange.status !== 200) return refusalOf(exchange);
  const { id = knownId, status, rejected_reason } = jsonOf(exchange.body);
  if (!id || typeof status !== "string") return { kind: "undecided", error: "The answer is no template." };
  const reason = typeof rejected_reason === "string" && rejected_reason !== "NONE" ? rejected_reason : undefined;
  return { kind: "found", template: { id: String(id), status, ...(reason && { reason }) } };
}

interface ListedTemplate {
  name?: string;
  language?: string;
  components?: { type?: string; text?: string }[];
}

const bodyOf = ({ components = [] }: ListedTemplate) => components.find(({ type }) => type === "BODY")?.text;

function componentsOf({ body }: NewChatTemplate): object[] {
  const variables = variablesOf(body);
  // The provider requires an example value for each variable.
  const example = variables > 0 && { example: { body_text: [Array.from({ length: variables }, () => "example")] } };
  return [{ type: "BODY", text: body, ...example }];
}

function contentOf(message: OutgoingMessage<Addresses["chat_app"]>) {
  const { template } = message;
  if (!template) return { type: "text", text: { body: titledText(message, "*"), preview_url: false } };
  // The provider refuses line breaks and repeated spaces in the values of variables.
  const parameters = template.parameters.map((text) => ({ type: "text", text: text.replaceAll(/\s+/g, " ") }));
  const components = parameters.length > 0 && { components: [{ type: "body", parameters }] };
  return {
    type: "template",
    template: { name: template.name, language: { code: template.language }, ...components },
  };
}

function errorOf({ status, body }: AnsweredExchange): { code: number; message: string } {
  const { error } = jsonOf<{ error: { code?: number; message?: string } }>(body);
  return { code: Number(error?.code ?? Number.NaN), message: error?.message ?? String(status) };
}

function refusalOf(exchange: AnsweredExchange): VerificationFailure {
  const { message, code } = errorOf(exchange);
  return unverified(message, { isTemporary: RETRYABLE.has(code) || exchange.status >= 500 });
}

function outcomeOf(exchange: Exchange, now: number): Outcome {
  if (exchange.kind !== "answered") return unanswered(exchange);
  const { status, headers, body } = exchange;
  const { code } = errorOf(exchange);
  const { messages } = jsonOf<{ messages: { id?: string }[] }>(body);
  const sent = Array.isArray(messages) ? messages[0] : undefined;
  if (status === 200 && sent) return accepted(sent.id);
  const reason = Number.isNaN(code) ? String(status) : String(code);
  if (RETRYABLE.has(code) || status === 429 || (status === 503 && !UNKNOWN.has(code)))
    return THROTTLED.has(code) ? throttled(reason, retryAfter(headers, now)) : refusedForNow(exchange, reason, now);
  // A success without a message does not match the protocol.
  const isOdd = status < 300 && Number.isNaN(code);
  if (UNKNOWN.has(code) || status >= 500 || isOdd) return { kind: "unknown", reason };
  return rejected(reason);
}
