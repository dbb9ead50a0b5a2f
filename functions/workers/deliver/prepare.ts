// Makes a group's messages ready to go: addresses looked up, consent asked once more, texts rendered, keys at hand.
import { MINUTE } from "../../../shared/clock.ts";
import type { Capability } from "../../../shared/deps.ts";
import { deliverInApp } from "../../../shared/providers/in-app.ts";
import type { ProvidedChannel, Provider } from "../../../shared/providers/provider.ts";
import { eventFor, type Renderer, rendererOf } from "../../../shared/providers/texts.ts";
import type { SendOutcome, Unit } from "../../../shared/rules/progress.ts";
import { isReachableDevice, type ReachChannel, reachOf } from "../../../shared/rules/reach.ts";
import type { ChatAppContent } from "../../../shared/store/channels/chat-app-content.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { keys } from "../../../shared/store/keys.ts";
import type { Item } from "../../../shared/store/model.ts";
import { recent } from "../../../shared/store/recent.ts";
import type { Chunk } from "../../../shared/store/sends/chunks.ts";
import type { JobItem } from "../../../shared/store/sends/jobs.ts";
import { isPseudonym, type Recipient } from "../../../shared/store/sends/recipients.ts";
import type { ChunkRef } from "../../../shared/store/sends/touches.ts";
import { contactOf, suppressEmail } from "../../../shared/store/subscribers/contacts.ts";
import { deviceOf, markInvalid } from "../../../shared/store/subscribers/devices.ts";
import { KNOWN_ALIVE_MS } from "../../../shared/store/subscribers/erasure.ts";
import { forgetInChunk } from "../../../shared/store/subscribers/ledger-erasure.ts";
import { attributesOf, getProfiles } from "../../../shared/store/subscribers/subscribers.ts";
import { type FilledTemplate, type TemplateRenderer, templateRenderer } from "./chat-app.ts";
import { mailFor } from "./mails.ts";
import type { WorkerContext } from "./rounds.ts";

export interface Prepared {
  unit: Unit;
  /** Whose ledger row it is: the subscriber, or the mark of one who was erased. */
  subscriber: string;
  channel: ReachChannel;
  device?: Item | undefined;
  /** Nothing is tried for it, as is known already. */
  isRefused?: true;
  /** A frequency cap is reached. */
  isCapped?: true;
  send(): Promise<SendOutcome>;
}

/** Units whose people and devices are looked up at once. */
const WINDOW = 100;

const MAX_OPENED_CHANNELS = 100;
/** How long credentials stay in clear. */
const OPEN_MS = 5 * MINUTE;

/** Credentials that an environment has open, by their version: as they were when the send was dispatched. */
export const openedCredentials: Capability<
  "opened",
  ReturnType<typeof recent<{ at: number; credentials: Promise<unknown> }>>
> = {
  as: "opened",
  env: [],
  grants: [],
  open: () => {
    const opened = recent<{ at: number; credentials: Promise<unknown> }>(MAX_OPENED_CHANNELS);
    return () => opened;
  },
};

/** What became of an inbox message. */
type Inbox = (subscriber: string) => Promise<SendOutcome>;

const NOBODY: ReadonlySet<string> = new Set();
const NOT_WRITTEN: SendOutcome = { status: "retryable", reason: "inbox_unavailable" };
const inboxOf =
  (delivered: ReadonlySet<string>): Inbox =>
  async (subscriber) =>
    delivered.has(subscriber) ? { status: "accepted" } : rejected("template_error");

const rejected = (reason: string): SendOutcome => ({ status: "rejected", reason });
const readsProfile: ReadonlySet<ReachChannel> = new Set(["email", "sms", "chat_app"]);

