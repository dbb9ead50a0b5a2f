// The stored form of the inbox (INB). Messages are immutable: the actions of a reader are stored in rows of their own,
// so that a redelivered write can never undo a read (docs/decisions/0003).
import * as v from "valibot";
import { DAY } from "../../../kernel/clock.ts";
import { item } from "../../item.ts";
import { json } from "../../json-text.ts";
import type { Value } from "../../model.ts";
import type { InAppContent } from "../jobs/job-spec.ts";

/** The content of a message; its look is that of experiences. */
export type MessageContent = Partial<InAppContent> & {
  title: string;
  body: string;
  /** Only of A/B sends. */
  variant_id?: string;
};

/** Longer than an inbox shows a message: its row is the ledger entry of its delivery, which rankings (D-ARB) and conversions look at. */
export const MESSAGE_KEPT_MS = 90 * DAY;

const ofSubscriber = ({ subscriber }: { subscriber: string }) => `U#${subscriber}`;

export const Message = item({
  about: "A message of an inbox, and the ledger entry of its delivery. A redelivery writes the same row.",
  pk: ofSubscriber,
  sk: ({ message }: { message: string }) => `I#${message}`,
  prefix: "I#",
  row: {
    job: v.string(),
    content: v.optional(json<MessageContent>()),
    /** The hash of the job's content that its text is in, and the arm. Absent: the text is in `content`. */
    text: v.optional(v.string()),
    arm: v.optional(v.picklist(["a", "b"])),
    /** Custom values of the send, for the live stream. */
    data: v.optional(json<{ [name: string]: Value }>()),
    /** The experience that it belongs to, which may be hidden or recalled. */
    experience: v.optional(v.string()),
    /** The chunk of the recipient, which an erasure visits. */
    place: v.optional(v.string()),
    /** When its chunk was first claimed, in milliseconds, if that was before this round. */
    assigned_at: v.optional(v.number()),
    /** When it was written, in milliseconds, if that was long after its round began. */
    late_at: v.optional(v.number()),
    expires: v.number(),
  },
  writers: ["deliver", "api-tests"],
  lifetime: "90 days",
  personal: "anonymized",
});

export const MessageState = item({
  about: "What the reader did with a message.",
  pk: ofSubscriber,
  sk: ({ message }: { message: string }) => `IS#${message}`,
  prefix: "IS#",
  row: { read_at: v.optional(v.string()), dismissed_at: v.optional(v.string()), expires: v.number() },
  writers: ["api-inbox"],
  lifetime: "90 days",
  personal: "removed",
});

export const ReadAll = item({
  about: "The messages up to this id were read at this time, except those of experiences that were hidden then.",
  pk: ofSubscriber,
  sk: ({ message }: { message: string }) => `IW#${message}`,
  prefix: "IW#",
  row: {
    at: v.string(),
    except: v.optional(v.array(v.string())),
    /** The ids of those that were new then. A slow worker may write another one below this id afterwards. */
    recent: v.optional(v.array(v.string())),
    expires: v.number(),
  },
  writers: ["api-inbox"],
  lifetime: "90 days",
  personal: "removed",
});
