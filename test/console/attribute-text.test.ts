// Attributes as a person edits them: a value that is not touched stays of its kind.
import { expect, it } from "vitest";
import { attributeText, attributeValue } from "../../console/app/person-name.ts";

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
