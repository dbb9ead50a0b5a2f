// Personal data in responses: fields are marked in their schemas, and left out for a caller that may not see them.
import * as v from "valibot";

/** The mark of a personal field, as the reference shows it. */
const MARK = "x-personal";

/** Marks a field of a response as personal data of a subscriber: an agent key needs `read:pii` to see it. */
/* @__NO_SIDE_EFFECTS__ */
export const personal = <const S extends v.GenericSchema>(schema: S) => v.pipe(schema, v.metadata({ [MARK]: true }));

interface Shape {
  type: string;
  entries?: Readonly<Record<string, v.GenericSchema>>;
  item?: v.GenericSchema;
  items?: readonly v.GenericSchema[];
  value?: v.GenericSchema;
  wrapped?: v.GenericSchema;
  options?: readonly v.GenericSchema[];
  getter?: (input: unknown) => v.GenericSchema;
}

const shapeOf = (schema: v.GenericSchema): Shape => schema as unknown as Shape;

const isPersonal = (schema: v.GenericSchema): boolean =>
  (v.getMetadata(schema as never) as Record<string, unknown>)[MARK] === true ||
  (shapeOf(schema).wrapped !== undefined && isPersonal(shapeOf(schema).wrapped!));

/**
 * Fields with these names are personal if the schema does not describe the value: rules, filters, data of a workspace.
 */
const PERSONAL_NAMES: ReadonlySet<string> = new Set([
  "email",
  "phone",
  "external_id",
  "external_ids",
  "first_name",
  "last_name",
  "full_name",
  "address",
  "ip",
  "token",
  "password",
]);

const REDACTED = "[personal]";
/** The characters of an address on either side of its `@`. */
const PART = /[^\s@"'<>()[\]{},;:]/.source;
/** Words with an `@`, each from its beginning. A search that also began within long words would take quadratic time. */
const WITH_AT = new RegExp(`(?<!${PART})${PART}+(?:@${PART}+)+`, "g");
const TO_END_OF_ADDRESS = new RegExp(`^.*@${PART}+\\.[A-Za-z]{2,}`);
const PHONE = /\+\d[\d ().-]{5,17}\d/g;

/** The text without email addresses and phone numbers, wherever a person has written them. */
export const scrubbed = (text: string): string =>
  text.replaceAll(WITH_AT, (word) => word.replace(TO_END_OF_ADDRESS, REDACTED)).replaceAll(PHONE, REDACTED);

/** The value without the fields that its schema marks as personal, and without addresses and numbers in its texts. */
export function withoutPersonal(schema: v.GenericSchema | undefined, value: unknown): unknown {
  if (typeof value === "string") return scrubbed(value);
  if (typeof value !== "object" || value === null) return value;
  const shape = schema && resolved(schema, value);
  if (Array.isArray(value)) return value.map((member, i) => withoutPersonal(shape?.item ?? shape?.items?.[i], member));
  const kept = Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const declared = shape?.entries?.[name];
    if (declared) return isPersonal(declared) ? [] : [[name, withoutPersonal(declared, member)]];
    const known = shape?.type === "record" ? shape.value : undefined;
    if (known && isClosed(known)) return [[scrubbed(name), withoutPersonal(known, member)]];
    const isNamed = PERSONAL_NAMES.has(name.toLowerCase()) || (name === "value" && comparesPersonal(value));
    return [[scrubbed(name), isNamed ? REDACTED : withoutPersonal(undefined, member)]];
  });
  return Object.fromEntries(kept);
}

/** A condition of a rule in its flat form: `{key: "email", operator, value}`. */
const comparesPersonal = (value: object): boolean =>
  "key" in value && typeof value.key === "string" && PERSONAL_NAMES.has(value.key.toLowerCase());

/**
 * Whether a schema allows only numbers and the like: its keys are then not names of fields (counts by channel:
 * `email`).
 */
const isClosed = (schema: v.GenericSchema): boolean =>
  !["any", "unknown", "record", "custom", "string"].includes(shapeOf(schema).type);

/** The schema behind `optional`, `nullable`, `lazy` and alternatives that applies to this value. */
function resolved(schema: v.GenericSchema, value: unknown): Shape | undefined {
  const shape = shapeOf(schema);
  if (shape.wrapped) return resolved(shape.wrapped, value);
  if (shape.getter) return resolved(shape.getter(value), value);
  if (!shape.options || typeof shape.options[0] !== "object") return shape;
  const fitting = shape.options.find((option) => v.is(option, value));
  return fitting && resolved(fitting, value);
}

/** Characters that a reader does not see: they can hide instructions in a text. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** The same value without characters that a reader does not see. */
export function withoutInvisible(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(INVISIBLE, "");
  if (Array.isArray(value)) return value.map(withoutInvisible);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutInvisible(member)]));
}
