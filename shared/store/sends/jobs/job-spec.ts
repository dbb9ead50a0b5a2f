// The specification of a send and its delivery settings: the parts of a job that are stored as JSON text.
import * as v from "valibot";
import { Timestamp } from "../../../contract/schemas.ts";
import type { Target } from "../../../contract/send-input.ts";
import type { Safety } from "../../../rules/brake.ts";
import type { FrequencyCap } from "../../../rules/caps.ts";
import type { ByChannel } from "../../../rules/channel-content.ts";
import type { ChannelType } from "../../../rules/channel-types.ts";
import type { ProfileReads } from "../../../rules/cost.ts";
import { jobStatuses } from "../../../rules/job-states.ts";
import type { SendTopic } from "../../../rules/topics.ts";
import type { ChatAppContent } from "../../channels/chat-app-content.ts";
import type { Value } from "../../model.ts";
import type { QuietSettings } from "../../workspaces/settings.ts";
import type { JobSource } from "./job-ids.ts";

export const categories = ["marketing", "transactional"] as const;
export type Category = (typeof categories)[number];

/** Attributes of a job that are fields of the API as well. */
export const jobFields = {
  id: v.string(),
  status: v.picklist(jobStatuses),
  name: v.nullable(v.string()),
  category: v.picklist(categories),
  title: v.nullable(v.string()),
  body: v.nullable(v.string()),
  template_id: v.nullable(v.string()),
  channel_ids: v.array(v.string()),
  subscriber_ids_count: v.nullable(v.number()),
  scheduled_at: v.nullable(Timestamp),
  channel_arbitration_mode: v.picklist(["explicit", "smart"]),
  holdout_percentage: v.number(),
  split_percentage: v.nullable(v.number()),
  bypass_quiet_hours: v.boolean(),
  sent: v.number(),
  created_at: Timestamp,
};

type Json = { [name: string]: Value };

/** The look of an authored experience (INB-2), the same for both arms except for the image. */
export interface InAppContent {
  format: string;
  image_url?: string | undefined;
  actions?: { id: string; title: string; url: string }[] | undefined;
  display?:
    | {
        trigger: string;
        frequency: string;
        trigger_event?: string | undefined;
        priority?: number | undefined;
        screens?: string[] | undefined;
      }
    | undefined;
}

/** The content of a send, and the filters of its audience: the fields that may be long. */
export interface JobContent {
  title: string | null;
  body: string | null;
  data: Json | null;
  device_filters: Json | null;
  subscriber_filters: Json | null;
  variant_b: {
    title: string;
    body: string;
    image_url?: string | undefined;
    by_channel?: ByChannel | undefined;
  } | null;
  /** The variations of some channels, in place of title and body (CHC-1). */
  by_channel?: ByChannel | undefined;
  /** Only of experiences. */
  in_app?: InAppContent | undefined;
  /** By the chat app in place of title and body (AMB-90). */
  chat_app?: ChatAppContent | undefined;
}

/** Fields that few sends have beside their content. */
interface SpecExtras {
  /** Only of journeys: the event that its texts may refer to (D-LIQUID). */
  event_id?: string | undefined;
  /** With the default that it had when the send was made. */
  topic?: SendTopic | undefined;
  /** The limits of its brake, where it has its own (F21). */
  safety?: Safety | "off" | undefined;
  /** Only of journeys: the step that it is of. */
  step?: JobStep | undefined;
  /** The draw of its preview, in place of one under its own id (AMB-140). */
  draw?: string | undefined;
  /** Its ids were looked up when it was made: each is read once more than it is planned (F10). */
  looked_up?: true | undefined;
  /** It asks the owner of an address to confirm an opt-in: also one that bounced or complained (AMB-129). */
  confirms?: Confirms | undefined;
}

/** The part that is stored as one JSON text, without null values. It includes short content. */
export interface JobDetails extends Partial<Omit<JobContent, "title" | "body">>, SpecExtras {
  target?: Target | null;
}

/** The question to the owner of an address. */
interface Confirms {
  channel: string;
  /** The id of the address. */
  address: string;
  /** In seconds. */
  askedAt: number;
}

interface JobStep {
  version: number;
  id: string;
  /** It has limits of its own (F21). */
  hasBrake?: true | undefined;
}

type SetByTheService = "id" | "status" | "sent" | "created_at";
type JobFields = v.InferOutput<v.ObjectSchema<typeof jobFields, undefined>>;

/** The specification of a send. It does not change after creation, except that a template's content is copied in at dispatch. */
export interface JobSpec extends Omit<JobFields, SetByTheService | "title" | "body">, JobContent, SpecExtras {
  target: Target | null;
  source: { type: JobSource; id: string | null };
}

/** The defaults of a send: at once, to its whole audience, in one form. */
export const PLAIN_SEND = {
  name: null,
  title: null,
  body: null,
  data: null,
  template_id: null,
  target: null,
  subscriber_ids_count: null,
  device_filters: null,
  subscriber_filters: null,
  scheduled_at: null,
  channel_arbitration_mode: "explicit",
  holdout_percentage: 0,
  split_percentage: null,
  variant_b: null,
  bypass_quiet_hours: false,
} as const satisfies Partial<JobSpec>;

/** The channel of each type by which a send goes, whose consent it needs, and its limits: fixed when it is dispatched. */
export interface DeliverySettings {
  via: {
    id: string;
    type: ChannelType;
    credentials?: string | undefined;
    /** The provider's charge for a message, in dollars, if there is one and it is known (F10). */
    price?: number | undefined;
    /** For mails: they go through a mail server, which reports nothing. */
    isSmtp?: true | undefined;
  }[];
  emailConsent: "opt_out" | "opt_in";
  /** The workspace's, where quiet hours or caps need it. */
  timezone?: string;
  /** Where some of its channels respect quiet hours (D-QUIET). */
  quiet?: QuietSettings;
  /** The caps that apply to its messages (D-CAP). */
  caps?: FrequencyCap[];
  /** Why profiles are read again before they are sent to (F10). */
  profiles?: ProfileReads;
  /** The limits at which it halts (F21). */
  brake?: Safety;
  /** Its attempts are counted for the brake of its journey's step. */
  isCounted?: true;
}
