// Texts that were made to be read slowly: what reads one takes no longer than its length.
import { expect, it } from "vitest";
import { readEmail } from "../../shared/rules/import-addresses.ts";
import { textOf } from "../../shared/rules/import-cells.ts";
import { readHeader } from "../../shared/rules/import-columns.ts";
import { isLikePhone, isTitle } from "../../shared/rules/import-names.ts";
import { readPhone } from "../../shared/rules/import-phones.ts";
import { signedName } from "../../shared/rules/import-signs.ts";
import { withTriggerValues } from "../../shared/rules/journey-run.ts";
import { legacyEncoding } from "../../shared/store/files/legacy-encodings.ts";

const SIZE = 60_000;
const blanks = " ".repeat(SIZE);

/** Columns, as many as a file may have, of these names in turn. */
const header = (...names: string[]) => Array.from({ length: 999 }, (_, i) => names[i % names.length] ?? "");

/** In windows-1252. */
async function* fileOf(text: string) {
  yield Buffer.from(text, "latin1");
}

it.each<[reader: string, part: string, read: () => unknown]>([
  ["a cell of a file", "blanks", () => textOf(`a${blanks}b`)],
  ["a line above the header", "blanks", () => isTitle([`a${blanks}b`])],
  ["the name of a column", "`email`", () => signedName("email".repeat(SIZE / 5))],
  ["a header", "plain names", () => readHeader(header("Straße der Grüße"), "csv")],
  ["a header", "tokens with their types", () => readHeader(header("type", "token"), "csv")],
  ["the name of a column", "parentheses", () => isLikePhone("(".repeat(SIZE))],
  ["an address", "blanks", () => readEmail(`a${blanks}b`)],
  ["a number", "commas", () => readPhone(",".repeat(4 * SIZE), "DE", undefined)],
  ["an address", "dots", () => readEmail(`a@b${".".repeat(SIZE)}c`)],
  ["a number", "digits", () => readPhone("1".repeat(SIZE), "DE", undefined)],
  ["a reference of a journey", "blanks", () => withTriggerValues(`{{ trigger.${blanks}`, {})],
  ["a file in another encoding", "letters", () => legacyEncoding(fileOf(`${"a".repeat(SIZE)} café`))],
  ["a word in another encoding", "signs", () => legacyEncoding(fileOf(`café café café a${"¶".repeat(SIZE)}é`))],
])("%s of many %s is read at once (D2)", async (_reader, _part, read) => {
  const { user: before } = process.cpuUsage();

  await read();

  expect(process.cpuUsage().user - before).toBeLessThan(1_000_000);
});
