// The links of mails: unsubscribe, preferences, open and click. They need no credential: the token of a link is the proof.
import * as v from "valibot";
import type { MailToken } from "../../../shared/contract/mail-tokens.ts";
import { said } from "../../../shared/contract/schemas.ts";
import { TopicKey } from "../../../shared/contract/topic-key.ts";
import { endpoints, group, redirect } from "../../../shared/http/endpoint.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { requireFound } from "../../../shared/kernel/errors.ts";
import { senderOf } from "../../../shared/rules/mail-parts.ts";
import { languageOf } from "../../../shared/rules/translations.ts";
import { type PlatformReader, platformRead, type StoreReader } from "../../../shared/store/context.ts";
import { type MailLinkOpener, openedMailLink } from "../../../shared/store/mail-links.ts";
import { lateWrites } from "../../../shared/store/sends/jobs/late.ts";
import { mailOfSecond, optedOutWrite, timeOfTouch } from "../../../shared/store/sends/ledger/touches.ts";
import { unsubscribe } from "../../../shared/store/subscribers/addresses.ts";
import { confirm, confirmationOf } from "../../../shared/store/subscribers/confirmations.ts";
import { attributesOf, getProfile, type LivingProfile } from "../../../shared/store/subscribers/subscribers.ts";
import { askingOf, choose, preferencesOf } from "../../../shared/store/topics/preferences.ts";
import { hasTopics, listTopics, MAX_TOPICS } from "../../../shared/store/topics/topics.ts";
import { getWorkspace } from "../../../shared/store/workspaces/workspaces.ts";
import {
  confirmationPage,
  confirmedPage,
  confirmGonePage,
  confirmPage,
  gonePage,
  pageHeaders,
  preferencesPage,
  unsubscribePage,
} from "./page.ts";
import { trackClick, trackOpen } from "./tracking.ts";

const endpoint = endpoints({ credentials: [], uses: [openedMailLink] });
const asPage = { type: "text/html; charset=utf-8", headers: pageHeaders };
const asImage = { type: "image/gif" };
const asNothing = { type: "text/plain; charset=utf-8", headers: { "referrer-policy": "no-referrer" } };

/** A transparent image of one pixel. */
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** A form of 100 topics with keys of 64 characters, each named twice, is smaller. */
const MAX_FORM_BYTES = 32_768;

const TopicKeys = v.pipe(v.array(TopicKey), v.maxLength(MAX_TOPICS));

const PreferencesForm = v.object({
  shown: said(
    "The keys of the topics that the page showed, a field for each. Default: none, and nothing changes",
    v.optional(TopicKeys),
  ),
  in: said(
    "The keys of those that the subscriber wants, a field for each. Default: none of them",
    v.optional(TopicKeys),
  ),
});

