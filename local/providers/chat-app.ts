// The embedded chat app, with the WhatsApp Cloud API: messages, and templates whose review a test can decide.
import { createHash } from "node:crypto";
import type { Database } from "../aws/index.ts";
import { accept, acceptCredentials, readJson, type Sink, type SinkAnswer, type SinkDeps } from "./sink.ts";

const refuse = (status: number, code: number, message: string): SinkAnswer => ({
  status,
  body: { error: { message, type: "OAuthException", code, fbtrace_id: "local" } },
});

const answers = {
  permanent: refuse(400, 131047, "(#131047) Re-engagement message"),
  invalid_token: refuse(400, 131026, "(#131026) Message undeliverable"),
  transient: refuse(500, 131016, "(#131016) Service unavailable"),
  rate_limited: refuse(429, 130429, "(#130429) Rate limit hit"),
};

const INVALID_TOKEN = "Invalid OAuth access token.";
const MAX_CHARACTERS = 4_096;
const ADDRESSED = /^\/v\d{1,2}\.\d\/([^/]+)(?:\/([a-z_]+))?$/;

interface ChatTemplate {
  id: string;
  account: string;
  name: string;
  language: string;
  category: string;
  body: string;
  status: string;
  rejected_reason: string;
}

export interface ChatTemplates {
  add(template: ChatTemplate): void;
  find(id: string): ChatTemplate | undefined;
  named(name: string, language: string): ChatTemplate | undefined;
  /** The status of the provider's review: `APPROVED`, `REJECTED` … */
  decide(id: string, status: string, reason?: string): void;
}

export function openChatTemplates(database: Database): ChatTemplates {
  const make = "CREATE TABLE IF NOT EXISTS chat_templates (id TEXT PRIMARY KEY, template TEXT NOT NULL) STRICT";
  let isMade = false;
  const all = (): ChatTemplate[] => {
    if (!isMade) database.exec(make);
    isMade = true;
    return database.all("SELECT template FROM chat_templates").map(({ template }) => JSON.parse(String(template)));
  };
  const save = (template: ChatTemplate) => {
    all();
    const row = [template.id, JSON.stringify(template)];
    database.run("INSERT OR REPLACE INTO chat_templates (id, template) VALUES (?, ?)", ...row);
  };
  const find = (id: string) => all().find((template) => template.id === id);
  return {
    add: save,
    find,
    named: (name, language) => all().find((template) => template.name === name && template.language === language),
    decide: (id, status, reason = "NONE") => {
      const template = find(id);
      if (template) save({ ...template, status, rejected_reason: reason });
    },
  };
}

