// The message as a subscriber got it on each channel that was tried, from the content of its send (F2).
import { pageRoom } from "../../../contract/paging.ts";
import { channelTypes } from "../../../rules/channel-types.ts";
import type { StoreReader } from "../../context.ts";
import { fromJson } from "../../json-text.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import { type Event, eventFor, scopeOf } from "../content/arms.ts";
import { type ChatAppWords, chatAppWords, shownOn } from "../content/chat-app-words.ts";
import { filledHash, rendererOf, saidHash } from "../content/texts.ts";
import type { MessageRow } from "../inbox/inbox.ts";
import { readTexts } from "../inbox/inbox-content.ts";
import type { Job } from "../jobs/job-record.ts";
import { newestByAddress } from "../ledger/recipient-outcome.ts";
import { type TouchRow, timeOfTouch } from "../ledger/touches.ts";
import type { ShownMessage } from "./explanation.ts";

/** States of an address that a message was handed over to, or may have been. */
const handedOver: readonly TouchRow["state"][] = ["sent", "unknown", "bounced"];

/** The message that is made, or one without its texts where an answer has no more room. */
export type MessageRoom = (channel: ShownMessage["channel"], make: () => ShownMessage) => ShownMessage;

/** The room of one answer. There is always room for the first message; none is made once there is no more. */
export function messageRoom(): MessageRoom {
  const fits = pageRoom();
  let isFull = false;
  return (channel, make) => {
    const message = isFull ? undefined : make();
    isFull ||= message !== undefined && !fits(message);
    if (message && !isFull) return message;
    return { channel, title: null, body: null, attributes_changed: null, left_out: ["title", "body", "html"] };
  };
}

interface MessageRows {
  ledger: readonly TouchRow[];
  messages: readonly MessageRow[];
}

/** Those of the inbox first. */
export async function shownMessages(
  store: StoreReader,
  job: Job,
  profile: LivingProfile | undefined,
  { ledger, messages }: MessageRows,
  room = messageRoom(),
): Promise<ShownMessage[]> {
  const tried = newestByAddress(ledger).filter(({ state }) => handedOver.includes(state));
  const byChannel = new Map(tried.map((row) => [row.channel, row]));
  const via = byChannel.has("chat_app") ? (job.deliverySettings?.via ?? []) : [];
  const [textOf, event, chatApp] = await Promise.all([
    readTexts(store, messages),
    byChannel.size > 0 ? eventFor(store, job) : undefined,
    chatAppWords(store, via, job),
  ]);
  const inbox = messages.map((row): ShownMessage => {
    const { title, body } = textOf(row).content;
    return room("in_app", () => ({ channel: "in_app", title, body, attributes_changed: false }));
  });
  return [...inbox, ...[...byChannel.values()].flatMap((row) => shownOf({ job, profile, event, chatApp, room }, row))];
}

/** Whether the present texts differ from the sent ones; null if the sent ones are not known. */
function saysOtherNow({ claimed_with }: TouchRow, hash: string): boolean | null {
  const { said } = claimed_with === undefined ? {} : fromJson(claimed_with);
  return said === undefined ? null : said !== hash;
}

interface SentContext {
  job: Job;
  profile: LivingProfile | undefined;
  event: Event;
  chatApp: ChatAppWords;
  room: MessageRoom;
}

function shownOf({ profile, room, ...context }: SentContext, row: TouchRow): ShownMessage[] {
  const channel = channelTypes.find((type) => type === row.channel && type !== "in_app");
  if (!channel || !profile) return [];
  return [room(channel, () => messageBy(channel, { ...context, profile }, row))];
}

type MadeOf = Omit<SentContext, "profile" | "room"> & { profile: LivingProfile };

function messageBy(
  channel: ShownMessage["channel"],
  { job, profile, event, chatApp }: MadeOf,
  row: TouchRow,
): ShownMessage {
  const now = timeOfTouch(row);
  const renderer = rendererOf(job, now, event);
  const seen = { arm: row.arm, scope: scopeOf(profile, job, event), now };
  const shown = shownOn(channel, { renderer, chatApp }, seen);
  if (shown.kind === "failed") return { channel, title: null, body: null, attributes_changed: true };
  if (shown.kind === "template") {
    const attributes_changed = saysOtherNow(row, filledHash(shown.parameters));
    return { channel, title: null, body: shown.body, attributes_changed };
  }
  const { title, body, bodies } = shown.texts;
  return {
    channel,
    title,
    body: bodies ? bodies.text : body,
    ...(bodies && { html: bodies.html }),
    attributes_changed: renderer.isStatic ? false : saysOtherNow(row, saidHash(shown.texts)),
  };
}
