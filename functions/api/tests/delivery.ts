// Delivers a test send: rendered and sent by the same code as sends, but at once and outside the ledger
// (docs/decisions/0040).
import * as v from "valibot";
import type { Credentials } from "../../../shared/contract/credentials.ts";
import { said } from "../../../shared/contract/schemas.ts";
import type { Deps as Shared } from "../../../shared/kernel/deps.ts";
import { errorFields } from "../../../shared/kernel/log.ts";
import { addressOf, providerOf } from "../../../shared/providers/addresses.ts";
import { filledTemplate, templateRenderer } from "../../../shared/providers/chat-app-texts.ts";
import { type Providers, rejected } from "../../../shared/providers/provider.ts";
import { type ChannelType, channelTypes } from "../../../shared/rules/channel-types.ts";
import { FOOTER_LINK, footerWordsFor } from "../../../shared/rules/footer-words.ts";
import type { MailBodies } from "../../../shared/rules/mail-body.ts";
import { mailParts, senderOf } from "../../../shared/rules/mail-parts.ts";
import type { SendOutcome } from "../../../shared/rules/progress.ts";
import { reachOf, type Target } from "../../../shared/rules/reach.ts";
import { UNCONFIRMED } from "../../../shared/rules/reasons.ts";
import { taggedBodies, utmQueryOf } from "../../../shared/rules/utm.ts";
import { chatAppOf } from "../../../shared/store/channels/chat-app-content.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../../shared/store/channels/items.ts";
import type { Store } from "../../../shared/store/context.ts";
import { toJson } from "../../../shared/store/json-text.ts";
import type { MailLinks } from "../../../shared/store/mail-links.ts";
import type { TestDraw } from "../../../shared/store/sends/audience/preview-draws.ts";
import { type Arm, NOBODY, scopeOf } from "../../../shared/store/sends/content/arms.ts";
import { type RenderedTexts, rendererOf } from "../../../shared/store/sends/content/texts.ts";
import { messageWrite } from "../../../shared/store/sends/inbox/inbox-writes.ts";
import type { DeliverySettings, JobSpec } from "../../../shared/store/sends/jobs/job-spec.ts";
import { mailAddressId } from "../../../shared/store/subscribers/address-items.ts";
import { addressesOf } from "../../../shared/store/subscribers/addresses.ts";
import { contactOf } from "../../../shared/store/subscribers/contacts.ts";
import { deviceRows } from "../../../shared/store/subscribers/devices.ts";
import { attributesOf, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import type { Opener } from "../../../shared/store/vault.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

/** Addresses of one test send. All are sent to at once, within the time of a request. */
const MAX_ADDRESSES = 100;

const states = ["sent", "failed", "skipped", "unknown"] as const;
const stateOf = {
  accepted: "sent",
  rejected: "failed",
  retryable: "failed",
  unknown: "unknown",
  skipped: "skipped",
} as const;

export const TestDelivery = v.object({
  subscriber_id: said("The test subscriber; `null` for your own address", v.nullable(v.string())),
  channel: v.picklist(channelTypes),
  state: said("`unknown`: the provider may have it, and did not confirm it in time", v.picklist(states)),
  reason: said("Why it was not sent; `null` if it was", v.nullable(v.string())),
});
export type TestDelivery = v.InferOutput<typeof TestDelivery>;

export interface TestSend {
  id: string;
  /** The job with the texts of its template, marked as a test. */
  said: JobSpec;
  via: DeliverySettings["via"];
  workspace: WorkspaceRecord | undefined;
  /** The arm of recipients who are not in the draw. */
  arm: Arm;
  draw: TestDraw | undefined;
  /** The profile whose attributes fill the texts; undefined: each recipient's own. */
  shownAs: LivingProfile | undefined;
  subscribers: readonly { id: string; profile: LivingProfile | undefined }[];
  /** The caller's own address. */
  email: string | undefined;
}

interface Deps {
  log: Shared["log"];
  store: Store;
  vault: Opener;
  providers: Providers;
  mailLinks: () => Promise<MailLinks>;
}

type PlannedDelivery = Pick<TestDelivery, "subscriber_id" | "channel"> & { send(): Promise<SendOutcome> };

/** Sends to every address of the recipients at once, and reports each result. A failure is not retried. */
export async function deliverTest(deps: Deps, test: TestSend): Promise<TestDelivery[]> {
  const { draw, arm, subscribers, email } = test;
  const armFor = (id: string): Arm => (draw ? draw.armOf(id) : arm);
  const arms = new Set([...subscribers.map(({ id }) => armFor(id)), arm]);
  const senders = new Map(
    await Promise.all([...arms].map(async (name) => [name, await senderFor(deps, { ...test, arm: name })] as const)),
  );
  const sendBy = (name: Arm): Sender => senders.get(name)!;
  const bySubscriber = await Promise.all(
    subscribers.map(({ id, profile }) => sendingsTo(deps.store, test, sendBy(armFor(id)), { id, profile })),
  );
  const all = [...bySubscriber.flat(), ...(email === undefined ? [] : [sendingToSelf(test, sendBy(arm), email)])];
  return Promise.all(
    all.map(async ({ subscriber_id, channel, send }, n) => {
      const outcome = n < MAX_ADDRESSES ? await send() : rejected("too_many_addresses");
      const reason = outcome.kind === "accepted" ? null : outcome.reason;
      return { subscriber_id, channel, state: stateOf[outcome.kind], reason };
    }),
  );
}

/**
 * The sendings to a subscriber. Consent, topics and addresses decide as they do for a send: every channel that does not
 * reach the subscriber says why.
 */
async function sendingsTo(
  store: Store,
  { via, said, workspace, draw }: TestSend,
  send: Sender,
  { id, profile }: TestSend["subscribers"][number],
): Promise<PlannedDelivery[]> {
  const [devices, [addresses]] = await Promise.all([
    profile ? deviceRows(store, id) : [],
    addressesOf(store, [profile]),
  ]);
  const emailConsent = workspace?.email_consent_mode ?? "opt_out";
  return via.flatMap(({ type }): PlannedDelivery[] => {
    const decided = (reason: string): PlannedDelivery[] => [
      { subscriber_id: id, channel: type, send: async () => ({ kind: "skipped", reason }) as SendOutcome },
    ];
    if (!profile) return decided("erased");
    if (draw?.isHeldOut(id)) return decided("held_out");
    const rules = { channels: [type], category: said.category, emailConsent, topic: said.topic };
    const reached = reachOf(contactOf(profile, devices, addresses), rules);
    if (reached.kind === "unreachable") return decided(reached.reason);
    return reached.targets.map((target) => {
      const device = devices.find((candidate) => candidate.id === target.device);
      const address = type === "in_app" ? undefined : addressOf(type, profile, device);
      return { subscriber_id: id, channel: type, send: () => send(target, { subscriber: id, profile, address }) };
    });
  });
}

/** The caller is no subscriber, so this goes by email only. The texts are those of the first test subscriber. */
const sendingToSelf = ({ via, subscribers }: TestSend, send: Sender, email: string): PlannedDelivery => ({
  subscriber_id: null,
  channel: "email",
  send: () =>
    via.some(({ type }) => type === "email")
      ? send(
          { channel: "email" },
          { subscriber: undefined, profile: subscribers.find(({ profile }) => profile)?.profile, address: { email } },
        )
      : Promise.resolve({ kind: "rejected", reason: "no_channel" }),
});

interface Addressee {
  subscriber: string | undefined;
  profile: LivingProfile | undefined;
  address: unknown;
}

type Sender = (target: Target, to: Addressee) => Promise<SendOutcome>;

/** Makes a function that sends one message. Texts, templates and credentials are prepared once. */
async function senderFor({ log, store, vault, providers, mailLinks }: Deps, test: TestSend): Promise<Sender> {
  const { id, said, via, arm, shownAs } = test;
  const now = store.clock.now();
  const renderer = rendererOf({ ...said, by_channel: said.by_channel }, now, undefined);
  const job = { ...said, deliverySettings: { via, emailConsent: "opt_out" as const } };
  const hasTemplate = via.some(({ type }) => type === "chat_app") && chatAppOf(said, arm) !== undefined;
  const template = hasTemplate ? await templateRenderer(store, job, { arm, now, event: undefined }) : undefined;
  const credentials = new Map(
    await Promise.all(
      via.map(async ({ id: channel, type }) => [type, await opened(store, vault, channel, type)] as const),
    ),
  );
  const urlOf = await mailLinks();

  return async ({ channel, device }, { subscriber, profile, address }) => {
    const shown = shownAs ?? profile;
    const scope = shown ? scopeOf(shown, said, undefined) : { ...NOBODY, data: said.data ?? {} };
    const rendered = renderer.renderScope(arm, scope, channel);
    if (!rendered) return rejected("template_error");
    if (channel === "in_app")
      return subscriber === undefined
        ? rejected("no_address")
        : writeToInbox({ log, store }, test, subscriber, rendered);
    const opening = credentials.get(channel);
    if (!opening) return rejected("no_credentials");
    const filled = channel === "chat_app" && hasTemplate && shown ? filledTemplate(template, shown) : undefined;
    if (filled?.kind === "unfilled") return filled.outcome;
    const { unknown: _, bodies, inApp: __, ...words } = rendered;
    return providerOf(providers, channel).send(opening, {
      tenant: store.tenant,
      job: id,
      // The id of the test belongs to no subscriber, so reports about the caller's own mail are ignored.
      subscriber: subscriber ?? id,
      target: device ?? channel,
      at: now,
      address,
      category: said.category,
      ...words,
      ...(filled && { template: filled.template }),
      ...(arm && { variant: arm }),
      ...(bodies && mailOf(test, urlOf, bodies, { tenant: store.tenant, subscriber, profile, shown })),
    });
  };
}

async function opened(
  store: Store,
  vault: Opener,
  channel: string,
  type: ChannelType,
): Promise<Credentials | undefined> {
  const row = type === "in_app" ? undefined : await store.get(CredentialsItem, { channel });
  return row && openCredentials(vault, channel, row);
}

interface MailOfTest {
  tenant: string;
  subscriber: string | undefined;
  profile: LivingProfile | undefined;
  /** The profile whose attributes fill the texts. */
  shown: LivingProfile | undefined;
}

/** A mail without tracking. The links of its footer belong to the subscriber; the caller's lead nowhere. */
function mailOf(
  { said: { category, name, topic }, workspace }: TestSend,
  urlOf: MailLinks,
  bodies: MailBodies,
  { tenant, subscriber, profile, shown }: MailOfTest,
) {
  const address = mailAddressId(profile);
  const token =
    subscriber &&
    address &&
    ({ kind: "unsubscribe", tenant, subscriber, address, channel: "email", scope: "marketing" } as const);
  const isMarketing = category === "marketing";
  const unsubscribeUrl = token && isMarketing ? urlOf(token) : undefined;
  const nowhere = subscriber === undefined ? FOOTER_LINK : undefined;
  const parts = mailParts(taggedBodies(bodies, utmQueryOf(workspace?.utm_defaults, { category, name })), {
    unsubscribe: unsubscribeUrl ?? (isMarketing ? nowhere : undefined),
    preferences: topic && (token ? urlOf(token, "p") : nowhere),
    sender: isMarketing ? senderOf(workspace) : [],
    words: footerWordsFor(shown && attributesOf(shown).locale),
  });
  return { parts, ...(unsubscribeUrl !== undefined && { unsubscribeUrl }) };
}

/** A failure here is the outcome of the inbox alone, because other addresses have the message by then. */
async function writeToInbox(
  { log, store }: Pick<Deps, "log" | "store">,
  { id, arm }: TestSend,
  subscriber: string,
  { title, body, inApp, data }: RenderedTexts,
): Promise<SendOutcome> {
  const content = { title, body, ...inApp, ...(arm && { variant_id: arm }) };
  const text = { content, ...(data && { data: toJson(data) }) };
  const writing = store.transact([messageWrite(id, store.clock.now(), { subscriber, ...text })]);
  return writing.then(
    (): SendOutcome => ({ kind: "accepted" }),
    (error: unknown) => {
      log({ level: "warn", message: "a test may be missing in an inbox", subscriber, ...errorFields(error) });
      return { kind: "unknown", reason: UNCONFIRMED };
    },
  );
}
