// The stored form of what one subscriber got: the send ledger, and the counters of frequency caps.
import * as v from "valibot";
import type { CountedCap } from "../../../rules/caps.ts";
import { channelTypes } from "../../../rules/channel-types.ts";
import { knownProviders } from "../../../rules/mailbox-providers.ts";
import { ledgerStates } from "../../../rules/progress.ts";
import { recipientFates } from "../../../rules/recipient-fates.ts";
import { item } from "../../item.ts";
import { json } from "../../json-text.ts";

/**
 * The state of an address when a message to it was prepared, just before its claim. It has few bytes, because every
 * message has it.
 */
export interface ClaimedWith {
  /** The newest consent that counted on the channel. */
  consent?: string | undefined;
  /** Why the address was suppressed. */
  suppression?: string | undefined;
  /** The choice of the topic of the send. */
  topic?: string | undefined;
  /** A hash of the message as rendered for this recipient, to compare with a later rendering. */
  said?: string | undefined;
}

const partition = ({ subscriber }: { subscriber: string }) => `U#${subscriber}`;

export const TouchItem = item({
  about:
    "One address of a send and what became of it in one round: the row of the ledger, and the touch of attribution.",
  pk: partition,
  /** `at`: when the round began. `target`: the device, or the channel that has one address. */
  sk: ({ at, job, target }: { at: string; job: string; target: string }) => `R#${at}#${job}#${target}`,
  prefix: "R#",
  row: {
    /** For a mail that bounced, or that its recipient reported as spam. */
    react: v.optional(v.literal("fate")),
    job: v.string(),
    /** The chunk of the job: `<range>#<n>`. */
    place: v.string(),
    /** `held_out`: of the control group. `assigned`: of one that waits since the chunk was first claimed. */
    state: v.picklist([...ledgerStates, "held_out", "assigned"]),
    /** When the chunk was first claimed, in milliseconds, if that was before this round. */
    assigned_at: v.optional(v.number()),
    channel: v.optional(v.picklist(channelTypes)),
    device: v.optional(v.string()),
    reason: v.optional(v.string()),
    /** The provider of the mailbox of a mail that is not tried again; absent for any other provider. */
    mailbox: v.optional(v.picklist(knownProviders)),
    /** Why the provider of a mail could not deliver it yet. */
    bounce: v.optional(v.string()),
    /** Its recipient complained about the mail. */
    complained: v.optional(v.boolean()),
    /** Its recipient opted out by a link of the mail: a later opt-out by it is not counted again. */
    opted_out: v.optional(v.literal(true)),
    /** For a mail with a later result: its effect on its recipient, if no other channel had reached them. */
    alone: v.optional(v.picklist(recipientFates)),
    provider_id: v.optional(v.string()),
    /** Its text was too long for the provider, and was cut. */
    shortened: v.optional(v.literal(true)),
    arm: v.optional(v.picklist(["a", "b"])),
    /** The cap that was reached, of one that was skipped. */
    seen: v.optional(json<CountedCap>()),
    /** When it was tried. */
    tries: v.optional(v.array(v.string())),
    /** The state of the address when its message was prepared, if its profile was read for it. */
    claimed_with: v.optional(json<ClaimedWith>()),
  },
  writers: ["deliver", "mail-event", "api-mail", "erase"],
  personal: "anonymized",
});

/** The rows of a subscriber from a time on, for a query of `TouchItem`. */
export const touchesFrom = (at: string) => ({ from: `R#${at}`, to: "R#~" });

export const SendCounter = item({
  about: "How many messages a subscriber got in a day or week, where the workspace has frequency caps.",
  pk: partition,
  sk: ({ per, window }: { per: "day" | "week"; window: string }) => `F#${per}#${window}`,
  prefix: "F#",
  row: {
    marketing: v.optional(v.number()),
    "marketing:*": v.number(),
    transactional: v.optional(v.number()),
    "transactional:*": v.number(),
    expires: v.number(),
  },
  writers: ["deliver"],
  lifetime: "9 days",
  personal: "removed",
});
