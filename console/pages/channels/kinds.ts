// What the console says about each type of channel: where to find the values of its credentials.
import type { CredentialField } from "../../../shared/rules/channel-fields.ts";
import { type ChannelType, type ProvidedChannel, providedChannels } from "../../../shared/rules/channel-types.ts";
import { channels } from "../../../shared/rules/channels.ts";
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

type FormOperation = Extract<ChannelKind["credentials"], { kind: "form" }>["operation"];
type FileOperation = Extract<ChannelKind["credentials"], { kind: "file" }>["operation"];

/** The key files of providers. */
const accepts: Partial<Record<ChannelType, string>> = { ios: ".p8", android: ".json" };

const textOf = ({ label, hint, isSecret, when, needed, ...field }: CredentialField): FieldText => ({
  ...(label !== undefined && { label }),
  ...(hint !== undefined && { hint }),
  ...(isSecret && { secret: true }),
  ...(when && { when }),
  ...(needed && { required: true }),
  ...(field.kind === "choice" && {
    options: field.names ?? Object.fromEntries(field.from.map((value) => [value, value])),
  }),
});

function credentialsOf(type: ProvidedChannel): ChannelKind["credentials"] {
  const { given, path, fields } = channels[type].credentials;
  const asked = Object.entries<CredentialField>(fields);
  // Its name follows from its path (shared/http/operation-names.ts).
  const name = path.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase());
  const operation = `channels.${name}Credentials`;
  const texts = Object.fromEntries(asked.map(([name, field]) => [name, textOf(field)]));
  switch (given) {
    case "made":
      return { kind: "generated" };
    case "json": {
      const schemas: Readonly<Record<string, FormSchema>> = forms;
      return { kind: "form", operation: operation as FormOperation, schema: schemas[operation] ?? {}, texts };
    }
    case "file": {
      const labelled = Object.entries(texts).filter(([, { label }]) => label !== undefined);
      return {
        kind: "file",
        operation: operation as FileOperation,
        accept: accepts[type] ?? "",
        texts: Object.fromEntries(labelled),
      };
    }
  }
}

export const kinds = Object.fromEntries([
  ...providedChannels.map((type) => [type, { about: channels[type].about, credentials: credentialsOf(type) }]),
  ["in_app", { about: channels.in_app.about, credentials: { kind: "none" } }],
]) as Record<ChannelType, ChannelKind>;

const ADVICE: readonly [RegExp, string][] = [
  [/535|auth|password|credential|denied/i, "The server refused the password; try an app password."],
  [/ENOTFOUND|resolve|getaddrinfo|name/i, "The server's name does not exist. Check the spelling."],
  [/ECONNREFUSED|timeout|timed out|connect/i, "The server does not answer there. Check name and port."],
  [/certificate|tls|ssl/i, "The server's certificate does not fit its name."],
  [/sandbox|not verified|identity/i, "The provider does not know the address as yours yet. Verify the domain there."],
];

/** What to do about a provider's words; they are shown before it. */
export const adviceFor = (words: string): string | undefined => ADVICE.find(([pattern]) => pattern.test(words))?.[1];
