// The rows of a table as a CSV file: what its cells say, with exact times in place of "2h ago".
import { render } from "preact";
import { csvLine, harmless } from "../../shared/rules/csv.ts";
import { saveFile } from "../app/save-file.ts";
import type { Column } from "./table.tsx";

/** What a cell says in words; only what is for readers of screens is left out. */
function textOf(drawn: Element): string {
  const cell = drawn.cloneNode(true) as Element;
  for (const time of cell.querySelectorAll("time[datetime]")) time.textContent = time.getAttribute("datetime");
  for (const unseen of cell.querySelectorAll(".unseen, .refusal")) unseen.remove();
  const text = cell.textContent?.replace(/\s+/g, " ").trim() ?? "";
  return text === "–" ? "" : text;
}

/** A number as a spreadsheet reads it: `1,204` as 1204. */
const asNumber = (text: string): string => (/^−?-?[\d,]+(\.\d+)?$/.test(text) ? text.replaceAll(",", "") : text);

/**
 * Draws every cell aside, also of rows that are out of sight, and writes their texts.
 * @param name of the file, without its ending
 */
export function saveTable<T>(name: string, columns: readonly Column<T>[], rows: readonly T[]): void {
  const shown = columns.filter(({ title }) => title !== "");
  const aside = document.createElement("div");
  const cellOf = (row: T, { cell, isNumber }: Column<T>): string => {
    render(<span>{cell(row)}</span>, aside);
    const text = textOf(aside);
    render(null, aside);
    return isNumber ? asNumber(text) : harmless(text);
  };
  const lines = rows.map((row) => csvLine(shown.map((column) => cellOf(row, column))));
  saveFile(`${name}.csv`, "text/csv;charset=utf-8", [csvLine(shown.map(({ title }) => title)), ...lines].join(""));
}
