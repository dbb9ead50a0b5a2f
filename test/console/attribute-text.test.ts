// Attributes as a person edits them: a value that is not touched stays of its kind.
import { expect, it } from "vitest";
import { attributeText, attributeValue, initialsOf } from "../../console/app/person-name.ts";

it.each([
  ["a text", "pro", "pro"],
  ["a text of digits", "89073", '"89073"'],
  ["a text that begins with a nought", "01099", "01099"],
  ["a text that looks like a list", "[1]", '"[1]"'],
  ["a text in quotes", '"ada"', '"\\"ada\\""'],
  ["a word that is a value", "true", '"true"'],
  ["a number", 42, "42"],
  ["a list", ["a"], '["a"]'],
])("%s is edited as what it is (CON-3)", (_, value, text) => {
  expect(attributeText(value)).toBe(text);
  expect(attributeValue(text)).toEqual(value);
});

it.each([
  ["two words", "Mina Rossi", "MR"],
  ["one word", "mina", "M"],
  ["a picture of several code points", "👩‍🚀 Ada", "👩‍🚀A"],
  ["a flag", "🇳🇴", "🇳🇴"],
  ["letters with marks of their own", "e\u0301lise a\u030anna".normalize("NFD"), "E\u0301A\u030a"],
  ["nothing", " ", "?"],
])("the initials of %s are whole characters (CON-3)", (_, name, initials) => {
  expect(initialsOf(name)).toBe(initials);
});
