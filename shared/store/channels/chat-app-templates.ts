// Chat-app templates of a channel: drafts, submitted ones, and the provider's verdicts on them (WAT).
import { timestamp } from "../../kernel/clock.ts";
import { ApiError, invalid, notFound } from "../../kernel/errors.ts";
import { byText } from "../../kernel/order.ts";
import { chatAppTemplateMoves, providerName, type verdictOf } from "../../rules/chat-app-template-states.ts";
import { absent, all, any, atMost, below, is } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { uuidOfText } from "../hash.ts";
import { type ChangeOf, checkItem, type NewRowOf, putItem, ref } from "../item.ts";
import { moveWrite } from "../lifecycle.ts";
import { failuresOf, oldRow, transacted, whereItHolds } from "../refusals.ts";
import {
  ChannelItem,
  ChatAppTemplateItem,
  type ChatAppTemplateRow,
  CredentialsItem,
  type CredentialsRow,
} from "./items.ts";

type NewTemplate = NewRowOf<typeof ChatAppTemplateItem>;
type Verdict = NonNullable<ReturnType<typeof verdictOf>>;
type TemplateRef = Pick<ChatAppTemplateRow, "channel_id" | "id">;

/** A list returns all of them. */
const MAX_TEMPLATES = 250;

/** The id is derived from name and language, by which the provider knows a template: unique within a channel. */
export const chatAppTemplateId = (channel: string, name: string, language: string): string =>
  uuidOfText(`chat-app template ${channel} ${providerName(name)} ${language}`);

/** Creates a draft (WAT-2). @throws 404, 422 for a channel of another type or a name that is taken in this language */
export async function createChatAppTemplate(
  store: Store,
  channel_id: string,
  { name, language, category, body }: Pick<NewTemplate, "name" | "language" | "category" | "body">,
): Promise<NewTemplate> {
  if ((await readTemplates(store, channel_id)).length >= MAX_TEMPLATES)
    throw new ApiError("QUOTA_EXCEEDED", `A channel holds at most ${MAX_TEMPLATES} chat-app templates.`);
  const now = timestamp(store.clock.now());
  const template: NewTemplate = {
    id: chatAppTemplateId(channel_id, name, language),
    channel_id,
    name,
    language,
    category,
    body,
    status: "draft",
    created_at: now,
    updated_at: now,
  };
  const [channel, taken] = await failuresOf(store, [
    checkItem(ChannelItem, { id: channel_id }, is("type", "chat_app")),
    putItem(ChatAppTemplateItem, keyOf(template), template, absent()),
  ]);
  if (channel && !oldRow(ChannelItem, channel)) throw notFound("channel");
  if (channel) throw invalid({ type: "only channels of the type chat_app have chat-app templates" });
  if (taken) throw invalid({ name: "is already used by another template of this channel and language" });
  return template;
}

const keyOf = ({ channel_id, id }: TemplateRef) => ({ channel: channel_id, id });

/** Lists templates, oldest first (WAT-3). @throws 404 */
export async function listChatAppTemplates(store: StoreReader, channel: string): Promise<ChatAppTemplateRow[]> {
  if (!(await store.get(ChannelItem, { id: channel }))) throw notFound("channel");
  const templates = await readTemplates(store, channel);
  return templates.sort(byText(({ created_at }) => created_at));
}

const readTemplates = (store: StoreReader, channel: string): Promise<ChatAppTemplateRow[]> =>
  store.queryAll(ChatAppTemplateItem, { channel });

/** A template of a channel, and the row of the channel's credentials if there is one. @throws 404 */
export async function getChatAppTemplate(
  store: StoreReader,
  channel: string,
  id: string,
): Promise<{ template: ChatAppTemplateRow; credentials: CredentialsRow | undefined }> {
  const [owner, template, credentials] = await store.getEach([
    ref(ChannelItem, { id: channel }),
    ref(ChatAppTemplateItem, { channel, id }),
    ref(CredentialsItem, { channel }),
  ]);
  if (!owner || !template) throw notFound("chat-app template");
  return { template, credentials };
}

export const findChatAppTemplate = (
  store: StoreReader,
  channel: string,
  id: string,
): Promise<ChatAppTemplateRow | undefined> => store.get(ChatAppTemplateItem, { channel, id });

/**
 * Records that the provider accepted the template, with its verdict. @returns undefined after a concurrent submission
 * (WAT-4)
 */
export async function noteSubmission(
  store: Store,
  template: TemplateRef,
  provider_template_id: string,
  verdict: Verdict,
): Promise<ChatAppTemplateRow | undefined> {
  const change = verdictChange(store, verdict);
  const lifecycle = { submit: { ...chatAppTemplateMoves.submit, to: verdict.status } };
  const isNoted = await transacted(store, [
    moveWrite(ChatAppTemplateItem, keyOf(template), {
      lifecycle,
      action: "submit",
      change: { ...change, set: { ...change.set, provider_template_id } },
    }),
  ]);
  return isNoted ? store.get(ChatAppTemplateItem, keyOf(template)) : undefined;
}

/**
 * Records the provider's verdict on a submitted template (WAT-5). A callback gives the second `at` of its verdict: an
 * older one is ignored, and so is the start of a review in the second of its end. @returns undefined if the verdict
 * does not apply
 */
export function noteVerdict(
  store: Store,
  template: TemplateRef,
  { providerId, verdict, at }: { providerId: string; verdict: Verdict; at?: number | undefined },
): Promise<ChatAppTemplateRow | undefined> {
  const change = verdictChange(store, verdict);
  const isSubmitted = is("provider_template_id", providerId);
  const noting = { ...change, set: { ...change.set, verdict_at: at } };
  if (at === undefined) return whereItHolds(store.change(ChatAppTemplateItem, keyOf(template), noting, isSubmitted));
  const isAfter = verdict.status === "pending" ? below("verdict_at", at) : atMost("verdict_at", at);
  const applies = all(isSubmitted, any(absent("verdict_at"), isAfter));
  return whereItHolds(store.change(ChatAppTemplateItem, keyOf(template), noting, applies));
}

const verdictChange = ({ clock }: Store, { status, reason }: Verdict): ChangeOf<typeof ChatAppTemplateItem> => ({
  set: { status, status_reason: reason, updated_at: timestamp(clock.now()) },
  remove: reason === undefined ? ["status_reason"] : [],
});
