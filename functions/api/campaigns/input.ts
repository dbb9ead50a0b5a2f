// The input of a campaign (CMP-12, CMP-16), and how it becomes the messages that are stored.
import * as v from "valibot";
import { bytesOf, MessageContent, VariantB, withoutMails } from "../../../shared/contract/message-content.ts";
import { chatAppFields } from "../../../shared/contract/message-text.ts";
import { SafetyInput } from "../../../shared/contract/safety.ts";
import { atField, NameUpTo, TemplateId, TimestampInput } from "../../../shared/contract/schemas.ts";
import { ChannelIds, Percentage, Target } from "../../../shared/contract/send-input.ts";
import { TopicOfSend } from "../../../shared/contract/topic-key.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import type { PlanName } from "../../../shared/rules/plans.ts";
import type { Campaign, CampaignSpec } from "../../../shared/store/campaigns/campaigns.ts";
import type { CampaignMessage } from "../../../shared/store/campaigns/items.ts";
import { requireChannels } from "../../../shared/store/channels/channels.ts";
import { requireChatAppContent } from "../../../shared/store/channels/chat-app-content.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { fieldsOf } from "../../../shared/store/item.ts";
import { requireTarget } from "../../../shared/store/lists/targets.ts";
import { requireTemplate } from "../../../shared/store/templates/templates.ts";
import { requireTopic } from "../../../shared/store/topics/topics.ts";

const MAX_NAME_CHARACTERS = 200;
/** With all its texts, a campaign must fit into one item of the table. */
export const MAX_MESSAGES = 50;
const MAX_BYTES = 262_144;
/** The limit with its mails, because an answer has at most 6 MB. */
const MAX_WHOLE_BYTES = 1_048_576;

const said = {
  content: v.optional(MessageContent),
  template_id: v.optional(TemplateId),
  ...chatAppFields,
  variant_b: v.optional(VariantB),
  split_percentage: v.optional(Percentage(1)),
};

const Message = v.strictObject({
  ...said,
  channel_ids: ChannelIds,
  scheduled_at: v.optional(TimestampInput),
});

const hasContent = ({ content, template_id }: v.InferOutput<typeof Message>) =>
  content !== undefined || template_id !== undefined;
const WITHOUT_CONTENT = "must have content or a template_id";

const messagesOf = <M extends v.GenericSchema>(message: M) =>
  v.pipe(
    v.array(message, "must be an array of messages"),
    v.minLength(1, "must have at least one message"),
    v.maxLength(MAX_MESSAGES, `must have at most ${MAX_MESSAGES} messages`),
  );

const settings = {
  name: NameUpTo(MAX_NAME_CHARACTERS),
  category: v.optional(v.picklist(["transactional", "marketing"], "must be transactional or marketing"), "marketing"),
  topic: TopicOfSend,
  target: v.optional(Target, { type: "all" }),
  holdout_percentage: v.optional(Percentage(0), 0),
  scheduled_at: v.optional(TimestampInput),
  safety: v.optional(SafetyInput),
};

/** The fields of a single message at the top level of a campaign. */
const combined = [
  "content",
  "channel_ids",
  "chat_app_template_id",
  "chat_app_parameters",
  "variant_b",
  "split_percentage",
] as const;

export const NewCampaign = v.pipe(
  v.strictObject({
    ...settings,
    ...said,
    channel_ids: v.optional(ChannelIds),
    messages: v.optional(messagesOf(Message)),
  }),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value } = dataset;
    const blame = (key: "messages" | "content" | "channel_ids", message: string) =>
      addIssue({ message, path: [atField(value, key)] });
    const { messages } = value;
    if (messages) {
      if (combined.some((part) => value[part] !== undefined))
        blame("messages", "must not be combined with content, channel_ids, variants or what the chat app sends");
      if (value.template_id !== undefined) return;
      for (const [key, message] of messages.entries())
        if (!hasContent(message))
          addIssue({
            message: WITHOUT_CONTENT,
            path: [
              atField(value, "messages"),
              { type: "array", origin: "value", input: messages, key, value: message },
            ],
          });
    } else if (value.content === undefined && value.template_id === undefined)
      blame("content", "messages, or content (or template_id) and channel_ids, are required");
    else if (value.channel_ids === undefined)
      blame("channel_ids", "messages, or content (or template_id) and channel_ids, are required");
  }),
);

