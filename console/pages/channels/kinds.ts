// What the console says about each type of channel: where to find the values of its credentials.
import { forms } from "../../app/forms.gen.ts";
import type { FieldText, FormSchema } from "../../components/form.tsx";

export interface ChannelKind {
  about: string;
  /** How its credentials are given. */
  credentials:
    | { kind: "none" }
    | { kind: "generated" }
    | {
        kind: "form";
        operation: "channels.emailCredentials" | "channels.smsCredentials" | "channels.chatAppCredentials";
        schema: FormSchema;
        texts: Record<string, FieldText>;
      }
    | {
        kind: "file";
        operation: "channels.iosPushCredentials" | "channels.androidPushCredentials";
        accept: string;
        texts: Record<string, FieldText>;
      };
}

const SMTP = ["provider", "smtp"] as const;

export const kinds: Record<string, ChannelKind> = {
  in_app: {
    about: "Messages inside your product: inbox, banners, cards. It needs no credentials.",
    credentials: { kind: "none" },
  },
  email: {
    about: "By SES in your own account, or by any SMTP server.",
    credentials: {
      kind: "form",
      operation: "channels.emailCredentials",
      schema: forms["channels.emailCredentials"],
      texts: {
        provider: { options: { ses: "SES", smtp: "SMTP" } },
        from_email: { label: "From address", hint: "An address of a domain that the provider knows as yours." },
        from_name: { label: "From name" },
        reply_to: { label: "Reply-to address" },
        host: { label: "SMTP server", hint: "For example smtp.example.com.", when: SMTP, required: true },
        port: { hint: "587 with STARTTLS, or 465.", when: SMTP },
        username: { label: "SMTP user", when: SMTP },
        password: {
          label: "SMTP password",
          secret: true,
          hint: "Often an app password, not that of the mailbox.",
          when: SMTP,
        },
        configuration_set: { label: "SES configuration set", when: ["provider", "ses"] },
      },
    },
  },
  sms: {
    about: "By your own account at an SMS provider.",
    credentials: {
      kind: "form",
      operation: "channels.smsCredentials",
      schema: forms["channels.smsCredentials"],
      texts: {
        api_key: { label: "API key", secret: true, hint: "In the provider's console under API credentials." },
        api_secret: { label: "API secret", secret: true },
        sender_id: { label: "Sender", hint: "A number you own, or a registered name of up to 11 letters." },
      },
    },
  },
  chat_app: {
    about: "Approved templates to people who opted in.",
    credentials: {
      kind: "form",
      operation: "channels.chatAppCredentials",
      schema: forms["channels.chatAppCredentials"],
      texts: {
        access_token: { secret: true, hint: "A permanent token of a system user, not one that expires in an hour." },
        phone_number_id: { label: "Phone number ID", hint: "In the provider's console beside the number." },
        waba_id: { label: "Business account ID" },
        app_secret: { secret: true, hint: "Needed for opt-outs and the status of templates." },
        webhook_verify_token: { hint: "A word of your choice; enter the same at the provider." },
      },
    },
  },
  ios: {
    about: "Apple Push Notification service, with a token-signing key.",
    credentials: {
      kind: "file",
      operation: "channels.iosPushCredentials",
      accept: ".p8",
      texts: {
        key_id: { label: "Key ID", hint: "Ten characters, beside the key in the developer account." },
        team_id: { label: "Team ID", hint: "Top right in the developer account." },
        bundle_id: { label: "Bundle ID", hint: "For example com.example.app." },
        environment: {
          label: "Environment",
          options: { production: "Production", sandbox: "Sandbox, for builds from the developer tools" },
        },
      },
    },
  },
  android: {
    about: "Firebase Cloud Messaging, with a service account.",
    credentials: { kind: "file", operation: "channels.androidPushCredentials", accept: ".json", texts: {} },
  },
  web_push: {
    about: "Browsers. The key pair is made here; the private key never leaves.",
    credentials: { kind: "generated" },
  },
};

const ADVICE: readonly [RegExp, string][] = [
  [/535|auth|password|credential|denied/i, "The server refused the password; try an app password."],
  [/ENOTFOUND|resolve|getaddrinfo|name/i, "The server's name does not exist. Check the spelling."],
  [/ECONNREFUSED|timeout|timed out|connect/i, "The server does not answer there. Check name and port."],
  [/certificate|tls|ssl/i, "The server's certificate does not fit its name."],
  [/sandbox|not verified|identity/i, "The provider does not know the address as yours yet. Verify the domain there."],
];

/** What to do about a provider's words; they are shown before it. */
export const adviceFor = (words: string): string | undefined => ADVICE.find(([pattern]) => pattern.test(words))?.[1];
