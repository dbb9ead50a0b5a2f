// Chat-app templates of a channel: drafts, what was submitted, and what the provider said of it (WAT).

import { timestamp, uuidOfText } from "../../clock.ts";
import { ApiError, invalid, notFound } from "../../http/errors.ts";
import type { Store, StoreReader } from "../../resources.ts";
import {
  type ChatAppTemplateStatus,
  chatAppTemplateMoves,
  providerName,
  type verdictOf,
} from "../../rules/chat-app-template-states.ts";
import { absent, all, any, below, is } from "../conditions.ts";
import { keys } from "../keys.ts";
import { move } from "../lifecycle.ts";
import type { Item } from "../model.ts";
import { allItems } from "../pages.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";

export const chatAppCategories = ["MARKETING", "UTILITY", "AUTHENTICATION"] as const;

export interface ChatAppTemplate {
  id: string;
  channel_id: string;
  name: string;
  language: string;
  category: (typeof chatAppCategories)[number];
  body: string;
  status: ChatAppTemplateStatus;
  provider_template_id?: string;
  status_reason?: string;
  created_at: string;
  updated_at: string;
}

type Verdict = NonNullable<ReturnType<typeof verdictOf>>;

/** They are listed whole. */
const MAX_TEMPLATES = 250;

/** The provider knows a template by name and language, so these two make its id: no two of a channel share them. */
export const chatAppTemplateId = (channel: string, name: string, language: string): string =>
  uuidOfText(`chat-app template ${channel} ${providerName(name)} ${language}`);

/** WAT-2: a draft. @throws 404, 422 for a channel of another type or a name that is taken in this language. */
export async function createChatAppTemplate(
  store: Store,
  channel_id: string,
  { name, language, category, body }: Pick<ChatAppTemplate, "name" | "language" | "category" | "body">,
): Promise<ChatAppTemplate> {
  const { tenant, clock } = store;
  if ((await readTemplates(store, channel_id)).length >= MAX_TEMPLATES)
    throw new ApiError("QUOTA_EXCEEDED", `A channel holds at most ${MAX_TEMPLATES} chat-app templates.`);
  const now = timestamp(clock.now());
  const id = chatAppTemplateId(channel_id, name, language);
  const template: ChatAppTemplate = {
    ...{ id, channel_id, name, language, category, body, status: "draft" },
    ...{ created_at: now, updated_at: now },
  };
  await store
    .transact([
      { check: keys.entity(tenant, "channel", channel_id), when: is("type", "chat_app") },
      { put: { ...keys.chatAppTemplate(tenant, channel_id, id), ...template }, when: absent() },
    ])
    .catch(
      onTransactionCanceled(([channel]) => {
        if (!channel) throw invalid({ name: "is already used by another template of this channel and language" });
        if (!channel.old) throw notFound("channel");
        throw invalid({ type: "only channels of the type chat_app have chat-app templates" });
      }),
    );
  return template;
}

/** WAT-3: oldest first. @throws 404. */
export async function listChatAppTemplates(store: StoreReader, channel: string): Promise<ChatAppTemplate[]> {
  if (!(await store.get(keys.entity(store.tenant, "channel", channel)))) throw notFound("channel");
  const items = await readTemplates(store, channel);
  return items.map(templateOf).sort((a, b) => (a.created_at < b.created_at ? -1 : 1));
}

function readTemplates(store: StoreReader, channel: string): Promise<Item[]> {
  const { pk, sk: prefix } = keys.chatAppTemplate(store.tenant, channel, "");
  return allItems(store, { pk, prefix });
}

/** A template of a channel, and the row of the channel's credentials if there is one. @throws 404. */
export async function getChatAppTemplate(
  store: StoreReader,
  channel: string,
  id: string,
): Promise<{ template: ChatAppTemplate; credentials: Item | undefined }> {
  const [owner, template, credentials] = await store.getAll([
    keys.entity(store.tenant, "channel", channel),
    keys.chatAppTemplate(store.tenant, channel, id),
    keys.credentials(store.tenant, channel),
  ]);
  if (!owner || !template) throw notFound("chat-app template");
  return { template: templateOf(template), credentials };
}

export async function findChatAppTemplate(
  store: StoreReader,
  channel: string,
  id: string,
): Promise<ChatAppTemplate | undefined> {
  const item = await store.get(keys.chatAppTemplate(store.tenant, channel, id));
  return item && templateOf(item);
}

/** The provider has it and said this of it. @returns undefined if somebody else submitted it meanwhile (WAT-4). */
export async function noteSubmission(
  store: Store,
  { channel_id, id }: ChatAppTemplate,
  provider_template_id: string,
  verdict: Verdict,
): Promise<ChatAppTemplate | undefined> {
  const change = changeTo(store, verdict);
  const moved = await move(
    store,
    keys.chatAppTemplate(store.tenant, channel_id, id),
    { submit: { ...chatAppTemplateMoves.submit, to: verdict.status } },
    "submit",
    { change: { ...change, set: { ...change.set, provider_template_id } } },
  );
  return "item" in moved ? templateOf(moved.item) : undefined;
}

/**
 * The provider's word on a submitted template (WAT-5). A callback brings the time it was said `at`: what was said
 * before counts no more. @returns undefined where it does not apply.
 */
export function noteVerdict(
  store: Store,
  { channel_id, id }: Pick<ChatAppTemplate, "channel_id" | "id">,
  provider_template_id: string,
  verdict: Verdict,
  at?: number,
): Promise<ChatAppTemplate | undefined> {
  const change = changeTo(store, verdict);
  const isThisOne = is("provider_template_id", provider_template_id);
  const isNews = at === undefined ? isThisOne : all(isThisOne, any(absent("verdict_at"), below("verdict_at", at)));
  return store
    .update(
      keys.chatAppTemplate(store.tenant, channel_id, id),
      { ...change, set: { ...change.set, verdict_at: at } },
      isNews,
    )
    .then(
      templateOf,
      onConditionFailed(() => undefined),
    );
}

const changeTo = ({ clock }: Store, { status, reason }: Verdict) => ({
  set: { status, status_reason: reason, updated_at: timestamp(clock.now()) },
  remove: reason === undefined ? ["status_reason"] : [],
});

const templateOf = (item: Item): ChatAppTemplate => ({
  id: String(item.id),
  channel_id: String(item.channel_id),
  name: String(item.name),
  language: String(item.language),
  category: item.category as ChatAppTemplate["category"],
  body: String(item.body),
  status: item.status as ChatAppTemplateStatus,
  ...(item.provider_template_id !== undefined && { provider_template_id: String(item.provider_template_id) }),
  ...(item.status_reason !== undefined && { status_reason: String(item.status_reason) }),
  created_at: String(item.created_at),
  updated_at: String(item.updated_at),
});
