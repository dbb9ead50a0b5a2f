// Schemas that several groups share.
import * as v from "valibot";
import { asSeen, hasAtMost } from "../rules/characters.ts";
import { isInternationalAddress, isLocale, withAsciiDomain } from "../rules/contacts.ts";
import { OWN_EVENTS } from "../rules/event-limits.ts";
import { isTimeZone } from "../rules/time-zones.ts";
import { parseTimestamp } from "../rules/timestamps.ts";

/** Adds a description for the documentation; bundles leave out a literal text. */
// @__NO_SIDE_EFFECTS__
export const said = <S extends v.GenericSchema>(sentence: string, schema: S) => v.pipe(schema, v.description(sentence));

/** An object that has a name in the documentation. */
// @__NO_SIDE_EFFECTS__
export const titled = <E extends v.ObjectEntries>(title: string, entries: E) =>
  v.pipe(v.object(entries), v.title(title));

const Entries = v.record(v.string(), v.any());

/** Any JSON object; `v.record` alone accepts an array. */
export const JsonObject: typeof Entries = {
  ...Entries,
  "~run": (dataset, config) => Entries["~run"](Array.isArray(dataset.value) ? { value: "" } : dataset, config),
};

/** GEN-2. */
export const Timestamp = v.string();

/** The last error of a background task, as its resource shows it (AMB-123). */
export const LastError = v.object({ code: v.string(), message: v.string(), at: Timestamp });
export type LastError = v.InferOutput<typeof LastError>;

/** A timestamp of a request: strict RFC 3339, kept as fixed-width UTC milliseconds. */
export const TimestampInput = v.pipe(
  v.string("must be an RFC 3339 timestamp"),
  v.check((text) => parseTimestamp(text) !== undefined, "must be an RFC 3339 timestamp"),
  v.transform((text) => new Date(parseTimestamp(text)!).toISOString()),
);

