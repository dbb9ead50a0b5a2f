// What may be shown of the credentials of a channel: everything but the secrets (RDA-15).
import * as v from "valibot";
import type { Credentials } from "./credentials.ts";

const text = (description: string) => v.optional(v.pipe(v.string(), v.description(description)));

/** The settings of a channel as the API returns them: those of its type. */
export const ChannelSettings = v.pipe(
  v.object({
    provider: text("`ses` or `smtp`; of e-mail channels"),
    from_email: text("The address of the sender"),
    from_name: text("The name of the sender"),
    reply_to: text("Where answers go"),
    host: text("The SMTP server"),
    port: v.optional(v.pipe(v.number(), v.description("Its port"))),
    username: text("The account at the SMTP server"),
    configuration_set: text("The configuration set of SES"),
    sender_id: text("The sender of SMS"),
    phone_number_id: text("The id of the number of a chat app"),
    waba_id: text("The id of the business account of a chat app"),
    key_id: text("The id of Apple's token-signing key"),
    team_id: text("The id of the team at Apple"),
    bundle_id: text("The bundle id of the app"),
    environment: text("`sandbox` or `production`; of iOS channels"),
    project_id: text("The project of an Android channel"),
    client_email: text("The service account of an Android channel"),
    vapid_public_key: text("What browsers subscribe with; of web push channels"),
  }),
  v.title("ChannelSettings"),
);
export type ChannelSettings = v.InferOutput<typeof ChannelSettings>;

const { vapid_public_key: _, ...shown } = ChannelSettings.pipe[0].entries;

/** The settings among credentials. */
export function settingsOf(credentials: Credentials): ChannelSettings {
  if (credentials.type === "vapid") return { vapid_public_key: credentials.public_key };
  const settings = Object.entries(credentials).filter(([name]) => Object.hasOwn(shown, name));
  return Object.fromEntries(settings) as ChannelSettings;
}
