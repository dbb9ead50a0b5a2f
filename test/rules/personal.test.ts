// Texts of people in answers to agents that may not see them.
import { expect, it } from "vitest";
import { scrubbed } from "../../shared/contract/personal.ts";

it.each([
  ["Write to ada@lovelace.example.", "Write to [personal]."],
  ["<ada.l+news@lovelace.example>, grace@navy.example;", "<[personal]>, [personal];"],
  ["mailto:ada@lovelace.example?subject=x", "mailto:[personal]?subject=x"],
  ["ada@lovelace.example/grace@navy.example", "[personal]"],
  ["ada@lovelace.example1grace@navy.example", "[personal]"],
  ["@ada@lovelace.example", "@[personal]"],
  ["call +49 (0) 30 12345-67 now", "call [personal] now"],
  ["ada@home and @ada and a.b", "ada@home and @ada and a.b"],
])("%j: addresses and numbers are cut out of a text (AGT-4)", (text, expected) => {
  expect(scrubbed(text)).toBe(expected);
});

it.each(["a", "+1", "a@", "a.", "@", "a@b."])(
  "a text of %j alone is read in one pass, however long it is (AGT-4)",
  (part) => {
    const text = `${part.repeat(400_000)}@`;

    expect(scrubbed(text).length).toBeLessThanOrEqual(text.length);
  },
);
