// The explanation of a send for one person, in sentences. For that of a journey see why-journey-words.ts.
import type { ChannelType } from "./channel-types.ts";
import { channels } from "./channels.ts";
import { reasonText, saidReason, settingWords } from "./reason-words.ts";
import { type Channel, detailOf, holdsStill, moment, type SaidOfSend } from "./why-details.ts";

const label = (channel: ChannelType): string => channels[channel].label;

export const because = (reason: string | null): string => (reason === null ? "" : `: ${saidReason(reason)}`);

/** @param at when the person was erased, RFC 3339 */
export const erasedInWords = (at: string): string =>
  `This person was erased on ${moment(at)}: nothing more is sent, and what was sent before is no longer known by name.`;

/** The outcome of a message in one sentence, and of each channel if they differ. */
export function sendInWords(said: SaidOfSend): string {
  const isSaid = ({ state, reason }: Channel) => state === said.state && reason === said.reason;
  const others = said.channels.filter((channel) => !isSaid(channel) && channel.state !== "delivered");
  const arrived = said.state === "delivered" ? [] : said.channels.filter(({ state }) => state === "delivered");
  return [
    ...(arrived.length > 0 ? [`Delivered by ${labelsOf(arrived)}.`] : []),
    mainSentence(said),
    ...wentOutSentence(said),
    ...despiteSentence(said),
    ...variantSentence(said),
    ...experienceSentence(said),
    ...(said.attempts.some(({ complained }) => complained) ? ["The recipient reported it as spam."] : []),
    ...others.map(channelSentence),
    ...leftOutSentences(said),
  ].join(" ");
}

function wentOutSentence({ wentOut, now }: SaidOfSend): string[] {
  if (!wentOut) return [];
  const { at, began, after } = wentOut;
  const causes = { quiet_hours: ` after quiet hours${hoursOf(now)}`, others: " after a part of the audience" };
  return [`It went out on ${moment(at)}${after ? causes[after] : ""}; the send began on ${moment(began)}.`];
}

/** Why it was delivered to a person who has since opted out. */
function despiteSentence({ channels: all, now, category, deliveredAt }: SaidOfSend): string[] {
  const arrived = all.flatMap(({ channel, state }) => (state === "delivered" ? [channel] : []));
  const out = now?.channels.find(({ channel, consent }) => consent === "opted_out" && arrived.includes(channel));
  if (!out) return [];
  if (category === "transactional") return ["It is transactional: an opt-out does not stop it."];
  const { consent_at } = out;
  return consent_at !== null && deliveredAt !== undefined && consent_at > deliveredAt
    ? [`The opt-out came after it, on ${moment(consent_at)}.`]
    : [];
}

const variantSentence = ({ variant }: SaidOfSend): string[] =>
  variant ? [`The text is that of variant ${variant.arm.toUpperCase()}, which ${variant.share}% get by a draw.`] : [];

const hoursOf = (now: SaidOfSend["now"]): string => {
  const quiet = now?.quiet_hours;
  return quiet ? ` (${quiet.start} to ${quiet.end}, ${quiet.timezone})` : "";
};

/** The channels of the send that were not tried, if others were, with the reasons that apply now. */
function leftOutSentences({ channels: tried, now }: SaidOfSend): string[] {
  if (!now || now.ranking || tried.length === 0) return [];
  const leftOut = now.channels.filter(({ channel }) => !tried.some((attempt) => attempt.channel === channel));
  const reasons = new Set(leftOut.flatMap(({ reason }) => reason ?? []));
  return [...reasons].map((reason) => {
    const labels = leftOut.filter((other) => other.reason === reason).map(({ channel }) => label(channel));
    return `Not by ${labels.join(", ")} (now: ${saidReason(reason)}).`;
  });
}

/** A delivered message is not shown while its experience is paused, and after its end. */
function experienceSentence({ experience, channels: all }: SaidOfSend): string[] {
  if (!experience || !all.some(({ state }) => state === "delivered")) return [];
  if (experience === "paused")
    return ["It is hidden while its experience is paused. To change: Resume, on the page of the experience."];
  return experience === "live" ? [] : ["It is not shown any more: its experience has ended."];
}

const labelsOf = (channels: readonly Channel[]): string =>
  [...new Set(channels.map(({ channel }) => label(channel)))].join(" and ");