export const CampaignReplacement = v.strictObject({
  ...settings,
  messages: messagesOf(v.pipe(Message, v.check(hasContent, WITHOUT_CONTENT))),
});

type Input = v.InferOutput<typeof NewCampaign> | v.InferOutput<typeof CampaignReplacement>;

/**
 * Leaves out a time that only repeats the first message's: a GET shows that one for a campaign without a time (AMB-66).
 */
export function withoutMirror(
  { scheduled_at, ...input }: v.InferOutput<typeof CampaignReplacement>,
  draft: Pick<Campaign, "scheduled_at" | "messages">,
): v.InferOutput<typeof CampaignReplacement> {
  const times = [input.messages[0]?.scheduled_at, draft.messages[0]?.scheduled_at];
  const isMirror = draft.scheduled_at === undefined && times.every((time) => time === scheduled_at);
  return isMirror ? input : { ...input, scheduled_at };
}

/** Each template that a request names, with the first field that names it. */
function templateFields(template: string | undefined, messages: readonly { template_id?: string | undefined }[]) {
  const fields = new Map(template === undefined ? [] : [[template, "template_id"]]);
  for (const [i, { template_id: id }] of messages.entries())
    if (id !== undefined && !fields.has(id)) fields.set(id, `messages[${i}].template_id`);
  return fields;
}

/**
 * Makes the campaign that a request describes, after all references were found in this workspace.
 * @param replaced the messages of the draft that it replaces; their ids stay, so that a PUT may be repeated
 * @throws 422 naming the field, 403 for a channel type outside the plan
 */
export async function specOf(
  store: StoreReader,
  plan: PlanName,
  input: Input,
  replaced: readonly CampaignMessage[] = [],
): Promise<CampaignSpec> {
  const { target, topic } = input;
  const template = "template_id" in input ? input.template_id : undefined;
  const ownMessages =
    input.messages === undefined
      ? [messageOf(input)]
      : input.messages.map((message) => (hasContent(message) ? message : { ...message, template_id: template }));
  const unmailed = ownMessages.map(({ content, variant_b, ...rest }) => [
    rest,
    content && withoutMails(content),
    variant_b && withoutMails(variant_b),
  ]);
  if (bytesOf(unmailed) > MAX_BYTES)
    throw invalid({ messages: `must have at most ${MAX_BYTES} bytes in all, without html and design of email` });
  if (bytesOf(ownMessages) > MAX_WHOLE_BYTES)
    throw invalid({ messages: `must have at most ${MAX_WHOLE_BYTES} bytes in all: save a larger mail as a template` });
  for (const [i, message] of ownMessages.entries()) {
    const path = input.messages ? `messages[${i}].` : "";
    const channels = await requireChannels(store, plan, message.channel_ids, `${path}channel_ids`);
    await requireChatAppContent(store, channels, message, path);
    if (message.split_percentage !== undefined && message.variant_b === undefined)
      throw invalid({ [`${path}split_percentage`]: "needs variant_b" });
  }
  for (const [id, field] of templateFields(template, ownMessages)) await requireTemplate(store, id, field);
  await requireTarget(store, target);
  await requireTopic(store, topic);
  const now = store.clock.now();
  const messages = ownMessages.map(
    ({ content, template_id, channel_ids, scheduled_at: at, ...further }, position): CampaignMessage => ({
      id: replaced[position]?.id ?? store.ids.uuidAt(now),
      ...(template_id === undefined ? { content } : { template_id }),
      ...further,
      channel_ids,
      ...(at !== undefined && { scheduled_at: at }),
      position,
      job_id: "",
    }),
  );
  return { ...fieldsOf(settings, input), messages };
}

const messageOf = (input: v.InferOutput<typeof NewCampaign>) => ({
  content: input.content,
  template_id: input.template_id,
  channel_ids: input.channel_ids ?? [],
  chat_app_template_id: input.chat_app_template_id,
  chat_app_parameters: input.chat_app_parameters,
  variant_b: input.variant_b,
  split_percentage: input.split_percentage,
  scheduled_at: undefined,
});
