// Credentials of channels: each endpoint takes one type and confirms it. They are never returned (CRD-1 to CRD-8).
import * as v from "valibot";
import { type Credentials, credentialBody, credentialExample } from "../../../shared/contract/credentials.ts";
import { requireUser } from "../../../shared/http/authenticate.ts";
import { callbacks } from "../../../shared/http/callbacks.ts";
import { type Endpoint, endpoints } from "../../../shared/http/endpoint.ts";
import { multipart } from "../../../shared/http/upload.ts";
import { invalid } from "../../../shared/kernel/errors.ts";
import { smtpRefusal } from "../../../shared/providers/smtp.ts";
import { type ProvidedChannel, providedChannels } from "../../../shared/rules/channel-types.ts";
import { channels } from "../../../shared/rules/channels.ts";
import { egress } from "../../../shared/runtime/resources.ts";
import { timers } from "../../../shared/store/capabilities.ts";
import { storeCredentials } from "../../../shared/store/channels/credentials.ts";
import { CredentialConfirmation } from "../../../shared/store/channels/items.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { vaultSealing } from "../../../shared/store/vault.ts";
import { androidCredentials, IosFields, iosCredentials, KEY_FILE, MAX_KEY_FILE_BYTES, makeVapid } from "./key-files.ts";

const endpoint = endpoints({
  credentials: ["dashboard"],
  permission: "credentials:manage",
  uses: [storeWrite, timers, vaultSealing],
});

const REPLACES = "Replaces what was stored before, and queues the verification.";

/** The endpoint of a channel whose credentials are plain values. */
const jsonCredentials = (type: ProvidedChannel, summary: string): Endpoint => {
  const { path, type: short } = channels[type].credentials;
  return endpoint(
    `POST /api/v1/channels/:id/credentials/${path}`,
    {},
    {
      summary,
      description: REPLACES,
      body: credentialBody(type),
      example: { body: credentialExample(type) },
      returns: CredentialConfirmation,
    },
    ({ store, timers, vault, params, body }) =>
      // The body has the fields of this channel type.
      storeCredentials({ store, timers, vault }, params.id, { type: short, ...body } as Credentials),
  );
};

/** Channels whose credentials are generated or read from a file: each has an endpoint of its own. */
type GivenOtherwise = {
  [T in ProvidedChannel]: (typeof channels)[T]["credentials"]["given"] extends "json" ? never : T;
}[ProvidedChannel];

const formEndpoints = {
  ios: endpoint(
    "POST /api/v1/channels/:id/credentials/ios-push",
    {},
    {
      summary: "Store Apple's token-signing key of an iOS channel",
      description: REPLACES,
      form: multipart(IosFields, { fileBytes: MAX_KEY_FILE_BYTES, part: KEY_FILE }),
      example: { body: { key_id: "ABC123DEFG", team_id: "DEF123GHIJ", bundle_id: "com.example.app" } },
      returns: CredentialConfirmation,
    },
    ({ store, timers, vault, params, form }) =>
      storeCredentials({ store, timers, vault }, params.id, iosCredentials(form.fields, form.file)),
  ),

  android: endpoint(
    "POST /api/v1/channels/:id/credentials/android-push",
    {},
    {
      summary: "Store the service-account key of an Android channel",
      description: REPLACES,
      form: multipart(v.strictObject({}), { fileBytes: MAX_KEY_FILE_BYTES, part: KEY_FILE }),
      returns: CredentialConfirmation,
    },
    ({ store, timers, vault, params, form }) =>
      storeCredentials({ store, timers, vault }, params.id, androidCredentials(form.file)),
  ),

  web_push: endpoint(
    "POST /api/v1/channels/:id/credentials/vapid",
    {},
    {
      summary: "Make the key pair of a web push channel",
      description: `${REPLACES} Browsers that subscribed with an earlier public key must subscribe again.`,
      returns: CredentialConfirmation,
    },
    ({ store, timers, vault, ids, caller, params }) =>
      storeCredentials({ store, timers, vault }, params.id, makeVapid(ids, requireUser(caller).email)),
  ),

  sms: jsonCredentials("sms", "Store the account of an SMS provider"),

  chat_app: endpoint(
    "POST /api/v1/channels/:id/credentials/chat_app",
    { uses: [callbacks] },
    {
      summary: "Store the account of a chat-app channel",
      description:
        `${REPLACES} With \`app_secret\` (and \`webhook_verify_token\` to set it up) the provider may call back at ` +
        "`/v1/inbound/chat-app/:channelId` about opt-outs and the review of templates.",
      body: credentialBody("chat_app"),
      example: { body: credentialExample("chat_app") },
      returns: CredentialConfirmation,
    },
    ({ store, timers, vault, callbacks, params, body }) => {
      const prepare = async () => {
        if (body.app_secret !== undefined) await callbacks.remember(params.id);
      };
      return storeCredentials({ store, timers, vault }, params.id, { type: "chat_app", ...body }, prepare);
    },
  ),

  email: endpoint(
    "POST /api/v1/channels/:id/credentials/email",
    { uses: [egress] },
    {
      summary: "Store the sender of an email channel",
      description: `${REPLACES} Through Amazon SES, or an SMTP server on a public host and a port of mail.`,
      body: credentialBody("email"),
      example: { body: credentialExample("email") },
      returns: CredentialConfirmation,
    },
    async ({ store, timers, vault, egress, params, body }) => {
      const refusal = smtpRefusal(body, egress);
      if (refusal) throw invalid(refusal);
      return storeCredentials({ store, timers, vault }, params.id, { type: "email", ...body });
    },
  ),
} satisfies Record<GivenOtherwise, Endpoint> & Partial<Record<ProvidedChannel, Endpoint>>;

const others = providedChannels.filter((type) => !Object.hasOwn(formEndpoints, type));

export const credentialEndpoints: readonly Endpoint[] = [
  ...Object.values(formEndpoints),
  ...others.map((type) => jsonCredentials(type, `Store the credentials of a channel of the type ${type}`)),
];
