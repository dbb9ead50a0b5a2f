// Prepares the messages of a group: addresses read, consent checked again, texts rendered, credentials opened.
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { addressOf, providerOf } from "../../../shared/providers/addresses.ts";
import { filledTemplate, type TemplateRenderer, templateRenderer } from "../../../shared/providers/chat-app-texts.ts";
import { rejected } from "../../../shared/providers/provider.ts";
import { addressKindOf, normalizedAddress } from "../../../shared/rules/addresses.ts";
import { hasConsent, type ProvidedChannel } from "../../../shared/rules/channel-types.ts";
import { isBlank } from "../../../shared/rules/characters.ts";
import { listOfTarget } from "../../../shared/rules/list-consents.ts";
import type { SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import { isReachableDevice, reachOf } from "../../../shared/rules/reach.ts";
import { consentChannelOf } from "../../../shared/rules/topics.ts";
import { chatAppOf } from "../../../shared/store/channels/chat-app-content.ts";
import type { Recipient } from "../../../shared/store/sends/chunks/recipients.ts";
import { type Arm, type Event, eventFor } from "../../../shared/store/sends/content/arms.ts";
import { isTextless } from "../../../shared/store/sends/content/textless.ts";
import {
  filledHash,
  type RenderedTexts,
  type Renderer,
  rendererOf,
  saidHash,
} from "../../../shared/store/sends/content/texts.ts";
import type { ClaimedWith } from "../../../shared/store/sends/ledger/ledger-items.ts";
import type { RoundTimes } from "../../../shared/store/sends/ledger/touches.ts";
import { mailAddressId } from "../../../shared/store/subscribers/address-items.ts";
import { contactOf } from "../../../shared/store/subscribers/contacts.ts";
import type { DeviceRow } from "../../../shared/store/subscribers/device-items.ts";
import { deviceOf } from "../../../shared/store/subscribers/devices.ts";
import { forgetInChunk, KNOWN_ALIVE_MS } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { attributesOf, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { credentialsFor } from "./channel-credentials.ts";
import { deferredInbox, type Inbox, prepareInbox, reachedBefore } from "./inboxes.ts";
import { mailFor } from "./mails.ts";
import { createRecipientRows, type RecipientRows } from "./recipient-rows.ts";
import { topicRefusal } from "./topic-choices.ts";
import { type PreparedMessage, recipientOf, targetOf, type WaitQueue, type Work } from "./work.ts";

interface MessageSources {
  work: Work;
  times: RoundTimes;
  rows: RecipientRows;
  waiting: WaitQueue;
  texts: Renderer;
  /** The template of the chat app, in place of texts; undefined if it is not approved. */
  template(arm: Arm): Promise<TemplateRenderer | undefined>;
}

export interface MessageBuilder {
  /** `write` writes the in-app messages of the group, unless they count against caps first. */
  prepare(
    units: readonly Unit[],
    group: readonly Unit[],
    waiting: WaitQueue,
  ): Promise<{ prepared: PreparedMessage[]; write(): Promise<void> }>;
}

/** Makes the messages of a group from the rows of its recipients, as they are now. Texts are compiled once a chunk. */
export function createMessageBuilder(work: Work, times: RoundTimes): MessageBuilder {
  const { store, clock, job, chunk } = work;
  const rows = createRecipientRows(work);
  let event: Promise<Event> | undefined;
  const eventOf = () => {
    event ??= eventFor(store, job);
    return event;
  };
  let texts: Renderer | undefined;
  const renderers = new Map<Arm, Promise<TemplateRenderer | undefined>>();
  const template = (arm: Arm) => {
    const made = async () => templateRenderer(store, job, { arm, now: times.at, event: await eventOf() });
    const renderer = renderers.get(arm) ?? made();
    renderers.set(arm, renderer);
    return renderer;
  };

  return {
    prepare: async (units, group, waiting) => {
      texts ??= rendererOf(job, times.at, await eventOf());
      const { isStatic } = texts;
      const isLate = clock.now() - chunk.plannedAt > KNOWN_ALIVE_MS;
      const needsProfile = (unit: Unit) =>
        isLate || !isStatic || job.topic !== undefined || hasConsent(targetOf(chunk, unit).channel);
      await rows.load(units, group, needsProfile);

      const { refusalOf, inApp } = await choicesIn({ work, times, rows, waiting }, group);
      const { inbox, write } = job.deliverySettings?.caps
        ? deferredInbox(work, times)
        : await prepareInbox(work, times, inApp);

      const sources: MessageSources = { work, times, rows, waiting, texts, template };
      const prepared: PreparedMessage[] = [];
      for (const unit of group) prepared.push(await prepareMessage(sources, unit, inbox, refusalOf(unit)));
      return { prepared, write };
    },
  };
}

/** Which recipients of a group must not be sent to any more, and which inboxes get the message. */
async function choicesIn(
  { work, times, rows, waiting }: Pick<MessageSources, "work" | "times" | "rows" | "waiting">,
  group: readonly Unit[],
): Promise<{ refusalOf(unit: Unit): SendOutcome | undefined; inApp: Recipient[] }> {
  const { job, chunk } = work;
  const isInApp = (unit: Unit) => targetOf(chunk, unit).channel === "in_app";
  const choiceNow = (unit: Unit) =>
    waiting.refusal(unit) ?? topicRefusal(job, rows.profileOf(recipientOf(chunk, unit).subscriber));
  const isLeftOut = (unit: Unit) => job.topic !== undefined && choiceNow(unit) !== undefined;
  const leftOut = group.filter((unit) => isInApp(unit) && isLeftOut(unit));
  const reached = await reachedBefore(work, times, leftOut);
  return {
    refusalOf: (unit) => (reached.has(unit) ? undefined : choiceNow(unit)),
    inApp: group
      .filter((unit) => isInApp(unit) && (!isLeftOut(unit) || reached.has(unit)))
      .map((unit) => recipientOf(chunk, unit)),
  };
}

async function prepareMessage(
  sources: MessageSources,
  unit: Unit,
  inbox: Inbox,
  refusal: SendOutcome | undefined,
): Promise<PreparedMessage> {
  const { work, rows, waiting } = sources;
  const { store, chunkRef, chunk } = work;
  const { subscriber } = recipientOf(chunk, unit);
  const { channel, device: deviceId } = targetOf(chunk, unit);
  const claimedWith = claimedWithOf(sources, unit);
  const refused = (outcome: SendOutcome, as = subscriber): PreparedMessage => ({
    unit,
    channel,
    subscriber: as,
    isRefused: true,
    claimedWith: as === subscriber ? claimedWith : undefined,
    send: async () => outcome,
  });

  if (isPseudonym(subscriber)) return refused(rejected("erased"));
  if (waiting.isGone(subscriber) || rows.isGone(subscriber))
    return refused(rejected("erased"), await forgetInChunk(store, chunkRef, subscriber));
  if (refusal) return refused(refusal);
  if (channel === "in_app") return { unit, channel, subscriber, send: () => inbox(subscriber, unit) };

  const device = deviceId === undefined ? undefined : rows.deviceOf(unit);
  if (deviceId !== undefined && !(device && isReachableDevice(deviceOf(device)))) return refused(rejected("no_device"));
  const message = await messageTo(sources, unit, channel, device);
  if (message.kind === "decided") return refused(message.outcome);

  const { said, send } = message;
  const address = addressIn(channel, rows.profileOf(subscriber));
  return { unit, channel, subscriber, device, address, send, claimedWith: claimedWith && { ...claimedWith, said } };
}

/** The conditions of a unit's address; undefined if its subscriber was not read. */
function claimedWithOf({ work: { job, chunk }, rows }: MessageSources, unit: Unit): ClaimedWith | undefined {
  const { subscriber } = recipientOf(chunk, unit);
  const { channel } = targetOf(chunk, unit);
  const profile = rows.profileOf(subscriber);
  if (!profile) return undefined;
  const addresses = rows.addressesOf(subscriber);
  const { consents } = contactOf(profile, [], addresses);
  const kind = addressKindOf(channel);
  return {
    ...(kind && { consent: consents[channel], suppression: addresses[kind]?.reason }),
    ...(job.topic && { topic: consents[consentChannelOf(job.topic.key)] }),
  };
}

function addressIn(channel: ProvidedChannel, profile: LivingProfile | undefined): PreparedMessage["address"] {
  const kind = addressKindOf(channel);
  if (kind === undefined || !profile) return undefined;
  const address = normalizedAddress(kind, kind === "email" ? profile.email : attributesOf(profile).phone);
  return address === undefined ? undefined : { kind, address };
}

type MessageTo =
  | { kind: "message"; said: string | undefined; send(): Promise<SendOutcome> }
  /** The outcome is known before it is sent. */
  | { kind: "decided"; outcome: SendOutcome };

const decided = (outcome: SendOutcome): MessageTo => ({ kind: "decided", outcome });

async function messageTo(
  { work, times: { at }, rows, texts, template }: MessageSources,
  unit: Unit,
  channel: ProvidedChannel,
  device: DeviceRow | undefined,
): Promise<MessageTo> {
  const { store, providers, job, chunk } = work;
  const { subscriber, arm } = recipientOf(chunk, unit);
  const profile = rows.profileOf(subscriber);
  const refusal = addressRefusal({ work, rows }, channel, profile);
  if (refusal) return decided(refusal);
  const words = texts.render(arm, profile, channel);
  if (!words) return decided(rejected("template_error"));
  const isTemplate = channel === "chat_app" && chatAppOf(job, arm) !== undefined;
  const blank = blankRefusal(channel, words, isTemplate);
  if (blank) return decided(blank);

  const { unknown: _, bodies, ...said } = words;
  const filled = isTemplate && profile ? filledTemplate(await template(arm), profile) : undefined;
  if (filled?.kind === "unfilled") return decided(filled.outcome);

  // Content that is the same for all recipients can be rendered again later.
  const saidTexts = texts.isStatic ? undefined : saidHash(words);
  const hash = filled ? filledHash(filled.template.parameters) : saidTexts;

  const opened = await credentialsFor(work, channel);
  if (opened.kind === "missing") return decided(rejected("no_credentials"));
  // Caps count it, like any other message that is tried again.
  if (opened.kind === "held") {
    const { outcome } = opened;
    return { kind: "message", said: hash, send: async () => outcome };
  }
  const message = {
    tenant: store.tenant,
    subscriber,
    job: job.id,
    target: device?.id ?? channel,
    at,
    address: addressOf(channel, profile, device),
    category: job.category,
    ...said,
    ...(filled && { template: filled.template }),
    ...(arm && { variant: arm }),
    ...(bodies && (await mailFor(work, { subscriber, arm, profile, at }, bodies))),
  };
  const { credentials } = opened;
  return { kind: "message", said: hash, send: () => providerOf(providers, channel).send(credentials, message) };
}

/** Why the address of a subscriber must not be sent to any more, as far as the rows that were read tell. */
function addressRefusal(
  { work: { job }, rows }: Pick<MessageSources, "work" | "rows">,
  channel: ProvidedChannel,
  profile: LivingProfile | undefined,
): SendOutcome | undefined {
  if (profile && hasConsent(channel)) {
    const emailConsent = job.deliverySettings?.emailConsent ?? "opt_out";
    const contact = contactOf(profile, [], rows.addressesOf(profile.id));
    const rules = { channels: [channel], category: job.category, emailConsent, list: listOfTarget(job.target) };
    const reached = reachOf(contact, rules);
    if (reached.kind === "unreachable") return rejected(reached.reason);
  }
  // Another address was not asked: this mail neither counts nor confirms for it.
  const isAnother = job.confirms && mailAddressId(profile) !== job.confirms.address;
  return isAnother ? rejected("no_address") : undefined;
}

/** Whether a message is blank. A mail needs only its subject. */
function blankRefusal(channel: ProvidedChannel, words: RenderedTexts, isTemplate: boolean): SendOutcome | undefined {
  if (channel === "email") return isBlank(words.title) ? { kind: "skipped", reason: "blank_subject" } : undefined;
  return isTextless(words, isTemplate) ? rejected("template_error") : undefined;
}
