// Schemas of provider credentials, as they are uploaded and stored encrypted (CRD-3 to CRD-7), and of the settings among
// them: what may be shown (RDA-15).
import { createPrivateKey } from "node:crypto";
import * as v from "valibot";
import type { CredentialField, CredentialsOf, SettingsOf } from "../rules/channel-fields.ts";
import { type ProvidedChannel, providedChannels } from "../rules/channel-types.ts";
import { channels } from "../rules/channels.ts";
import { isEmailAddress, withAsciiDomain } from "../rules/contacts.ts";
import { said, titled } from "./schemas.ts";

type Fields<T extends ProvidedChannel> = (typeof channels)[T]["credentials"]["fields"];
export type CredentialsFor<T extends ProvidedChannel> = {
  type: (typeof channels)[T]["credentials"]["type"];
} & CredentialsOf<Fields<T>>;
export type Credentials = { [T in ProvidedChannel]: CredentialsFor<T> }[ProvidedChannel];
type CredentialType = Credentials["type"];

/** The order of their settings in the published document. */
const places = { email: 0, phone: 1, token: 2, subscription: 2 };
const placeOf = (type: ProvidedChannel): number => places[channels[type].address];

/** The short names of credentials. */
export const credentialTypes: readonly CredentialType[] = providedChannels
  .toSorted((a, b) => placeOf(b) - placeOf(a))
  .map((type) => channels[type].credentials.type);

const MAX_EMAIL = 254;
const MAX_PORT = 65_535;
const LINE = /^[^\p{Cc}]*$/u;
const PRINTABLE = /^[\x21-\x7e]*$/;

/** One line of text, because it is used in headers and forms. */
const line = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.nonEmpty(),
    v.maxLength(maxLength, `must be at most ${maxLength} characters`),
    v.regex(LINE, "must not contain control characters"),
  );

const isKey = (of: "P-256" | "RSA") => (pem: string) => {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return of === "RSA" ? asymmetricKeyType === "rsa" : asymmetricKeyDetails?.namedCurve === "prime256v1";
  } catch {
    return false;
  }
};
const keyRefusals = { "P-256": "must be a PEM key of the curve P-256 (.p8)", RSA: "must be a PEM RSA key" };

function schemaOf(field: CredentialField): v.GenericSchema {
  switch (field.kind) {
    case "line":
      return line(field.max);
    case "token":
      return v.pipe(line(field.max), v.regex(PRINTABLE, "must be printable ASCII without spaces"));
    case "match":
      return v.pipe(v.string(), v.regex(field.form, field.message));
    case "email":
      return v.pipe(
        v.string(),
        v.maxLength(MAX_EMAIL, "must be an email address"),
        v.transform(withAsciiDomain),
        v.check(isEmailAddress, "must be an email address"),
      );
    case "key":
      return v.pipe(
        v.string("must be a PEM key"),
        v.maxLength(field.max),
        v.check(isKey(field.of), keyRefusals[field.of]),
      );
    case "choice":
      return v.picklist(field.from, field.message);
    case "port":
      return v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_PORT));
  }
}

type Entries<F> = {
  -readonly [K in keyof F]: F[K] extends { optional: true }
    ? v.OptionalSchema<v.GenericSchema<CredentialsOf<F>[K & keyof CredentialsOf<F>]>, undefined>
    : v.GenericSchema<CredentialsOf<F>[K & keyof CredentialsOf<F>]>;
};

const fieldsOf = (type: ProvidedChannel): [string, CredentialField][] =>
  Object.entries(channels[type].credentials.fields);

const entriesOf = (type: ProvidedChannel): v.ObjectEntries =>
  Object.fromEntries(
    fieldsOf(type).map(([name, field]) => [name, field.optional ? v.optional(schemaOf(field)) : schemaOf(field)]),
  );

/** The schemas of the fields, by name: `schemaOf` gives each kind of field the values that `CredentialsOf` says. */
export const credentialEntries = <T extends ProvidedChannel>(type: T) => entriesOf(type) as Entries<Fields<T>>;

const needed = (type: ProvidedChannel) =>
  v.rawCheck<Record<string, unknown>>(({ dataset, addIssue }) => {
    if (!dataset.typed) return;
    const { value: input } = dataset;
    for (const [key, { when, ...field }] of fieldsOf(type)) {
      if (!when || !field.needed || input[key] !== undefined || input[when[0]] !== when[1]) continue;
      const value = undefined;
      addIssue({
        message: `is required for ${when[1]}`,
        path: [{ type: "object", origin: "value", input, key, value }],
      });
    }
  });

/** A body with credentials. Schema and type both derive from the table. */
export const credentialBody = <T extends ProvidedChannel>(type: T) =>
  v.pipe(v.strictObject(entriesOf(type)), needed(type)) as unknown as v.GenericSchema<CredentialsOf<Fields<T>>>;

/** The example in the reference, which tests upload. */
export const credentialExample = (type: ProvidedChannel): Record<string, string | number> =>
  Object.fromEntries(fieldsOf(type).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]])));

/** Credentials as they are stored. */
export function credentialSchema<T extends ProvidedChannel>(type: T) {
  const entries: v.ObjectEntries = { type: v.literal(channels[type].credentials.type), ...entriesOf(type) };
  return v.pipe(v.object(entries), needed(type)) as unknown as v.GenericSchema<CredentialsFor<T>>;
}

type AllSettings = { [T in ProvidedChannel]: (settings: SettingsOf<Fields<T>>) => void }[ProvidedChannel];
/** The settings of all types. Each channel has those of one type. */
export type ChannelSettings = AllSettings extends (settings: infer S) => void ? S : never;

const inOrder = providedChannels.toSorted((a, b) => placeOf(a) - placeOf(b));
const settings = inOrder.flatMap((type) =>
  fieldsOf(type).flatMap(([name, { kind, setting, settingName = name }]) =>
    setting === undefined ? [] : [{ type, name, settingName, kind, setting }],
  ),
);

/** The settings of a channel as the API returns them: only those of its type. */
export const ChannelSettings = titled(
  "ChannelSettings",
  Object.fromEntries(
    settings.map(({ settingName, kind, setting }) => [
      settingName,
      v.optional(said(setting, kind === "port" ? v.number() : v.string())),
    ]),
  ),
) as unknown as v.GenericSchema<ChannelSettings>;

export function settingsOf(credentials: Credentials): ChannelSettings {
  const values: Record<string, unknown> = credentials;
  const shown = settings.filter(({ type }) => channels[type].credentials.type === credentials.type);
  return Object.fromEntries(
    shown.flatMap(({ name, settingName }) => (values[name] === undefined ? [] : [[settingName, values[name]]])),
  );
}
