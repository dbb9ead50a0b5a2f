// Texts that were made to be read slowly: what reads one takes no longer than its length.
import { expect, it } from "vitest";
import { withoutTags } from "../../shared/rules/channel-texts.ts";
import { readEmail } from "../../shared/rules/import-addresses.ts";
import { textOf } from "../../shared/rules/import-cells.ts";
import { readHeader } from "../../shared/rules/import-columns.ts";
import { isLikePhone, isTitle } from "../../shared/rules/import-names.ts";
import { readPhone } from "../../shared/rules/import-phones.ts";
import { signedName } from "../../shared/rules/import-signs.ts";
import { textOfHtml } from "../../shared/rules/mail-text.ts";
import { inPlain } from "../../shared/rules/placeholders.ts";
import { withTriggerValues } from "../../shared/rules/trigger-values.ts";
import { legacyEncoding } from "../../shared/store/files/legacy-encodings.ts";
import { growth, LINEAR } from "../support/growth.ts";

const blanks = (length: number) => " ".repeat(length);

/** Columns of these names in turn. */
const header = (length: number, ...names: string[]) => Array.from({ length }, (_, i) => names[i % names.length] ?? "");

/** Lines in ever more elements; 250 are not yet too deep for a mail. */
const nested = (length: number, open: string, close: string) => {
  const depth = Math.ceil(length / 800);
  return open.repeat(depth) + "a<br>".repeat(length / 6) + close.repeat(depth);
};

/** In windows-1252. */
async function* fileOf(text: string) {
  yield Buffer.from(text, "latin1");
}

it.each<[reader: string, part: string, read: (length: number) => unknown, most?: number]>([
  ["a cell of a file", "blanks", (n) => textOf(`a${blanks(n)}b`)],
  ["a line above the header", "blanks", (n) => isTitle([`a${blanks(n)}b`])],
  ["the name of a column", "`email`", (n) => signedName("email".repeat(n / 5))],
  ["a header", "plain names", (n) => readHeader(header(n, "Straße der Grüße"), "csv"), 999],
  ["a header", "tokens with their types", (n) => readHeader(header(n, "type", "token"), "csv"), 999],
  ["the name of a column", "parentheses", (n) => isLikePhone("(".repeat(n))],
  ["an address", "blanks", (n) => readEmail(`a${blanks(n)}b`)],
  ["a number", "commas", (n) => readPhone(",".repeat(n), { region: "DE" }), 240_000],
  ["an address", "dots", (n) => readEmail(`a@b${".".repeat(n)}c`)],
  ["a number", "digits", (n) => readPhone("1".repeat(n), { region: "DE" })],
  ["a reference of a journey", "blanks", (n) => withTriggerValues(`{{ trigger.${blanks(n)}`, {})],
  ["a mail", "quotes in quotes", (n) => textOfHtml(nested(n, "<blockquote>", "</blockquote>")), 200_000],
  ["a mail", "lists in lists", (n) => textOfHtml(nested(n, "<ol><li>", "</li></ol>")), 200_000],
  ["a mail", "tables in tables", (n) => textOfHtml(nested(n, "<table><tr><td>", "</td></tr></table>")), 200_000],
  ["a mail", "links in links", (n) => textOfHtml(nested(n, '<a href="http://a.b">', "</a>")), 200_000],
  ["a mail", "tags that close nothing", (n) => textOfHtml("<em>".repeat(n / 9) + "</tt>".repeat(n / 9)), 200_000],
  ["a text without tags", "blanks in a tag", (n) => withoutTags(`a<br${blanks(n)}`)],
  ["a variable", "names", (n) => inPlain(`{{ data${".a".repeat(n / 2)}`)],
  ["a file in another encoding", "letters", (n) => legacyEncoding(fileOf(`${"a".repeat(n)} café`))],
  ["a word in another encoding", "signs", (n) => legacyEncoding(fileOf(`café café café a${"¶".repeat(n)}é`))],
])("%s of many %s is read at once (D2)", async (_reader, _part, read, most) => {
  expect(await growth(read, most)).toBeLessThan(LINEAR);
});
