// Texts that were made to be read slowly: what reads one takes no longer than its length.
import { expect, it } from "vitest";
import { readEmail } from "../../shared/rules/import-addresses.ts";
import { textOf } from "../../shared/rules/import-cells.ts";
import { isTitle } from "../../shared/rules/import-names.ts";
import { readPhone } from "../../shared/rules/import-phones.ts";
import { signedName } from "../../shared/rules/import-signs.ts";
import { withTriggerValues } from "../../shared/rules/journey-run.ts";

const SIZE = 60_000;
const blanks = " ".repeat(SIZE);

it.each<[reader: string, part: string, read: () => unknown]>([
  ["a cell of a file", "blanks", () => textOf(`a${blanks}b`)],
  ["a line above the header", "blanks", () => isTitle([`a${blanks}b`])],
  ["the name of a column", "`email`", () => signedName("email".repeat(SIZE / 5))],
  ["an address", "dots", () => readEmail(`a@b${".".repeat(SIZE)}c`)],
  ["a number", "digits", () => readPhone("1".repeat(SIZE), "DE", undefined)],
  ["a reference of a journey", "blanks", () => withTriggerValues(`{{ trigger.${blanks}`, {})],
])("%s of many %s is read at once (D2)", (_reader, _part, read) => {
  const { user: before } = process.cpuUsage();

  read();

  expect(process.cpuUsage().user - before).toBeLessThan(500_000);
});
