// Cells of exported files in spreadsheets of every locale (RDA-16).
import { parse } from "csv-parse/sync";
import { describe, expect, it } from "vitest";
import { cellOf, csvLine } from "../../shared/rules/csv.ts";
import { textOf } from "../../shared/rules/import-cells.ts";

/** What a spreadsheet that splits lines at this separator sees, where the quotes of the file do not help. */
const partsOf = (line: string, separator: string) => line.split(separator).map((part) => part.replace(/^"|"$/g, ""));

/** The one cell of a line, as a reader of CSV takes it. */
const readBack = (line: string): string => (parse(line, { relax_column_count: true }) as string[][])[0]![0]!;

describe("a cell", () => {
  it.each([
    ["at the beginning", "=1+1", "'=1+1"],
    ["after a semicolon", "a;=1+1", "a;'=1+1"],
    ["after a comma", "a,@sum(1)", "a,'@sum(1)"],
    ["after a tab", "a\t+cmd", "a\t'+cmd"],
    ["after a line break", "a\n=1+1", "a\n'=1+1"],
    ["after spaces", "  =1+1", "'  =1+1"],
    ["after a control character", "\u0001=1+1", "'\u0001=1+1"],
    ["in full width", "＝1+1", "'＝1+1"],
    ["as a number and a command", "-2+cmd", "'-2+cmd"],
  ])("a cell with a formula %s is text in every locale (RDA-16)", (_, value, expected) => {
    expect(readBack(csvLine([cellOf(value)]))).toBe(expected);
  });

  it.each([-1e-7, "1e+21", "+49 151 123", "-5", "-5.25", "+4915112345678", "[1,-2]", "a;-5"])(
    "a cell keeps the number in %s (RDA-16)",
    (value) => {
      expect(readBack(csvLine([cellOf(value)]))).toBe(String(value));
    },
  );

  it.each(["-Nx7", "+abc=", "@ada", "=1", "＝1", "'=1", "''-a", "'-5", "'0151", "'+49 151", "'s", "-5"])(
    "an import reads %s as it was exported (RDA-16, AMB-133)",
    (value) => {
      expect(textOf(readBack(csvLine([cellOf(value)])))).toBe(value);
    },
  );

  it("a cell with the byte 0 leaves a file of text (RDA-16)", () => {
    expect(csvLine(["a\0b", "\0=1"])).toBe("ab,'=1\r\n");
  });

  it("a cell with a separator of any locale is quoted (RDA-16)", () => {
    expect(csvLine(["a;b", "c\td", "e|f", "g"])).toBe('"a;b","c\td","e|f",g\r\n');
  });

  it("a cell begins no formula after any separator of its line (RDA-16)", () => {
    const line = csvLine(["x", "a;=b\n+c", "@d"].map(cellOf)).trimEnd();
    for (const separator of [",", ";", "\t", "\n"])
      for (const part of partsOf(line, separator)) expect(/^[=+\-@]/.test(part)).toBe(false);
  });

  it("no cell begins a formula for who splits lines at other signs, whatever stands before it in quotes (RDA-16, D14)", () => {
    const starts = [
      "",
      "a;",
      'a;"',
      'a;""',
      'a;" "',
      'a|"',
      'a\t"',
      'a\n"',
      '"',
      '";"',
      ';";";',
      ',";"',
      '\\"',
      'a;","',
    ];
    const texts = starts.flatMap((start) =>
      ["=1+1", "+cmd", "﹦1+1"].flatMap((sign) => ["", ";b", "|b", '";b', '",b'].map((end) => start + sign + end)),
    );
    const lines = texts.flatMap((text) =>
      [text, [text, text], { [text]: text }].map((cell) => ["0", cellOf(cell), cellOf(cell)]),
    );
    const begun = [",", ";", "\t", "|", ",;", ",;\t|"].flatMap((separators) =>
      lines.flatMap((cells) => opened(csvLine(cells), separators).filter((cell) => /^[\s\p{C}]*[=+@﹦]/u.test(cell))),
    );
    expect(begun).toEqual([]);
  });
});

/** The cells that a spreadsheet opens: a quote at the beginning of one holds it together, and what follows the closing quote stands as it is. */
function opened(text: string, separators: string): string[] {
  const ending = new RegExp(`[${separators}\\r\\n]`);
  const cells: string[] = [];
  for (let rest = text; rest !== ""; ) {
    const [held = "", inside = ""] = /^"((?:[^"]|"")*)"/.exec(rest) ?? [];
    const after = rest.slice(held.length);
    const end = ending.exec(after)?.index ?? after.length;
    cells.push(inside.replaceAll('""', '"') + after.slice(0, end));
    rest = after.slice(end + 1);
  }
  return cells;
}
