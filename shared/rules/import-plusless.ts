// What the rows of a file show of the numbers without a plus in a column: whether they are international ones that lack it, or
// numbers within their country (AMB-133, docs/decisions/0142). One of them may be both; the others say which it is.
import { textOf } from "./import-cells.ts";
import { columnName } from "./import-mapping.ts";
import {
  bareName,
  channelOfNumbers,
  columnKey,
  isCountryColumn,
  isLikePhone,
  rankOf,
  type ShownNumbers,
} from "./import-names.ts";
import { shownBy } from "./import-phones.ts";
import { regionOf } from "./import-places.ts";

interface Shown {
  abroad: number;
  within: number;
  /** Cells that look like such a number. */
  seen: number;
}

/** Nine in ten say for all. */
const MOST = 9;
/** So many cells are all looked at; of those behind them, one in so many. */
const EACH = 2_000;
const ONE_IN = 64;

const LOOKS_LIKE_ONE = /^\D{0,3}[1-9][\d\s().-]{6,20}$/;

export interface NumbersSaid {
  /** Which region the numbers of a row are of: what the caller says, else its country, else that of the workspace. */
  phoneRegion?: string | undefined;
  region?: string | undefined;
  /** What the caller says that columns hold, by their names. */
  mapped?: ReadonlyMap<string, string> | undefined;
}

/** Ids and times look like numbers too, and each costs as much: a file may have a thousand columns of them. */
const holdsNumbers = (name: string): boolean =>
  name.trim() === "" ||
  isLikePhone(name) ||
  channelOfNumbers(name) !== undefined ||
  rankOf("phone", columnKey(bareName(name))) !== undefined;

/** Looks at the rows of a file, one after the other. */
export function openNumbers(
  header: readonly string[],
  { phoneRegion, region, mapped }: NumbersSaid,
): { see(row: readonly string[]): void; shown(): ShownNumbers[] } {
  const columns = header.map((): Shown => ({ abroad: 0, within: 0, seen: 0 }));
  const isLooked = header.map((name) => holdsNumbers(name) || mapped?.get(columnName(name)) === "phone");
  const countries = header.flatMap((name, i) => (isCountryColumn(name) ? [i] : []));
  const regionOfRow = (row: readonly string[]): string | undefined => {
    const country = countries.map((i) => textOf(row[i] ?? "")).find((text) => text !== "");
    return phoneRegion ?? (country === undefined ? region : regionOf(country));
  };

  const see = (row: readonly string[]) => {
    for (const [i, column] of columns.entries()) {
      const cell = row[i] ?? "";
      if (!isLooked[i] || !LOOKS_LIKE_ONE.test(cell)) continue;
      column.seen++;
      if (column.seen > EACH && column.seen % ONE_IN !== 0) continue;
      const shown = shownBy(textOf(cell), regionOfRow(row));
      if (shown) column[shown]++;
    }
  };

  return { see, shown: () => columns.map(shownIn) };
}

function shownIn({ abroad, within }: Shown): ShownNumbers {
  if (abroad > 0 && abroad >= within * MOST) return "most";
  return within > 0 && within >= abroad * MOST ? "within" : null;
}