function pendingSentence(said: SaidOfSend): string {
  const { reason, goes_at, waits, campaign, isOfJourney, othersAfter } = said;
  if (reason === "paused" && isOfJourney) return `Not yet: its journey is paused.${settingWords(reason)}`;
  if (reason === "paused")
    return `Not yet: its campaign is ${campaign ?? "paused or archived"}. To change: ${campaign === "archived" ? "Unarchive" : "Resume"}, on the page of the campaign.`;
  if (reason !== null)
    return `Not yet${because(reason)}${reason === "halted" ? detailOf(said) : ""}${againWords(waits)}.${settingWords(reason)}`;
  if (goes_at) return `Not yet: the send goes out on ${moment(goes_at)}.`;
  if (othersAfter) return `Not yet: a part of the audience gets it first, the others ${othersAfter} minutes later.`;
  return "Not yet: it is still in the queue of the send.";
}

function mainSentence(said: SaidOfSend): string {
  const { decision, state, reason, channels: all, ended_at, error } = said;
  switch (decision === "not_in_audience" ? decision : state) {
    case "not_in_audience":
      return `Not in the audience${because(reason)}${detailOf(said)}.${holdsStill(said) ? whereToChange(said) : ""}`;
    case "held_out":
      return "In the control group, which gets nothing so that the effect can be measured.";
    case "delivered":
      return `Delivered by ${labelsOf(all.filter((other) => other.state === "delivered")) || "a channel"}.`;
    case "deferred":
      return deferredSentence(said);
    case "pending":
      return pendingSentence(said);
    case "uncertain":
      return "Perhaps: the provider did not confirm it, and it is not sent twice.";
    case "bounced":
      return `Not received: the address sent it back${reason === null ? "" : `: ${reasonText(reason)}`}.`;
    case "canceled":
      return `Not sent: the send was canceled first${ended_at ? `, on ${moment(ended_at)}` : ""}${error ? ` (${error})` : ""}.`;
    default:
      return `Not sent${because(reason)}${detailOf(said)}.${holdsStill(said) ? settingWords(reason) : ""}`;
  }
}

/** A person who meets the rule of a static segment becomes a member when it is computed again. */
function whereToChange({ reason, now }: SaidOfSend): string {
  const segment = reason === "not_in_segment" ? now?.segment : undefined;
  return segment && !segment.is_dynamic && segment.unmet === null
    ? " To change: Recompute, on the page of the segment."
    : settingWords(reason);
}

function deferredSentence(said: SaidOfSend): string {
  const { channels: all, now } = said;
  const deferred = all.filter(({ state }) => state === "deferred");
  const waiting = deferred.filter(({ reason }) => reason === "quiet_hours");
  if (waiting.length === 0) return heldSentence({ ...said, reason: deferred[0]?.reason ?? null });

  const until = waiting.find(({ deferred_until }) => deferred_until)?.deferred_until;
  const by = waiting.length > 0 && waiting.length < all.length ? ` by ${labelsOf(waiting)}` : "";
  return `Not yet${by}: it waits for the end of quiet hours${hoursOf(now)}${until ? `, ${moment(until)}` : ""}.${settingWords("quiet_hours")}`;
}

/** Quiet hours are over, and the message was not sent. */
function heldSentence(said: SaidOfSend): string {
  if (said.reason !== null) return pendingSentence({ ...said, waits: [] });
  const again = againWords(said.waits);
  return `Not yet: quiet hours are over, and it is still in the queue of the send${again}.`;
}

/** When the first of its addresses is tried again, and what was tried before. */
function againWords(waits: SaidOfSend["waits"] = []): string {
  const [next] = waits.filter(({ why }) => why !== "quiet_hours").toSorted((a, b) => (a.until < b.until ? -1 : 1));
  if (!next) return "";
  const { attempts, since, until } = next;
  const before = attempts === 0 ? "" : `, tried ${attempts === 1 ? "once" : `${attempts} times`}`;
  return `${before}${since ? `, last at ${moment(since)}` : ""}, and again from ${moment(until)}`;
}

function channelSentence({ channel, state, reason, deferred_until }: Channel): string {
  const until = deferred_until ? ` until ${moment(deferred_until)}` : "";
  return `${label(channel)}: ${state}${reason === null ? "" : `, ${reasonText(reason)}`}${until}.`;
}
