// Prepares the messages of a group: addresses read, consent checked again, texts rendered, credentials opened.

import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { addressOf, providerOf } from "../../../shared/providers/addresses.ts";
import { filledTemplate, type TemplateRenderer, templateRenderer } from "../../../shared/providers/chat-app-texts.ts";
import { rejected } from "../../../shared/providers/provider.ts";
import { type ChannelType, hasConsent, type ProvidedChannel } from "../../../shared/rules/channel-types.ts";
import type { SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import { isReachableDevice, reachOf } from "../../../shared/rules/reach.ts";
import { languageOf } from "../../../shared/rules/translations.ts";
import { chatAppOf } from "../../../shared/store/channels/chat-app-content.ts";
import { type Arm, eventFor } from "../../../shared/store/sends/content/arms.ts";
import { type Renderer, rendererOf } from "../../../shared/store/sends/content/texts.ts";
import { contactOf } from "../../../shared/store/subscribers/contacts.ts";
import type { DeviceRow } from "../../../shared/store/subscribers/device-items.ts";
import { deviceOf } from "../../../shared/store/subscribers/devices.ts";
import { forgetInChunk, KNOWN_ALIVE_MS } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { attributesOf } from "../../../shared/store/subscribers/subscribers.ts";
import { senderOf } from "../../../shared/store/workspaces/settings.ts";
import { recipientOf, targetOf } from "./addresses.ts";
import { credentialsFor } from "./channel-credentials.ts";
import { type Delivering, deferredInbox, type Inbox, prepareInbox, reachedBefore } from "./inboxes.ts";
import { mailFor } from "./mails.ts";
import { createRecipientRows, type RecipientRows } from "./recipient-rows.ts";
import type { WorkerContext } from "./rounds.ts";
import { ownerOf } from "./send-gates.ts";
import type { KnownDevices } from "./single-reads.ts";
import { topicRefusal } from "./topic-choices.ts";
import type { WaitQueue } from "./wait-queue.ts";

export interface Prepared {
  unit: Unit;
  /** The subscriber of its ledger row; the pseudonym of one that was erased. */
  subscriber: string;
  channel: ChannelType;
  device?: DeviceRow | undefined;
  /** The address of an e-mail. */
  email?: string | undefined;
  /** Known before the claim: it cannot be sent. */
  isRefused?: true;
  /** A frequency cap is reached. */
  isCapped?: true;
  send(): Promise<SendOutcome>;
}

/** What the messages of a chunk are made of. */
interface MessageContext extends Delivering {
  context: WorkerContext;
  rows: RecipientRows;
  waiting: WaitQueue;
  texts: Renderer;
  /** Of the chat app, in place of texts; undefined where the template is not approved. */
  template(arm: Arm): Promise<TemplateRenderer | undefined>;
}

export function createMessageBuilder(context: WorkerContext, delivering: Delivering, known?: KnownDevices) {
  const { store, clock } = context;
  const { job, chunk, at } = delivering;
  const rows = createRecipientRows(context, chunk, known);
  let texts: Renderer | undefined;
  const renderers = new Map<Arm, Promise<TemplateRenderer | undefined>>();
  const template = (arm: Arm) => {
    const renderer = renderers.get(arm) ?? templateRenderer(store, job, arm, at);
    renderers.set(arm, renderer);
    return renderer;
  };

  return {
    /** `write` writes the in-app messages of the group, unless they count against caps first. */
    prepare: async (
      units: readonly Unit[],
      group: readonly Unit[],
      waiting: WaitQueue,
    ): Promise<{ prepared: Prepared[]; write(): Promise<void> }> => {
      texts ??= rendererOf(job, at, await eventFor(store, job));
      const { isStatic } = texts;
      const isLate = clock.now() - chunk.plannedAt > KNOWN_ALIVE_MS;
      const needsProfile = (unit: Unit) =>
        isLate || !isStatic || job.topic !== undefined || hasConsent(targetOf(chunk, unit).channel);
      await rows.load(units, group, needsProfile);
      const isInApp = (unit: Unit) => targetOf(chunk, unit).channel === "in_app";
      const choiceNow = (unit: Unit) =>
        waiting.refusal(unit) ?? topicRefusal(job, rows.profileOf(recipientOf(chunk, unit).subscriber));
      const isLeftOut = (unit: Unit) => job.topic !== undefined && choiceNow(unit) !== undefined;
      const leftOut = group.filter((unit) => isInApp(unit) && isLeftOut(unit));
      const reached = await reachedBefore(store, delivering, leftOut);
      const refusalNow = (unit: Unit) => (reached.has(unit) ? undefined : choiceNow(unit));
      const inApp = group.filter((unit) => isInApp(unit) && (!isLeftOut(unit) || reached.has(unit)));
      const { inbox, write } = job.deliverySettings?.caps
        ? deferredInbox(context, delivering)
        : await prepareInbox(
            context,
            delivering,
            inApp.map((unit) => recipientOf(chunk, unit)),
          );
      const sources: MessageContext = { ...delivering, context, rows, waiting, texts, template };
      const prepared: Prepared[] = [];
      for (const unit of group) prepared.push(await prepareMessage(sources, unit, inbox, refusalNow(unit)));
      return { prepared, write };
    },
  };
}

/** The message to one address, ready to be sent as soon as its group is claimed. */
async function prepareMessage(
  sources: MessageContext,
  unit: Unit,
  inbox: Inbox,
  refusal: SendOutcome | undefined,
): Promise<Prepared> {
  const { context, chunkRef, chunk, rows, waiting } = sources;
  const { subscriber } = recipientOf(chunk, unit);
  const { channel, device: deviceId } = targetOf(chunk, unit);
  const decided = (outcome: SendOutcome, as = subscriber): Prepared => ({
    unit,
    channel,
    subscriber: as,
    isRefused: true,
    send: async () => outcome,
  });
  if (isPseudonym(subscriber)) return decided(rejected("erased"));
  if (waiting.isGone(subscriber) || rows.isGone(subscriber))
    return decided(rejected("erased"), await forgetInChunk(context.store, chunkRef, subscriber));
  if (refusal) return decided(refusal);
  if (channel === "in_app") return { unit, channel, subscriber, send: () => inbox(subscriber) };
  const device = deviceId === undefined ? undefined : rows.deviceOf(unit);
  if (deviceId !== undefined && !(device && isReachableDevice(deviceOf(device)))) return decided(rejected("no_device"));
  const message = await messageTo(sources, unit, channel, device);
  if ("status" in message) return decided(message);
  const email = channel === "email" ? rows.profileOf(subscriber)?.email : undefined;
  return { unit, channel, subscriber, device, email, send: message.send };
}

/** What is sent by a provider; else the outcome that is known before. */
async function messageTo(
  { context, job, chunk, at, rows, texts, template }: MessageContext,
  unit: Unit,
  channel: ProvidedChannel,
  device: DeviceRow | undefined,
): Promise<{ send(): Promise<SendOutcome> } | SendOutcome> {
  const { store, providers, mailLinks, clock } = context;
  const { subscriber, arm } = recipientOf(chunk, unit);
  const profile = rows.profileOf(subscriber);
  if (profile && hasConsent(channel)) {
    const emailConsent = job.deliverySettings?.emailConsent ?? "opt_out";
    const reached = reachOf(contactOf(profile, []), { channels: [channel], category: job.category, emailConsent });
    if ("reason" in reached) return rejected(reached.reason);
  }
  const words = texts.render(arm, profile, channel);
  if (!words) return rejected("template_error");
  const { unknown: _, bodies, ...said } = words;
  const filled =
    channel === "chat_app" && chatAppOf(job, arm) && profile ? filledTemplate(await template(arm), profile) : undefined;
  if (filled && "status" in filled) return filled;
  const credentials = await credentialsFor(context, job, channel);
  if (!credentials) return rejected("no_credentials");
  const recipient = { tenant: store.tenant, subscriber };
  const message = {
    ...recipient,
    job: job.id,
    target: device?.id ?? channel,
    at,
    address: addressOf(channel, profile, device),
    category: job.category,
    ...said,
    ...filled,
    ...(arm && { variant: arm }),
    ...(bodies &&
      mailFor(await mailLinks(), job, { ...recipient, arm }, bodies, {
        now: clock.now(),
        sender: job.category === "marketing" ? senderOf(await ownerOf(context, job.id)) : [],
        language: languageOf(profile && attributesOf(profile).locale),
      })),
  };
  return { send: () => providerOf(providers, channel).send(credentials, message) };
}
