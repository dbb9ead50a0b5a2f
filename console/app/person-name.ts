// The name of a person, from attributes, which are JSON text in the API.
import type { JsonValue } from "../../sdk/src/types.gen.ts";
import { fullNameIn } from "../../shared/rules/person-name.ts";

export function readAttributes(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

interface NamedPerson {
  external_id: string;
  attributes: string;
}

/** `Mina Rossi`; empty where no name is known. */
export const fullName = ({ attributes }: Pick<NamedPerson, "attributes">): string =>
  fullNameIn(readAttributes(attributes));

/** Their name where it is known, else the external ID. */
export const personName = (person: NamedPerson): string => fullName(person) || person.external_id;

/** In a list of members or recipients; an erased person has neither. */
export const calledOf = ({ name, external_id }: { name: string | null; external_id: string | null }): string =>
  name ?? external_id ?? "erased";

/** A text as it is, unless it would be read as another value: everything else as JSON. */
export const attributeText = (value: unknown): string =>
  typeof value === "string" && attributeValue(value) === value ? value : JSON.stringify(value);

/** The value that was meant: JSON where it is JSON, else the text itself. */
export function attributeValue(text: string): JsonValue {
  if (!/^(-?\d|true$|false$|null$|[[{"])/.test(text)) return text;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** What is read as one character: a letter with its marks, a picture of several code points. */
const characters = new Intl.Segmenter();

const firstOf = (word: string): string => [...characters.segment(word)][0]?.segment ?? "";

/** Of its first and its last word. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const [first = "?", ...others] = words;
  return `${firstOf(first)}${firstOf(others.at(-1) ?? "")}`.toUpperCase();
}
