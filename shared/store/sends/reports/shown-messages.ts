// The message as one subscriber got it, on each channel that was tried: an inbox has it, for the others it is rendered
// again from the content of the send, as of its round.
import { channelTypes } from "../../../rules/channel-types.ts";
import type { StoreReader } from "../../context.ts";
import { fromJson } from "../../json-text.ts";
import type { LivingProfile } from "../../subscribers/subscribers.ts";
import { type Event, eventFor, scopeOf } from "../content/arms.ts";
import { rendererOf, saidHash } from "../content/texts.ts";
import type { MessageRow } from "../inbox/inbox.ts";
import { readTexts } from "../inbox/inbox-content.ts";
import type { Job } from "../jobs/job-record.ts";
import { newestByAddress } from "../ledger/recipient-outcome.ts";
import { type TouchRow, timeOfTouch } from "../ledger/touches.ts";
import type { ShownMessage } from "./explanation.ts";

/** States of an address that a message was handed over to, or may have been. */
const handedOver: readonly TouchRow["state"][] = ["sent", "unknown", "bounced"];

export async function shownMessages(
  store: StoreReader,
  job: Job,
  profile: LivingProfile | undefined,
  { ledger, messages }: { ledger: readonly TouchRow[]; messages: readonly MessageRow[] },
): Promise<ShownMessage[]> {
  const tried = newestByAddress(ledger).filter(({ state }) => handedOver.includes(state));
  const byChannel = new Map(tried.map((row) => [row.channel, row]));
  const [textOf, event] = await Promise.all([
    readTexts(store, messages),
    byChannel.size > 0 ? eventFor(store, job) : undefined,
  ]);
  const inbox = messages.map((row): ShownMessage => {
    const { title, body } = textOf(row).content;
    return { channel: "in_app", title, body, attributes_changed: false };
  });
  return [...inbox, ...[...byChannel.values()].flatMap((row) => shownOf(job, profile, row, event))];
}

function shownOf(job: Job, profile: LivingProfile | undefined, row: TouchRow, event: Event): ShownMessage[] {
  const channel = channelTypes.find((type) => type === row.channel && type !== "in_app");
  if (!channel || !profile) return [];
  const renderer = rendererOf(job, timeOfTouch(row), event);
  const words = renderer.renderScope(row.arm, scopeOf(profile, job, event), channel);
  const { said } = row.claimed_with === undefined ? {} : fromJson(row.claimed_with);
  if (!words) return [{ channel, title: null, body: null, attributes_changed: true }];
  const { title, body, bodies } = words;
  return [
    {
      channel,
      title,
      body: bodies ? bodies.text : body,
      ...(bodies && { html: bodies.html }),
      attributes_changed: renderer.isStatic ? false : said === undefined ? null : said !== saidHash(words),
    },
  ];
}
