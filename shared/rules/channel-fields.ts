// What the table of channels says of each: facts, the fields of its content, and those of its credentials.
import type { ContentKind } from "./content-kinds.ts";

interface Facts {
  /** What the console calls it, and what it says of it. */
  label: string;
  about: string;
  /** Stands for it in stored chunks: never changed, never given to another one. */
  letter: string;
  /** What arbitration chooses between: its frequency caps and its content are those of its class. */
  class: string;
  /** The place of its class in a smart send without history (D-ARB). */
  rank: number;
  /** How its messages look, and what the reference says of its content. */
  content: { kind: ContentKind; about: string };
  /** The smallest plan that has it. */
  plan: "free" | "starter" | "growth" | "pro";
  /** Its provider charges for each message. */
  isPriced?: true;
}

interface CredentialFacts {
  /** The short name that the API and the stored row give them. */
  type: string;
  /** The last segment of the endpoint that takes them. */
  path: string;
  /** As JSON, with a key file, or not at all: the service makes them. */
  given: "json" | "file" | "made";
  fields: Readonly<Record<string, CredentialField>>;
}

/** `address`: what leads to a subscriber. `platform`: of its devices, and of interactions with its messages. */
export type ChannelFacts = Facts &
  (
    | { address: "inbox"; platform?: never; credentials?: never }
    | { address: "token" | "subscription"; platform: string; credentials: CredentialFacts }
    | { address: "email" | "phone"; platform?: string; credentials: CredentialFacts }
  );

export interface Button {
  id: string;
  title: string;
  url: string;
}

type ContentValue<F> = F extends { kind: "integer" }
  ? number
  : F extends { kind: "buttons" }
    ? Button[]
    : F extends { kind: "texts" }
      ? string[]
      : string;

/** The content that these fields describe. */
export type ContentOf<F> = {
  -readonly [K in keyof F as F[K] extends { required: true } ? K : never]: ContentValue<F[K]>;
} & { -readonly [K in keyof F as F[K] extends { required: true } ? never : K]?: ContentValue<F[K]> };

export type CredentialField = {
  optional?: true;
  /** Where another field has this value only; `needed`: there it is required. */
  when?: readonly [field: string, value: string];
  needed?: true;
  /** What the API says of it; one without a setting is never returned. */
  setting?: string;
  /** The name of that setting, where it is another one. */
  settingName?: string;
  /** How the console asks for it. */
  label?: string;
  hint?: string;
  isSecret?: true;
  /** In the reference, and in tests. */
  example?: string | number;
} & (
  | { kind: "email" | "port" }
  /** One line of text; a `token` is printable ASCII without spaces. */
  | { kind: "line" | "token"; max: number }
  | { kind: "match"; form: RegExp; message: string }
  /** A private key in PEM. */
  | { kind: "key"; of: "P-256" | "RSA"; max: number }
  | { kind: "choice"; from: readonly string[]; names?: Readonly<Record<string, string>>; message: string }
);

type CredentialValue<F> = F extends { kind: "port" }
  ? number
  : F extends { from: readonly (infer Choice)[] }
    ? Choice
    : string;

/** The values that these fields describe. */
export type CredentialsOf<F> = {
  -readonly [K in keyof F as F[K] extends { optional: true } ? never : K]: CredentialValue<F[K]>;
} & { -readonly [K in keyof F as F[K] extends { optional: true } ? K : never]?: CredentialValue<F[K]> | undefined };

export type SettingsOf<F> = {
  -readonly [K in keyof F as F[K] extends { setting: string }
    ? F[K] extends { settingName: infer N extends string }
      ? N
      : K
    : never]?: F[K] extends { kind: "port" } ? number : string;
};
