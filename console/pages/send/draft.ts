// The draft of a send: kept for the tab until the server accepts it, with undo, and as the body of the API.
import type {
  CampaignsCreateBody,
  Channel,
  NotificationsCreateBody,
  TestsTestNotificationsBody,
} from "../../../sdk/src/types.gen.ts";
import { useHistory } from "../../app/history.ts";
import { useKept } from "../../app/kept.ts";
import type { LostRequest } from "../../app/once.ts";
import { fromLocalInput } from "../../app/time.ts";
import { armsBody, NO_ARMS } from "../../components/arms.tsx";
import { type Content, contentOf } from "../../components/content-model.ts";
import { idsIn } from "../../components/person-picker.tsx";
import type { Safety } from "../../components/safety.tsx";

const BLANK = {
  audience: "all" as "all" | "list" | "segment" | "people",
  list_id: "",
  segment_id: "",
  people: "",
  channel_ids: undefined as string[] | undefined,
  source: "inline" as "inline" | "template",
  template_id: "",
  title: "",
  body: "",
  /** What some channels say instead. */
  by_channel: undefined as Content["by_channel"],
  /** The approved template that the chat app sends instead, and what fills its variables, one a line. */
  chat_template: "",
  chat_parameters: "",
  name: "",
  category: "marketing" as "marketing" | "transactional",
  topic: "",
  when: "now" as "now" | "later",
  at: "",
  smart: false,
  ...NO_ARMS,
  holdout: 0,
  /** Null is kept as it is, but undefined is not in JSON: the workspace's limits. */
  safety: undefined as Safety | null | undefined,
  /** The campaign that it was to become, where no answer came. */
  lost: undefined as LostRequest<CampaignsCreateBody> | undefined,
};

export type Draft = typeof BLANK & {
  /** The same for every attempt to send this draft. */
  key: string;
};

const emptyDraft = (): Draft => ({ ...BLANK, key: crypto.randomUUID() });

export interface DraftEditor {
  draft: Draft;
  change(part: Partial<Draft>): void;
  /** What nobody has written, and no undo takes back. */
  note(part: Pick<Partial<Draft>, "key" | "lost">): void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  /** Whether there is something in it. */
  isBegun: boolean;
  discard(): void;
}

export function useDraft(): DraftEditor {
  const { value: draft, set, discard } = useKept("send", emptyDraft);
  const { change, undo, redo } = useHistory(draft, ({ lost: _, key: __, ...written }) => set(written));
  const isBegun = JSON.stringify(draft) !== JSON.stringify({ ...emptyDraft(), key: draft.key });
  return { draft, change: (part) => change({ ...draft, ...part }), note: set, undo, redo, isBegun, discard };
}

const targetOf = ({ audience, list_id, segment_id, people }: Draft): Partial<NotificationsCreateBody> => {
  if (audience === "people") return { external_ids: idsIn(people) };
  if (audience === "list") return { target: { type: "list", list_id } };
  if (audience === "segment") return { target: { type: "segment", segment_id } };
  return { target: { type: "all" } };
};

/** What is still missing before the API can be asked; undefined if nothing is. */
export function missingIn(draft: Draft, via: readonly Channel[]): string | undefined {
  if (draft.audience === "list" && !draft.list_id) return "Choose a list.";
  if (draft.audience === "segment" && !draft.segment_id) return "Choose a segment.";
  if (draft.audience === "people" && !draft.people.trim()) return "Give at least one external ID.";
  if (draft.when === "later" && !draft.at) return "Choose a time.";
  return missingInMessage(draft, via);
}

/** What is missing before the message can be sent as a test. */
export function missingInMessage(draft: Draft, via: readonly Channel[]): string | undefined {
  if (via.length === 0) return "Choose a channel.";
  if (draft.source === "template" && !draft.template_id) return "Choose a template.";
  if (draft.source === "inline" && isBare(contentOf(draft))) return "Write a title and a body.";
  if (draft.ab && isBare(contentOf(draft.b))) return "Write variant B.";
  return undefined;
}

const isBare = ({ title, body }: Content): boolean => !title.trim() || !body.trim();

/** A message that is the same on every channel has the short form of the API. The chat app may send a template instead. */
const messageOf = (draft: Draft, via: readonly Channel[]) => {
  const { chat_template, chat_parameters } = draft;
  const content = contentOf(draft);
  const inline = content.by_channel ? { content } : content;
  return {
    ...(draft.source === "template" ? { template_id: draft.template_id } : inline),
    ...(chat_template !== "" &&
      via.some(({ type }) => type === "chat_app") && {
        chat_app_template_id: chat_template,
        ...(chat_parameters.trim() && { chat_app_parameters: chat_parameters.split("\n") }),
      }),
  };
};

/** The message of a draft as a test: without its audience and its time. */
export const testBodyOf = (draft: Draft, via: readonly Channel[], variant: "a" | "b"): TestsTestNotificationsBody => ({
  ...messageOf(draft, via),
  channel_ids: via.map(({ id }) => id),
  category: draft.category,
  ...(draft.topic && { topic: draft.topic }),
  ...(draft.ab && { variant_b: contentOf(draft.b), variant }),
});

export function bodyOf(draft: Draft, via: readonly Channel[]): NotificationsCreateBody {
  return {
    ...targetOf(draft),
    ...messageOf(draft, via),
    channel_ids: via.map(({ id }) => id),
    category: draft.category,
    ...(draft.topic && { topic: draft.topic }),
    ...(draft.name && { name: draft.name }),
    ...(draft.when === "later" && draft.at && { scheduled_at: fromLocalInput(draft.at) }),
    ...(draft.smart && { channel_arbitration_mode: "smart" as const }),
    ...armsBody(draft),
    ...(draft.holdout > 0 && { holdout_percentage: draft.holdout }),
    ...(draft.safety !== undefined && { safety: draft.safety }),
  };
}