export const mail = group("mail", "The links of emails.", [
  endpoint(
    "GET /u/:token",
    { uses: [platformRead] },
    {
      summary: "Show the page to unsubscribe",
      description: "Changes nothing, because scanners follow links. The button on the page posts to the same address.",
      text: asPage,
    },
    async (call) => {
      const { store, token, profile, language, sender } = await readerOf("unsubscribe", call, { eventual: true });
      if (!profile) return gonePage(language, sender);
      return unsubscribePage(language, { token, sender, hasTopics: await hasTopics(store) });
    },
  ),

  endpoint(
    "POST /u/:token",
    { uses: [platformRead] },
    {
      summary: "Unsubscribe from marketing email",
      description:
        "The target of `List-Unsubscribe` in each marketing mail: one click is enough (RFC 8058). Any body is accepted, " +
        "and a repeat changes nothing. The link never expires. Of a subscriber that was erased, every link answers 200 and says that no more mail is sent.",
      text: asPage,
    },
    async (call) => {
      const reader = await readerOf("unsubscribe", call, { eventual: true });
      const { store, link, token, language, sender } = reader;
      if (reader.isPurged) return gonePage(language, sender);

      // A read that is a moment old may not end the request here: it is read again. Otherwise the conditions of the
      // write decide.
      const profile = isOpen(reader.profile) ? reader.profile : await getProfile(store, link.subscriber);
      const isNew = isOpen(profile);
      const counted = isNew ? await optOutWrites(store, link) : [];
      await unsubscribe(store, link, profile, counted);
      if (!profile) return gonePage(language, sender);
      return confirmationPage(language, { token, sender, hasTopics: await hasTopics(store) });
    },
  ),

  endpoint(
    "GET /p/:token",
    { uses: [platformRead] },
    {
      summary: "Show the page with the topics that a subscriber wants to hear about",
      description:
        "In the language of the subscriber's `locale`, of `en`, `de`, `fr`, `es`, `it`, `pt`, `nl` and `pl`. The link is " +
        "in each mail of a send with a topic, and on the page to unsubscribe. Changes nothing.",
      text: asPage,
    },
    async (call) => {
      const { store, token, profile, language, sender } = await readerOf("unsubscribe", call);
      if (!profile) return gonePage(language, sender);
      const topics = preferencesOf(profile, await listTopics(store));
      return preferencesPage(language, { token, sender, topics, isSaved: false });
    },
  ),

  endpoint(
    "POST /p/:token",
    { uses: [platformRead] },
    {
      summary: "Save the topics that a subscriber wants to hear about",
      description:
        "The form of the page: `shown` names the topics that it showed, and `in` those that were ticked. Other topics stay " +
        "as they are. A repeat changes nothing.",
      raw: "application/x-www-form-urlencoded",
      maxBytes: { public: MAX_FORM_BYTES },
      rawFields: PreferencesForm,
      example: { body: { shown: ["news", "offers"], in: ["news"] } },
      text: asPage,
    },
    async (call) => {
      const { store, link, token, profile, language, sender } = await readerOf("unsubscribe", call);
      if (!profile) return gonePage(language, sender);
      const form = new URLSearchParams(call.raw.toString("utf8"));
      const [shown, ticked] = [new Set(form.getAll("shown")), new Set(form.getAll("in"))];
      const topics = await listTopics(store);
      const keys = topics.map(({ key }) => key).filter((key) => shown.has(key));
      const choices = Object.fromEntries(
        keys.map((key) => [key, ticked.has(key) ? ("opted_in" as const) : ("opted_out" as const)]),
      );
      const choosing = { source: "preferences_page", asking: askingOf(topics), owned: link.address };
      const chosen = await choose(store, profile, choices, choosing);
      if (!chosen) return gonePage(language, sender);
      return preferencesPage(language, { token, sender, topics: preferencesOf(chosen, topics), isSaved: true });
    },
  ),

  endpoint(
    "GET /i/:token",
    { uses: [platformRead] },
    {
      summary: "Show the page to confirm an opt-in",
      description:
        "The link of the mail that asks for it, for 30 days. Changes nothing, because scanners follow links. The button " +
        "on the page posts to the same address.",
      text: asPage,
    },
    async (call) => {
      const { store, link, language, sender } = await readerOf("confirm", call);
      const { kind } = await confirmationOf(store, link);
      return confirmationPages[kind](language, sender);
    },
  ),

  endpoint(
    "POST /i/:token",
    { uses: [platformRead] },
    {
      summary: "Confirm an opt-in",
      description:
        "The opt-in counts from now on, with the address, the time and the text of the page as its evidence. It also ends " +
        "a suppression of the address by a bounce or a complaint. Any body is accepted, and a repeat changes nothing.",
      text: asPage,
    },
    async (call) => {
      const { store, link, language, sender } = await readerOf("confirm", call);
      const found = await confirmationOf(store, link);
      if (found.kind !== "open") return confirmationPages[found.kind](language, sender);
      const text = `${language.words.confirm}. ${language.words.confirmPage}`;
      const isConfirmed = await confirm(store, link, { email: found.email, ip: call.sourceIp, text });
      // A reader who presses the button twice has confirmed with the first press.
      const isDone = isConfirmed || (await confirmationOf(store, link)).kind === "confirmed";
      return confirmationPages[isDone ? "confirmed" : "gone"](language, sender);
    },
  ),

  endpoint(
    "GET /o/:token",
    {},
    {
      summary: "Count that a mail was opened",
      description:
        "The image of one pixel in each HTML body. Always counts as `email_opened`, with a verdict if a machine " +
        "requested it (F19), at most once a second.",
      text: asImage,
    },
    async (call) => {
      await trackOpen(call, "GET");
      return PIXEL;
    },
  ),

  endpoint("HEAD /o/:token", {}, { summary: "Request the image without its body", text: asImage }, async (call) => {
    await trackOpen(call, "HEAD");
    return "";
  }),

  endpoint(
    "GET /c/:token",
    {},
    {
      summary: "Count a click, and redirect to the target of the link",
      description:
        "The signed token holds the target as it was sent, whatever has changed since; nothing of the request changes it. " +
        "Counts as `email_clicked`, with a verdict if a machine requested it, while the subscriber exists.",
      status: 302,
      text: asNothing,
    },
    async (call) => redirect(await trackClick(call, "GET")),
  ),

  endpoint("HEAD /c/:token", {}, { summary: "Get the target of a link", status: 302, text: asNothing }, async (call) =>
    redirect(await trackClick(call, "HEAD")),
  ),
]);

type Headers = Readonly<Record<string, string | undefined>>;

interface PageCall {
  openLink: MailLinkOpener;
  platform: Pick<PlatformReader, "get">;
  params: { token: string };
  headers: Headers;
}

const confirmationPages = { open: confirmPage, confirmed: confirmedPage, gone: confirmGonePage } as const;

const isOpen = (profile: LivingProfile | undefined) => profile !== undefined && profile["c:email"] !== "opted_out";

/** The reader of a page; without a profile if the subscriber was erased (AMB-143). @throws 404 for an invalid token */
async function readerOf<K extends "unsubscribe" | "confirm">(
  kind: K,
  { openLink, platform, params: { token }, headers }: PageCall,
  options?: { eventual: boolean },
) {
  const opened = requireFound(await openLink(kind, token), "link");
  const { store, link } = opened;
  const [profile, workspace] = await Promise.all([
    getProfile(store, (link as MailToken).subscriber, options),
    getWorkspace(platform, store.tenant),
  ]);
  const language = languageOf(profile && attributesOf(profile).locale, headers["accept-language"]);
  return { store, link, token, profile, language, sender: senderOf(workspace), isPurged: workspace === undefined };
}

/**
 * The writes that count an opt-out for the send whose link was used (AMB-139). There are none for the link of a test
 * send, or for a recipient who opted out by the same mail before and has opted in again since.
 */
async function optOutWrites(store: StoreReader, { subscriber, of }: Extract<MailToken, { kind: "unsubscribe" }>) {
  if (!of) return [];
  const sentAt = of.sentAt * SECOND;
  const row = await mailOfSecond(store, subscriber, { job: of.job, at: sentAt });
  if (row?.opted_out) return [];
  const at = row ? timeOfTouch(row) : sentAt;
  const counted = await lateWrites(store, of.job, subscriber, { kind: "unsubscribed", at, mailbox: row?.mailbox });
  return row ? [optedOutWrite(subscriber, row), ...counted] : counted;
}
