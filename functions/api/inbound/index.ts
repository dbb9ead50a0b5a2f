// Callbacks of providers. The endpoints are public: a callback counts only if it is signed with the channel's secret.
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import type { CredentialsFor } from "../../../shared/contract/credentials.ts";
import { type CalledWorkspace, calledWorkspace } from "../../../shared/http/callbacks.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { timestamp } from "../../../shared/kernel/clock.ts";
import { ApiError, notFound, requireFound, unauthorized } from "../../../shared/kernel/errors.ts";
import { isOptOut, verdictOf } from "../../../shared/rules/chat-app-template-states.ts";
import { chunksOf } from "../../../shared/rules/chunks.ts";
import {
  chatAppTemplateId,
  findChatAppTemplate,
  noteVerdict,
} from "../../../shared/store/channels/chat-app-templates.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../../shared/store/channels/items.ts";
import type { Store } from "../../../shared/store/context.ts";
import { transacted } from "../../../shared/store/refusals.ts";
import { addressId } from "../../../shared/store/subscribers/address-items.ts";
import { optOutWrite } from "../../../shared/store/subscribers/addresses.ts";
import { recordOptOut } from "../../../shared/store/subscribers/consents.ts";
import { findByPhone } from "../../../shared/store/subscribers/phones.ts";
import { type ReceivedMessage, type ReportedVerdict, readCallback } from "./callback.ts";

const Challenge = v.object({
  "hub.mode": v.literal("subscribe", "must be subscribe"),
  "hub.verify_token": v.pipe(v.string(), v.maxLength(255)),
  "hub.challenge": v.pipe(v.string(), v.regex(/^[\w.-]{1,255}$/, "must be a plain word")),
});

const endpoint = endpoints({ credentials: [], uses: [calledWorkspace] });

export const inbound = group("inbound", "Callbacks of providers.", [
  endpoint(
    "GET /v1/inbound/chat-app/:channelId",
    {},
    {
      summary: "Confirm this address as the callback URL of a chat-app channel",
      description: "Answers `hub.challenge` where `hub.verify_token` is the channel's `webhook_verify_token`.",
      query: Challenge,
      example: {
        query: { "hub.mode": "subscribe", "hub.verify_token": "a-text-of-your-choice", "hub.challenge": "1158201444" },
      },
      text: { type: "text/plain; charset=utf-8" },
      errors: ["FORBIDDEN"],
    },
    async ({ calledWorkspace, params, query }) => {
      const account = await accountOf(await calledWorkspace(params.channelId), params.channelId);
      const expected = requireFound(account?.webhook_verify_token, "channel");
      if (!isSame(query["hub.verify_token"], expected))
        throw new ApiError("FORBIDDEN", "The verify token is not the channel's.");
      return query["hub.challenge"];
    },
  ),

  endpoint(
    "POST /v1/inbound/chat-app/:channelId",
    {},
    {
      summary: "Receive a callback of the chat-app provider",
      description:
        "Signed with the channel's `app_secret` in `X-Hub-Signature-256`: reviews of templates, and incoming messages, " +
        "of which only opt-outs are stored. A repeat changes nothing.",
      raw: "application/json",
      example: {
        body: {
          object: "whatsapp_business_account",
          entry: [{ id: "102290129340398", changes: [{ field: "messages", value: { messages: [] } }] }],
        },
      },
      returns: v.object({ status: v.literal("received") }),
      errors: ["UNAUTHORIZED", "BAD_REQUEST"],
    },
    async ({ calledWorkspace, params, raw, headers }) => {
      const workspace = await calledWorkspace(params.channelId);
      const account = await accountOf(workspace, params.channelId);
      if (!workspace || !account) throw notFound("channel");
      if (!isSigned(raw, headers["x-hub-signature-256"], account.app_secret))
        throw unauthorized("The signature is not right.");
      const { verdicts, messages } = readCallback(raw, account);
      await storeVerdicts(workspace.store, params.channelId, verdicts);
      await storeOptOuts(workspace.store, messages);
      return { status: "received" };
    },
  ),
]);

type Account = CredentialsFor<"chat_app"> & { app_secret: string };

/** The account of a channel; undefined if anything is missing, so that all refusals are the same. */
async function accountOf(workspace: CalledWorkspace | undefined, channel: string): Promise<Account | undefined> {
  if (!workspace) return undefined;
  const { store, vault } = workspace;
  const row = await store.get(CredentialsItem, { channel });
  const account = row && (await openCredentials(vault, channel, row));
  if (account?.type !== "chat_app" || account.app_secret === undefined) return undefined;
  return { ...account, app_secret: account.app_secret };
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

function isSigned(raw: Buffer, signature: string | undefined, secret: string): boolean {
  if (signature === undefined || !SIGNATURE.test(signature)) return false;
  const expected = createHmac("sha256", secret).update(raw).digest();
  return timingSafeEqual(Buffer.from(signature.slice("sha256=".length), "hex"), expected);
}

/** Compares digests, so that the time depends on neither length nor content. */
const isSame = (presented: string, expected: string): boolean =>
  timingSafeEqual(hash("sha256", presented, "buffer"), hash("sha256", expected, "buffer"));

/** Stores verdicts in the order of the callback, because one may replace the one before it (D-WAT). */
async function storeVerdicts(store: Store, channel: string, verdicts: readonly ReportedVerdict[]): Promise<void> {
  for (const { provider_template_id, name, language, status, reason, at } of verdicts) {
    const verdict = verdictOf(status, reason);
    const template = await findChatAppTemplate(store, channel, chatAppTemplateId(channel, name, language));
    if (!template || !verdict) continue;
    const { provider_template_id: providerId } = template;
    // Compared as numbers: some of these ids have more digits than a JSON number represents exactly.
    if (providerId === undefined || Number(providerId) !== Number(provider_template_id)) continue;
    await noteVerdict(store, template, { providerId, verdict, at });
  }
}

/** Phone numbers handled at once: a callback has up to 1,000 messages, and the time of a request is limited. */
const NUMBERS_AT_ONCE = 25;

/** Opts out the numbers of all messages that ask for it. Messages of one number are handled in order. */
async function storeOptOuts(store: Store, messages: readonly ReceivedMessage[]): Promise<void> {
  const byPhone = Map.groupBy(
    messages.filter(({ text }) => isOptOut(text)),
    ({ phone }) => phone,
  );
  for (const part of chunksOf([...byPhone.values()], NUMBERS_AT_ONCE))
    await Promise.all(
      part.map(async (ofPhone) => {
        for (const message of ofPhone) await storeOptOut(store, message);
      }),
    );
}

/** Opts out every subscriber with the phone number (AMB-90), and the number itself, for its later owners (AMB-130). */
async function storeOptOut(store: Store, { id, phone, text, at }: ReceivedMessage): Promise<void> {
  const address = { id: addressId("phone", phone), text: phone };
  await transacted(store, [optOutWrite("phone", address, "chat_app", timestamp(Math.min(at, store.clock.now())))]);
  for (const subscriber of await findByPhone(store, phone))
    await recordOptOut(store, subscriber, { channel: "chat_app", message: id, text, at });
}
