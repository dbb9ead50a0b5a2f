// Callbacks of providers: open to all, so nothing is believed that the channel's own secret does not prove.
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { type CalledWorkspace, calledWorkspace } from "../../../shared/callbacks.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { ApiError, notFound, unauthorized } from "../../../shared/http/errors.ts";
import type { Credentials } from "../../../shared/providers/credentials.ts";
import { openCredentials } from "../../../shared/store/channels/credentials.ts";
import { keys } from "../../../shared/store/keys.ts";
import { readCallback } from "./callback.ts";
import { takeMessages, takeVerdicts } from "./handlers.ts";

const Challenge = v.object({
  "hub.mode": v.literal("subscribe", "must be subscribe"),
  "hub.verify_token": v.pipe(v.string(), v.maxLength(255)),
  "hub.challenge": v.pipe(v.string(), v.regex(/^[\w.-]{1,255}$/, "must be a plain word")),
});

const endpoint = endpoints({ credentials: [], uses: [calledWorkspace] });

export const inbound = group("inbound", "What providers tell us of their own accord.", [
  endpoint(
    "GET /v1/inbound/chat-app/:channelId",
    {},
    {
      summary: "Prove to the chat-app provider that this address takes its callbacks",
      description: "Answers `hub.challenge` where `hub.verify_token` is the channel's `webhook_verify_token`.",
      query: Challenge,
      example: { query: { "hub.mode": "subscribe", "hub.challenge": "1158201444" } },
      text: { type: "text/plain; charset=utf-8" },
      errors: ["NOT_FOUND", "FORBIDDEN"],
    },
    async ({ calledWorkspace, params, query }) => {
      const { webhook_verify_token: expected } = await accountOf(
        await calledWorkspace(params.channelId),
        params.channelId,
      );
      if (expected === undefined) throw notFound("channel");
      if (!isSame(query["hub.verify_token"], expected))
        throw new ApiError("FORBIDDEN", "The verify token is not the channel's.");
      return query["hub.challenge"];
    },
  ),

  endpoint(
    "POST /v1/inbound/chat-app/:channelId",
    {},
    {
      summary: "Take a callback of the chat-app provider",
      description:
        "Signed with the channel's `app_secret` in `X-Hub-Signature-256`: the review of templates, and messages of " +
        "people, of which only opt-outs are kept. A repeat changes nothing.",
      raw: "application/json",
      returns: v.object({ status: v.literal("received") }),
      errors: ["NOT_FOUND", "UNAUTHORIZED", "BAD_REQUEST"],
    },
    async ({ calledWorkspace, params, raw, headers }) => {
      const workspace = await calledWorkspace(params.channelId);
      const account = await accountOf(workspace, params.channelId);
      if (!workspace || account.app_secret === undefined) throw notFound("channel");
      if (!isSigned(raw, headers["x-hub-signature-256"], account.app_secret))
        throw unauthorized("The signature is not right.");
      const { verdicts, messages } = readCallback(raw, account);
      await takeVerdicts(workspace.store, params.channelId, verdicts);
      await takeMessages(workspace.store, messages);
      return { status: "received" };
    },
  ),
]);

type Account = Partial<Extract<Credentials, { type: "chat_app" }>>;

/** The account of a channel; nothing where there is none, so that every lack looks the same. */
async function accountOf(workspace: CalledWorkspace | undefined, channel: string): Promise<Account> {
  if (!workspace) return {};
  const { store, vault } = workspace;
  const row = await store.get(keys.credentials(store.tenant, channel));
  const account = row && (await openCredentials(vault, channel, row));
  return account?.type === "chat_app" && account.app_secret !== undefined ? account : {};
}

const SIGNATURE = /^sha256=[0-9a-f]{64}$/;

function isSigned(raw: Buffer, signature: string | undefined, secret: string): boolean {
  if (signature === undefined || !SIGNATURE.test(signature)) return false;
  const expected = createHmac("sha256", secret).update(raw).digest();
  return timingSafeEqual(Buffer.from(signature.slice("sha256=".length), "hex"), expected);
}

/** Compares digests, so that neither length nor content shows in the time it takes. */
const isSame = (given: string, expected: string): boolean =>
  timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