/** At most this many characters. `v.maxLength` counts UTF-16 units, of which some characters have two. */
export function maxCharacters(maxLength: number) {
  const counting = v.maxLength<string, number, string>(maxLength, `must have at most ${maxLength} characters`);
  const run: (typeof counting)["~run"] = (dataset, config) =>
    dataset.typed && hasAtMost(dataset.value, maxLength) ? dataset : counting["~run"](dataset, config);
  return { ...counting, "~run": run };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const isUuid = (text: string): boolean => UUID.test(text);
export const Uuid = v.pipe(v.string("must be a UUID"), v.regex(UUID, "must be a UUID"), v.toLowerCase());

/** The place of a field, for the path of an issue that a check of the whole object adds. */
export const atField = <T extends object, K extends keyof T & string>(input: T, key: K) =>
  ({ type: "object", origin: "value", input: input as Record<string, unknown>, key, value: input[key] }) as const;

/** Text that is not empty: `max` in characters. */
// @__NO_SIDE_EFFECTS__
export function SomeTextUpTo(max: number) {
  return v.pipe(v.string(), v.nonEmpty(), v.maxLength(max));
}

/** One of these names. */
// @__NO_SIDE_EFFECTS__
export const OneOf = <const T extends readonly string[]>(names: T) =>
  v.picklist(names, `must be one of ${names.join(", ")}`);

/** A list of at least one of `noun`, such as `channel`. */
// @__NO_SIDE_EFFECTS__
export const SomeOf = <S extends v.GenericSchema>(schema: S, noun: string, max: number, refusal = "must be an array") =>
  v.pipe(
    v.array(schema, refusal),
    v.minLength(1, `must name at least one ${noun}`),
    v.maxLength(max, `must name at most ${max} ${noun}s`),
  );

/** A whole number, both bounds included. */
// @__NO_SIDE_EFFECTS__
export const WholeNumber = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

/** An id that a client repeats in requests: short enough to be a part of a key. */
export const Id = SomeTextUpTo(128);

/** Text of a request that is compared or searched: `max` in characters. */
export const TextUpTo = (max: number) => v.pipe(v.string(), v.maxLength(max));

/** Text that is not empty, without spaces around it: `max` in characters. */
// @__NO_SIDE_EFFECTS__
export const TrimmedTextUpTo = (max: number) => v.pipe(v.string(), v.trim(), v.nonEmpty(), maxCharacters(max));

/** Refuses the names of the service's own events, which clients cannot send and journeys cannot wait for (D-EVTYPE). */
// @__NO_SIDE_EFFECTS__
export const sentByClients = () => v.check((name: string) => !name.startsWith(OWN_EVENTS.start), OWN_EVENTS.refusal);

/** A name by which people find a thing, in the normal form of its look: `max` in characters. */
// @__NO_SIDE_EFFECTS__
export const NameUpTo = (max: number) =>
  v.pipe(TrimmedTextUpTo(max), v.transform(asSeen), v.nonEmpty(), maxCharacters(max));

/** An optional description: `max` in characters. `null` means none. */
export const DescriptionUpTo = (max: number) => v.nullish(v.pipe(v.string(), maxCharacters(max)));

/**
 * The id of a template. An unknown one is refused with `TEMPLATE_NOT_FOUND` (AMB-89), so only its length is limited.
 */
export const TemplateId = v.pipe(TextUpTo(2_048), v.toLowerCase());

/** The longest address of RFC 5321. */
const MAX_EMAIL_CHARACTERS = 254;
/** An address of a subscriber; an international domain is read and stored in ASCII (meaning, 2). */
export const EmailAddress = v.pipe(
  v.string(),
  v.maxLength(MAX_EMAIL_CHARACTERS, "must be an email address"),
  v.check(isInternationalAddress, "must be an email address"),
  v.transform(withAsciiDomain),
);

export const TimeZone = v.pipe(
  v.string("must be an IANA time zone"),
  v.maxLength(64, "must be an IANA time zone"),
  v.check(isTimeZone, "must be an IANA time zone"),
);

const REGION = "must be an ISO 3166 code such as DE";
const regionNames = new Intl.DisplayNames("en", { type: "region", fallback: "none" });

/** An obsolete code such as `UK` is replaced by its successor. */
export const Region = v.pipe(
  v.string(REGION),
  v.regex(/^[A-Z]{2}$/, REGION),
  v.check((code) => code !== "ZZ" && regionNames.of(code) !== undefined, REGION),
  v.transform((code) => new Intl.Locale(`und-${code}`).region ?? code),
);

export const Currency = v.pipe(
  v.string("must be an ISO 4217 code such as EUR"),
  v.regex(/^[A-Z]{3}$/, "must be an ISO 4217 code such as EUR"),
);

export const Locale = v.pipe(
  v.string("must be a BCP 47 language tag"),
  v.maxLength(64, "must be a BCP 47 language tag"),
  v.check(isLocale, "must be a BCP 47 language tag"),
);

const MAX_COPIED_CHARACTERS = 180;

/** The name of a copy: within the bounds of any name of an entity. */
export const copyName = (name: string): string => `${[...name].slice(0, MAX_COPIED_CHARACTERS).join("")} (copy)`;

const MAX_EXTERNAL_ID_CHARACTERS = 512;

/** A subscriber's id in the workspace's own system. */
export const ExternalId = SomeTextUpTo(MAX_EXTERNAL_ID_CHARACTERS);

/** An amount that a client sets: JSON and the table store it exactly. */
export const Amount = v.pipe(
  v.number(),
  v.integer(),
  v.minValue(0, "must not be negative"),
  v.maxValue(1_000_000_000_000),
);

/** The name of a user or a workspace. It appears in mails, so it must not look like a link or a header. */
export const OwnName = v.pipe(
  TrimmedTextUpTo(200),
  v.regex(/^\P{C}*$/u, "must not contain control characters"),
  v.check((name) => !/:\/\/|\bwww\.|\.[a-z]{2,}\//i.test(name), "must not contain a URL"),
);

/** Yes or no in a query or a form. */
export const TrueOrFalse = v.pipe(
  v.picklist(["true", "false"], "must be true or false"),
  v.transform((text) => text === "true"),
);

/** The query of a deletion that is refused while something depends on the resource. */
export const Force = v.object({
  force: said(
    "Whether it is deleted although something uses it, which is then switched off or paused",
    v.optional(TrueOrFalse, "false"),
  ),
});
