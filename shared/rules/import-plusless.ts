// Evidence about the numbers without a plus in a column: whether they are international ones that lack it, or national
// ones (AMB-133, docs/decisions/0142). A single number may be both; the others tell which.
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

/** Nine in ten decide for all. */
const MOST = 9;
/** The first cells are all checked; later ones only one in this many. */
const EACH = 2_000;
const ONE_IN = 64;

const LOOKS_LIKE_ONE = /^\D{0,3}[1-9][\d\s().-]{6,20}$/;

export interface NumbersSaid {
  /** The region of a row's numbers: the caller's, else that of its country, else the workspace's. */
  phoneRegion?: string | undefined;
  region?: string | undefined;
  /** The caller's meanings of columns, by name. */
  mapped?: ReadonlyMap<string, string> | undefined;
}

/** Ids and times look like numbers too, and cost as much to check: a file may have a thousand such columns. */
const holdsNumbers = (name: string): boolean =>
  name.trim() === "" ||
  isLikePhone(name) ||
  channelOfNumbers(name) !== undefined ||
  rankOf("phone", columnKey(bareName(name))) !== undefined;

/** Checks the rows of a file one after the other. */
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