export function chatAppSink(deps: SinkDeps & { templates: ChatTemplates }): Sink {
  const { templates } = deps;

  const send = (body: Buffer, headers: Record<string, string>): ReturnType<Sink> => {
    const message = readJson(body) as ChatMessage | undefined;
    const { to, type, text, template } = message ?? {};
    if (message?.messaging_product !== "whatsapp" || !to) return refuse(400, 100, "(#100) Invalid parameter");
    if (type === "text" && (!text?.body || text.body.length > MAX_CHARACTERS))
      return refuse(400, 100, "(#100) Param text['body'] must be at most 4096 characters long.");
    if (type === "template" && !(template?.name && template.language?.code))
      return refuse(400, 132000, "(#132000) Number of parameters does not match");
    const [job_id, subscriber_id] = (message.biz_opaque_callback_data ?? "").split(":");
    const whose = { channel: "chat_app", to: `+${to}`, subscriber_id, job_id } as const;
    const answer = { messaging_product: "whatsapp", contacts: [{ input: to, wa_id: to }] };
    return accept(
      deps,
      { ...whose, ...wordsOf(message), payload: message, headers },
      (fault) => answers[fault],
      (id) => ({ status: 200, body: { ...answer, messages: [{ id: `wamid.${id}` }] } }),
    );
  };

  const wordsOf = ({ text, template }: ChatMessage) => {
    if (text) {
      const [, title, body] = /^\*([^\n]*)\*\n([\s\S]*)$/.exec(text.body) ?? [];
      return { title, body: body ?? text.body };
    }
    const filled =
      template?.components?.flatMap(({ parameters = [] }) => parameters.map((parameter) => parameter.text)) ?? [];
    const approved = templates.named(template?.name ?? "", template?.language?.code ?? "");
    const body = approved?.body.replaceAll(/\{\{(\d{1,2})\}\}/g, (whole, n) => filled[Number(n) - 1] ?? whole);
    return { title: template?.name, body: body ?? filled.join(" ") };
  };

  const createTemplate = (account: string, body: Buffer): SinkAnswer => {
    const { name, language, category, components = [] } = (readJson(body) ?? {}) as NewTemplate;
    const text = components.find(({ type }) => type === "BODY")?.text;
    if (!name || !/^[a-z0-9_]{1,512}$/.test(name) || !language || !category || !text)
      return refuse(400, 100, "(#100) Invalid parameter: name, language, category and a BODY are required");
    // The id is a hash of the template's place, so that a repeat finds the same template.
    const digest = createHash("sha256").update(`${account}/${name}/${language}`).digest();
    const id = String(digest.readUIntBE(0, 6));
    if (templates.find(id)) return refuse(400, 100, "There is already content in this language for this template");
    templates.add({ id, account, name, language, category, body: text, status: "PENDING", rejected_reason: "NONE" });
    return { status: 200, body: { id, status: "PENDING", category } };
  };

  const changeTemplate = (template: ChatTemplate, body: Buffer): SinkAnswer => {
    const { category = template.category, components = [] } = (readJson(body) ?? {}) as NewTemplate;
    const text = components.find(({ type }) => type === "BODY")?.text ?? template.body;
    templates.add({ ...template, category, body: text, status: "PENDING", rejected_reason: "NONE" });
    return { status: 200, body: { success: true } };
  };

  const listTemplates = (account: string, query: URLSearchParams): SinkAnswer => {
    const found = templates.named(query.get("name") ?? "", query.get("language") ?? "");
    const { body: text, account: owner, ...shown } = found ?? { body: "", account: "" };
    return {
      status: 200,
      body: { data: owner === account ? [{ ...shown, components: [{ type: "BODY", text }] }] : [] },
    };
  };

  return ({ method, path, query, headers, body }) => {
    const [, place = "", edge] = ADDRESSED.exec(path) ?? [];
    if (!/^Bearer \S+$/.test(headers.authorization ?? "")) return refuse(401, 190, INVALID_TOKEN);
    if (method === "POST" && edge === "messages") return send(body, headers);
    if (method === "POST" && edge === "message_templates") return createTemplate(place, body);
    if (method === "GET" && edge === "message_templates") return listTemplates(place, query);

    const submitted = method === "POST" && !edge ? templates.find(place) : undefined;
    if (submitted) return changeTemplate(submitted, body);
    if (method !== "GET" || edge) return refuse(400, 100, `Unsupported ${method.toLowerCase()} request.`);

    // The first read completes the review: approved, unless a test decided otherwise.
    if (templates.find(place)?.status === "PENDING") templates.decide(place, "APPROVED");
    const template = templates.find(place);
    if (template) {
      const { id, name, status, rejected_reason } = template;
      return { status: 200, body: { id, name, status, rejected_reason } };
    }

    return acceptCredentials(deps, "chat_app", {
      words: INVALID_TOKEN,
      refuse: (said) => refuse(401, 190, said),
      fine: { status: 200, body: { id: place, display_phone_number: "+1 555 0100" } },
    });
  };
}

interface ChatMessage {
  messaging_product?: string;
  to?: string;
  type?: string;
  text?: { body: string };
  template?: {
    name?: string;
    language?: { code?: string };
    components?: { parameters?: { text: string }[] }[];
  };
  biz_opaque_callback_data?: string;
}

interface NewTemplate {
  name?: string;
  language?: string;
  category?: string;
  components?: { type: string; text?: string }[];
}
