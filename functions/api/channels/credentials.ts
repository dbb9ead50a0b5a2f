// Credentials of channels: each endpoint takes one type and confirms it. They are never returned (CRD-1 to CRD-8).
import * as v from "valibot";
import { ChatApp, Email, Sms } from "../../../shared/contract/credentials.ts";
import { callbacks } from "../../../shared/http/callbacks.ts";
import { endpoints } from "../../../shared/http/endpoint.ts";
import { multipart } from "../../../shared/http/upload.ts";
import { invalid, unauthorized } from "../../../shared/kernel/errors.ts";
import { smtpRefusal } from "../../../shared/providers/smtp.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialConfirmation } from "../../../shared/store/channels/items.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { vaultSealing } from "../../../shared/store/vault.ts";
import { androidCredentials, IosFields, iosCredentials, KEY_FILE, MAX_KEY_FILE_BYTES, makeVapid } from "./key-files.ts";

const { type: _sms, ...smsFields } = Sms.entries;
const { type: _chatApp, ...chatAppFields } = ChatApp.entries;
const { type: _email, ...emailFields } = Email.pipe[0].entries;
const NewEmail = v.pipe(
  v.strictObject(emailFields),
  v.transform((fields) => ({ type: "email" as const, ...fields })),
  Email,
);

const endpoint = endpoints({
  credentials: ["dashboard"],
  permission: "credentials:manage",
  uses: [storeWrite, timers, vaultSealing],
});

const REPLACES = "Replaces what was stored before, and queues the verification.";
const confirmed = { returns: CredentialConfirmation, errors: ["NOT_FOUND"] } as const;

export const credentialEndpoints = [
  endpoint(
    "POST /api/v1/channels/:id/credentials/ios-push",
    {},
    {
      summary: "Store Apple's token-signing key of an iOS channel",
      description: REPLACES,
      form: multipart(IosFields, { fileBytes: MAX_KEY_FILE_BYTES, part: KEY_FILE }),
      example: { body: { key_id: "ABC123DEFG", team_id: "DEF123GHIJ", bundle_id: "com.example.app" } },
      ...confirmed,
    },
    ({ store, timers, vault, params, form }) =>
      storeCredentials(store, timers, vault, params.id, iosCredentials(form.fields, form.file)),
  ),

  endpoint(
    "POST /api/v1/channels/:id/credentials/android-push",
    {},
    {
      summary: "Store the service-account key of an Android channel",
      description: REPLACES,
      form: multipart(v.strictObject({}), { fileBytes: MAX_KEY_FILE_BYTES, part: KEY_FILE }),
      ...confirmed,
    },
    ({ store, timers, vault, params, form }) =>
      storeCredentials(store, timers, vault, params.id, androidCredentials(form.file)),
  ),

  endpoint(
    "POST /api/v1/channels/:id/credentials/vapid",
    {},
    {
      summary: "Make the key pair of a web push channel",
      description: `${REPLACES} Browsers that subscribed with an earlier public key must subscribe again.`,
      returns: CredentialConfirmation,
      errors: ["NOT_FOUND", "VALIDATION_ERROR"],
    },
    ({ store, timers, vault, ids, caller, params }) => {
      if (caller.kind !== "dashboard") throw unauthorized();
      return storeCredentials(store, timers, vault, params.id, makeVapid(ids, caller.email));
    },
  ),

  endpoint(
    "POST /api/v1/channels/:id/credentials/sms",
    {},
    {
      summary: "Store the account of an SMS provider",
      description: REPLACES,
      body: v.strictObject(smsFields),
      example: { body: { api_key: "0a1b2c3d", api_secret: "S3cr3t4711abcdef", sender_id: "Shop" } },
      ...confirmed,
    },
    ({ store, timers, vault, params, body }) =>
      storeCredentials(store, timers, vault, params.id, { type: "sms", ...body }),
  ),

  endpoint(
    "POST /api/v1/channels/:id/credentials/chat_app",
    { uses: [callbacks] },
    {
      summary: "Store the account of a chat-app channel",
      description:
        `${REPLACES} With \`app_secret\` (and \`webhook_verify_token\` to set it up) the provider may call back at ` +
        "`/v1/inbound/chat-app/:channelId` about opt-outs and the review of templates.",
      body: v.strictObject(chatAppFields),
      example: {
        body: {
          access_token: "EAAGm0PX4ZCps",
          phone_number_id: "106540352242922",
          waba_id: "102290129340398",
          app_secret: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
          webhook_verify_token: "a-text-of-your-choice",
        },
      },
      ...confirmed,
    },
    ({ store, timers, vault, callbacks, params, body }) => {
      const prepare = async () => {
        if (body.app_secret !== undefined) await callbacks.remember(params.id);
      };
      return storeCredentials(store, timers, vault, params.id, { type: "chat_app", ...body }, prepare);
    },
  ),

  endpoint(
    "POST /api/v1/channels/:id/credentials/email",
    { uses: [egress] },
    {
      summary: "Store the sender of an e-mail channel",
      description: `${REPLACES} Through Amazon SES, or an SMTP server on a public host and a port of mail.`,
      body: NewEmail,
      example: { body: { provider: "ses", from_email: "news@example.com", from_name: "Shop" } },
      ...confirmed,
    },
    async ({ store, timers, vault, egress, params, body }) => {
      const refusal = smtpRefusal(body, egress);
      if (refusal) throw invalid(refusal);
      return storeCredentials(store, timers, vault, params.id, body);
    },
  ),
];
