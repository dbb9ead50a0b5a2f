// The first reading of an import file: its header, the number of its rows, and the content of each column (AMB-133).
import { elementAt } from "../../../shared/rules/element-at.ts";
import { columnName, givenTargets } from "../../../shared/rules/import-mapping.ts";
import { isTitle, namesAgain, type ShownNumbers, saysWho } from "../../../shared/rules/import-names.ts";
import { type NumbersSaid, openNumbers } from "../../../shared/rules/import-plusless.ts";
import { type ColumnType, columnTypes, isWhole } from "../../../shared/rules/import-values.ts";
import { type Encoding, isNotUtf8, unreadable } from "../../../shared/store/files/encodings.ts";
import { legacyEncoding } from "../../../shared/store/files/legacy-encodings.ts";
import { MAX_TITLES, type Record, readRecords } from "../../../shared/store/files/records.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import type { ImportJob } from "../../../shared/store/subscribers/imports.ts";
import type { WorkerContext } from "./context.ts";

/** Whether a cell is data about a person. If the first line is a row, it is not shown as names of columns. */
export const namesSomebody = (cell: string): boolean => /@|\d{7}/.test(cell);

const MAX_SAMPLES = 5;

interface Survey {
  header: Record | undefined;
  /**
   * Rows that show the content of the columns: the first ones, and some later ones with a cell in a column that was
   * empty before.
   */
  samples: readonly (readonly string[])[];
  total: number;
  types: readonly ColumnType[];
  numbers: readonly ShownNumbers[];
}

/** Reads the whole file, and again if it is not UTF-8 and no encoding was given. */
export async function surveyFile(
  context: WorkerContext,
  job: ImportJob,
  encoding: Encoding | undefined,
): Promise<Survey | undefined> {
  const bytes = await context.files.read(job.id, 0);
  if (!bytes) return undefined;

  const mapped = givenTargets(job.mapping ? fromJson(job.mapping) : {});
  const survey = openSurvey(mapped, { phoneRegion: job.phone_region, region: job.region, mapped });
  try {
    for await (const record of readRecords(bytes, { encoding })) survey.see(record);
  } catch (error) {
    if (encoding !== undefined || !isNotUtf8(error)) throw error;
    const again = await context.files.read(job.id, 0);
    return again && surveyFile(context, job, await legacyEncoding(again));
  }
  return survey.end();
}

const BEGINS_AS_JSON = /^\s*(?:\{\s*"|\[\s*\{|[[{]\s*$)/;
/** Whether a line has only an address, which is not the name of a column. */
const isOnlySomebody = (cells: readonly string[]): boolean => cells.length === 1 && cells.some(namesSomebody);

/**
 * Collects the findings of a file. Its header may follow titles, and a line with a name for several columns, of which a
 * spreadsheet leaves the other cells empty.
 */
function openSurvey(mapped: ReadonlyMap<string, string>, said: NumbersSaid) {
  /** Lines that may stand above the header. */
  const above: Record[] = [];
  const isHeading = (cells: readonly string[]): boolean =>
    cells.some((cell) => cell.trim() === "") &&
    !cells.some((cell) => namesSomebody(cell) || mapped.has(columnName(cell))) &&
    !saysWho(cells);
  const mayBeAboveHeader = (cells: readonly string[]): boolean =>
    above.length < MAX_TITLES && (isTitle(cells) || isHeading(cells));
  let isBelowHeading = false;
  let rows: RowSurvey | undefined;

  const beginRows = (header: Record, read: readonly Record[]) => {
    rows = openRowSurvey(header, said);
    for (const row of read) rows.see(row);
  };

  const see = (record: Record) => {
    if (rows) return rows.see(record);

    const { cells } = record;
    if (above.length === 0 && BEGINS_AS_JSON.test(cells.join())) throw unreadable("the file is JSON, and not CSV");
    if (mayBeAboveHeader(cells)) {
      isBelowHeading ||= !isTitle(cells);
      above.push(record);
      return;
    }

    const isRow = isBelowHeading ? !saysWho(cells) : isOnlySomebody(cells);
    if (above.length === 0 || !isRow) beginRows(record, []);
    else beginRows(elementAt(above, 0), [...above.slice(1), record]);
  };

  const end = (): Survey => {
    const [header, ...read] = above;
    if (!rows && header) beginRows(header, read);
    return rows?.end() ?? { header: undefined, samples: [], total: 0, types: [], numbers: [] };
  };

  return { see, end };
}

type RowSurvey = ReturnType<typeof openRowSurvey>;

/** Collects the findings of the rows below a header. */
function openRowSurvey(header: Record, said: NumbersSaid) {
  const columns = columnTypes(header.delimiter);
  const numbers = openNumbers(header.cells, said);
  const samples: (readonly string[])[] = [];
  /** Columns without a cell in the samples. */
  let empty: readonly number[] = [...header.cells.keys()];
  let total = 0;
  /** Whether the row before is a title. */
  let isBelowTitle = false;

  const refuseNames = ({ cells, line }: Record) => {
    const again = namesAgain(cells, header.cells);
    if (again === "others" || (again === "same" && isBelowTitle))
      throw unreadable(`line ${line} names columns again: import what is below it as a file of its own`);
  };

  const see = (row: Record) => {
    refuseNames(row);

    const { cells } = row;
    isBelowTitle = isTitle(cells);
    total++;
    // The cells of a row with the wrong number of cells may belong to other columns.
    const ownCells = isWhole(cells, header.cells.length);
    const isFilled = (column: number) => (cells[column] ?? "").trim() !== "";
    if (total === 1 || (ownCells && samples.length < MAX_SAMPLES && empty.some(isFilled))) {
      samples.push(cells);
      empty = empty.filter((column) => !isFilled(column));
    }
    if (!ownCells) return;
    columns.see(cells);
    numbers.see(cells);
  };

  const end = (): Survey => ({ header, samples, total, types: columns.types(), numbers: numbers.shown() });

  return { see, end };
}