export function createMessageBuilder(
  context: WorkerContext,
  job: JobItem,
  chunkRef: ChunkRef,
  chunk: Chunk,
  at: number,
) {
  const { store, vault, providers, mailLinks, clock, opened } = context;
  let texts: Renderer;
  /** What the chat app sends in place of texts: undefined where it may not. */
  let template: Promise<TemplateRenderer | undefined> | undefined;
  let subscribers = new Map<string, Item | undefined>();
  let devices = new Map<string, Item | undefined>();
  const recipientOf = ({ recipient }: Unit) => chunk.recipients[recipient]!;
  const targetOf = (unit: Unit) => recipientOf(unit).targets[unit.target]!;
  const nameOf = (unit: Unit) => `${recipientOf(unit).subscriber}:${targetOf(unit).device}`;

  /** The people and devices of this group and of those after it. */
  async function look(units: readonly Unit[]): Promise<void> {
    const isLate = clock.now() - chunk.plannedAt > KNOWN_ALIVE_MS;
    const asks = (unit: Unit) => isLate || !texts.isStatic || readsProfile.has(targetOf(unit).channel);
    const ids = [...new Set(units.filter(asks).map((unit) => recipientOf(unit).subscriber))];
    const withDevice = units.filter((unit) => targetOf(unit).device !== undefined);
    const [profiles, rows] = await Promise.all([
      getProfiles(store, ids),
      store.getAll(
        withDevice.map((unit) => keys.device(store.tenant, recipientOf(unit).subscriber, targetOf(unit).device!)),
        { eventual: true },
      ),
    ]);
    subscribers = new Map(ids.map((id, i) => [id, profiles[i]]));
    devices = new Map(withDevice.map((unit, i) => [nameOf(unit), rows[i]]));
  }

  const isKnown = (unit: Unit) => {
    const { subscriber } = recipientOf(unit);
    return subscribers.has(subscriber) || devices.has(nameOf(unit)) || looked.has(subscriber);
  };
  const looked = new Set<string>();

  async function credentialsOf(channel: ReachChannel): Promise<unknown> {
    const via = job.deliverySettings?.via.find(({ type }) => type === channel);
    if (!via) return undefined;
    const version = `${store.tenant} ${via.id} ${via.credentials}`;
    const cached = opened.get(version);
    if (cached && clock.now() - cached.at < OPEN_MS) return cached.credentials;
    // Chunks that begin together wait for one look-up; what failed or was not there is looked up again.
    const credentials = store
      .get(keys.credentials(store.tenant, via.id))
      .then((row) => row && openCredentials(vault, via.id, row));
    opened.set(version, { at: clock.now(), credentials });
    const found = await credentials.catch((error) => {
      opened.delete(version);
      throw error;
    });
    if (!found) opened.delete(version);
    return found;
  }

  /** One unit: what to do when the group is claimed. */
  async function ready(unit: Unit, inbox: Inbox, refusal: SendOutcome | undefined): Promise<Prepared> {
    const { subscriber, arm } = recipientOf(unit);
    const { channel, device: deviceId } = targetOf(unit);
    const decided = (outcome: SendOutcome, who = subscriber): Prepared => ({
      ...{ unit, channel, subscriber: who, isRefused: true, send: async () => outcome },
    });
    const refuse = (reason: string, who?: string): Prepared => decided(rejected(reason), who);
    if (isPseudonym(subscriber)) return refuse("erased");
    if (subscribers.has(subscriber) && !subscribers.get(subscriber))
      return refuse("erased", await forgetInChunk(store, chunkRef, subscriber));
    const profile = subscribers.get(subscriber);
    if (refusal) return decided(refusal);
    if (channel === "in_app") return { unit, channel, subscriber, send: () => inbox(subscriber) };
    const device = deviceId === undefined ? undefined : devices.get(nameOf(unit));
    if (deviceId !== undefined && !(device && isReachableDevice(deviceOf(device)))) return refuse("no_device");
    if (profile && readsProfile.has(channel)) {
      const { category, deliverySettings } = job;
      const reach = {
        channels: [channel],
        category,
        emailConsent: deliverySettings?.emailConsent ?? "opt_out",
      } as const;
      const reached = reachOf(contactOf(profile, []), reach);
      if ("reason" in reached) return refuse(reached.reason);
    }
    const words = texts.render(arm, profile, { asHtml: channel === "email" });
    if (!words) return refuse("template_error");
    const filled = channel === "chat_app" && job.chat_app ? await filledTemplate(job.chat_app, profile!) : undefined;
    if (filled && !("template" in filled)) return decided(filled);
    const credentials = await credentialsOf(channel);
    if (!credentials) return refuse("no_credentials");
    const recipient = { tenant: store.tenant, subscriber };
    // Each provider takes the credentials and the address of its own channel: both were chosen by it just now.
    const provider = providers[channel] as Provider<unknown, unknown>;
    const message = {
      ...recipient,
      ...{ job: job.id, target: deviceId ?? channel, at },
      ...{ address: addressOf(channel, profile, device), category: job.category },
      ...words,
      ...filled,
      ...(job.data && { data: job.data }),
      ...(arm && { variant: arm }),
      ...(channel === "email" && mailFor(await mailLinks(), job, { ...recipient, arm }, words.body, clock.now())),
    };
    return { unit, channel, subscriber, device, send: () => provider.send(credentials, message) };
  }

  /** The approved template with what fills it; else what becomes of the message. */
  async function filledTemplate(content: ChatAppContent, profile: Item): Promise<FilledTemplate | SendOutcome> {
    const channel = job.deliverySettings?.via.find(({ type }) => type === "chat_app");
    template ??= templateRenderer(store, channel?.id ?? "", content, job, at);
    const render = await template;
    if (!render) return { status: "skipped", reason: "template_not_approved" };
    return render(profile) ?? rejected("template_error");
  }

  return {
    /**
     * The group's messages; in-app ones are written here, for a repeat of them changes nothing, unless they are counted
     * against caps first.
     */
    prepare: async (
      units: readonly Unit[],
      group: readonly Unit[],
      refusal: (unit: Unit) => SendOutcome | undefined,
    ): Promise<Prepared[]> => {
      texts ??= rendererOf(job, at, await eventFor(store, job));
      if (!group.every(isKnown)) {
        const first = units.indexOf(group[0]!);
        const window = units.slice(first, Math.max(first + group.length, first + WINDOW));
        looked.clear();
        for (const unit of window) looked.add(recipientOf(unit).subscriber);
        await look(window);
      }
      const recipients = group.filter((unit) => targetOf(unit).channel === "in_app").map(recipientOf);
      const inbox = job.deliverySettings?.caps
        ? inboxLater()
        : inboxOf(recipients.length > 0 ? await intoInbox(recipients) : NOBODY);
      const prepared: Prepared[] = [];
      for (const unit of group) prepared.push(await ready(unit, inbox, refusal(unit)));
      return prepared;
    },

    /** Addresses that are dead are not used again. */
    markDeadAddresses: async (prepared: readonly Prepared[], outcomes: readonly SendOutcome[]): Promise<void> => {
      for (const [i, { unit, subscriber, device }] of prepared.entries()) {
        const outcome = outcomes[i]!;
        if (outcome.status !== "rejected" || !outcome.addressDead) continue;
        if (device) await markInvalid(store, device);
        else if (targetOf(unit).channel === "email") await suppressEmail(store, subscriber);
      }
    },
  };

  /** Those of a group who ask at the same moment are written together. */
  function inboxLater(): Inbox {
    const asked: string[] = [];
    let written: Promise<Inbox> | undefined;
    return async (subscriber) => {
      asked.push(subscriber);
      written ??= Promise.resolve().then(async () => {
        const recipients = chunk.recipients.filter((one) => asked.includes(one.subscriber));
        // A claimed group must end with an outcome for everybody.
        return intoInbox(recipients).then(inboxOf, () => async () => NOT_WRITTEN);
      });
      return (await written)(subscriber);
    };
  }

  async function intoInbox(recipients: readonly Recipient[]): Promise<Set<string>> {
    const { plannedAt } = chunk;
    const { delivered } = await deliverInApp(store, job, chunkRef, { at, repeats: true }, { recipients, plannedAt });
    return delivered;
  }
}

function addressOf(channel: ReachChannel, profile: Item | undefined, device: Item | undefined): unknown {
  const environment = device?.environment as "sandbox" | "production" | undefined;
  const addresses: Record<ProvidedChannel, () => unknown> = {
    ios: () => ({ token: String(device?.token), environment }),
    android: () => ({ token: String(device?.token) }),
    web_push: () => JSON.parse(String(device?.subscription)),
    email: () => ({ email: String(profile?.email) }),
    sms: () => ({ phone: String(profile && attributesOf(profile).phone) }),
    chat_app: () => ({ phone: String(profile && attributesOf(profile).phone) }),
  };
  return addresses[channel as ProvidedChannel]();
}
