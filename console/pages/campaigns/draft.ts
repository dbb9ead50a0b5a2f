// The draft of a campaign, of the campaign that it changes, and as the body of the API.
import type { Campaign, CampaignsCreateBody, CampaignsReplaceBody, Target } from "../../../sdk/src/types.gen.ts";
import type { LostRequest } from "../../app/once.ts";
import { place } from "../../app/router.ts";
import { fromLocalInput, toLocalInput } from "../../app/time.ts";
import { type Arms, armsBody, armsOf, NO_ARMS } from "../../components/arms.tsx";
import { contentOf } from "../../components/content-model.ts";
import type { Message } from "../../components/message-editor.tsx";
import type { Safety } from "../../components/safety.tsx";
import { timesOf } from "./times.ts";

export interface MessageDraft extends Message, Arms {
  channel_ids: string[] | undefined;
  /** Empty: with the campaign. */
  at: string;
  /** As the service has it. */
  known?: string | undefined;
  /** What a chat app shows, which is said by the API alone. */
  chat_app_template_id?: string | undefined;
  chat_app_parameters?: string[] | undefined;
}

export const EMPTY: MessageDraft = {
  content: { title: "", body: "" },
  channel_ids: undefined,
  template_id: undefined,
  at: "",
  ...NO_ARMS,
};

function messagesOf(campaign: Campaign): MessageDraft[] {
  const times = timesOf(campaign);
  return campaign.messages.map(({ content, template_id, channel_ids, ...further }, n) => ({
    chat_app_template_id: further.chat_app_template_id,
    chat_app_parameters: further.chat_app_parameters,
    content: content ?? EMPTY.content,
    channel_ids,
    template_id,
    at: times[n] ? toLocalInput(Date.parse(times[n])) : "",
    known: times[n],
    ...armsOf(further),
  }));
}

export interface Draft {
  name: string;
  category: "marketing" | "transactional";
  topic: string;
  target: Target;
  holdout: number;
  messages: readonly MessageDraft[];
  safety: Safety | null | undefined;
  /** What was saved, where no answer came. */
  lost?: LostRequest<CampaignsCreateBody> | undefined;
}

/** An import leads here with the list that it filled. */
function targetOfAddress(): Target {
  const list_id = place.value.query.get("list");
  return list_id ? { type: "list", list_id } : { type: "all" };
}

export const draftOf = (campaign: Campaign | undefined): Draft => ({
  name: campaign?.name ?? "",
  category: campaign?.category ?? "marketing",
  topic: campaign?.topic ?? "",
  target: campaign?.target ?? targetOfAddress(),
  holdout: campaign?.holdout_percentage ?? 0,
  messages: campaign ? messagesOf(campaign) : [EMPTY],
  safety: campaign?.safety,
});

export const bodyOf = (draft: Draft, usable: string[]): CampaignsReplaceBody => ({
  name: draft.name,
  category: draft.category,
  ...(draft.topic && { topic: draft.topic }),
  target: draft.target,
  holdout_percentage: draft.holdout,
  ...(draft.safety !== undefined && { safety: draft.safety }),
  messages: draft.messages.map(({ content, channel_ids, template_id, at, known, ...further }) => ({
    chat_app_template_id: further.chat_app_template_id,
    chat_app_parameters: further.chat_app_parameters,
    ...(template_id === undefined ? { content: contentOf(content) } : { template_id }),
    ...armsBody(further),
    channel_ids: channel_ids ?? usable,
    ...(at && { scheduled_at: fromLocalInput(at, known) }),
  })),
});
