// Why a message went, waits or did not go, in one sentence: by reason, and for one subscriber.
import type { Recipient, Suppression } from "../../sdk/src/types.gen.ts";
import type { ChannelType } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";
import { reasonText } from "../../shared/rules/reason-words.ts";
import { listed, momentText, number, plural } from "./time.ts";

export { reasonText };

/** Of a type of channels or a class of them. */
export function channelName(channel: string): string {
  if (channel === "push") return "Push";
  return Object.hasOwn(channels, channel) ? channels[channel as ChannelType].label : channel;
}

/** What happened to the message of one subscriber. */
export function explain(name: string, { state, decision, reason, attempts, deferred_until, now }: Recipient): string {
  const why = reason ? reasonText(reason) : "";
  const delivered = attempts.filter((one) => one.state === "delivered").map(({ channel }) => channelName(channel));
  if (decision === "not_in_audience") return `${name} is not in the audience of this send${why && `: ${why}`}.`;
  if (state === "held_out")
    return `${name} is in the control group and gets nothing, so that the effect can be measured.`;
  if (state === "delivered") return `${name} got it by ${listed([...new Set(delivered)]) || "a channel"}.`;
  if (state === "deferred") {
    const until = deferred_until ? ` until ${momentText(deferred_until, now?.quiet_hours?.timezone)}` : "";
    return `${name} gets it later${why && `: ${why}`}${until}.`;
  }
  if (state === "pending" && reason === "halted") return `${name} waits: the send has halted, until it is resumed.`;
  if (state === "pending") return `${name} is still in the queue of this send.`;
  if (state === "canceled") return `${name} did not get it: the send was canceled first.`;
  if (state === "bounced") return `${name} did not get it: the address sent it back${why ? ` (${why})` : ""}.`;
  if (state === "uncertain")
    return `${name} may have got it: the provider did not confirm it, and it is not sent twice.`;
  if (state === "failed") return `${name} did not get it: ${why || "the provider refused it"}.`;
  return `${name} did not get it: ${why || "a rule of the workspace forbids it"}.`;
}

interface Counts {
  total: number;
  sent: number;
  deferred: number;
  held_out: number;
}

/** `12,430 people: 11,900 get it, 300 do not (no consent), 230 wait for quiet hours`. */
export function countSentence({ total, sent, deferred, held_out }: Counts, skipped: Record<string, number>): string {
  const parts = [
    `${plural(sent, "person gets", "people get")} it${deferred ? `, ${number(deferred)} of them at least in part after quiet hours` : ""}`,
    ...(held_out ? [`${plural(held_out, "is", "are")} held out as control group`] : []),
    ...Object.entries(skipped).map(([reason, count]) => `${plural(count, "does", "do")} not: ${reasonText(reason)}`),
  ];
  if (sent === total) return `${total > 1 ? "All " : ""}${parts[0]}.`;
  return `Of ${plural(total, "person", "people")}: ${parts.join("; ")}.`;
}

/** Why an address is suppressed. */
export const SUPPRESSED: Record<Suppression["reason"], string> = {
  bounce: "Does not exist",
  complaint: "Complained",
  imported: "Imported",
  manual: "By a colleague",
};
