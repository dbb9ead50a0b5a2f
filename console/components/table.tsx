// Tables of objects: columns by name, rows that `j`, `k` and Enter move through, and a button for the next page.
import { type ComponentChildren, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { csvLine } from "../../shared/rules/csv.ts";
import { pathTo, place } from "../app/router.ts";
import { type MoreRows, PAGE_SIZE, pageNumber } from "../app/rows.ts";
import { saveFile } from "../app/save-file.ts";
import { plural } from "../app/time.ts";
import { Button } from "./button.tsx";
import { MAX_ROWS, useRowWindow } from "./row-window.ts";

/** The next page is loaded when the end of the table is this close to the browser window. */
const AHEAD = "600px";

export interface Column<T> {
  title: string;
  /** Aligned to the right, with tabular figures. */
  isNumber?: boolean;
  /** Left out in the window of a phone. */
  isMinor?: boolean;
  /** Words of the console's own, which are not broken. */
  isWord?: boolean;
  /** Whether a row has something there; the column is left out while none has. */
  has?: (row: T) => boolean;
  cell: (row: T) => ComponentChildren;
}

interface TableProps<T> {
  /** What the rows are, for readers of screens. */
  caption: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  keyOf: (row: T) => string;
  /** The first column links there. */
  hrefOf?: (row: T) => string;
  selected?: string | undefined;
  /** The name of the CSV file that holds the rows; without it there is none. */
  csv?: string | undefined;
}

const classOf = ({ isNumber, isMinor, isWord }: Column<never>): string =>
  [isNumber && "num", isMinor && "minor", isWord && "word"].filter(Boolean).join(" ");

export function Table<T>({ caption, rows, columns: all, keyOf, hrefOf, selected, csv }: TableProps<T>) {
  const body = useRef<HTMLTableSectionElement>(null);
  const { from, to, above, below } = useRowWindow(rows.length, body);
  const isLong = rows.length > MAX_ROWS;
  const columns = all.filter(({ has }) => !has || rows.some(has));
  const table = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than the page is scrolled by keyboard
    <section class="table-wrap" aria-label={caption} tabIndex={0}>
      <table aria-rowcount={isLong ? rows.length + 1 : undefined}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={classOf(column)}>
                {column.title || <span class="unseen">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {isLong && <Space key="above" height={above} columns={columns.length} />}
          {rows.slice(from, to).map((row, n) => (
            <tr
              key={keyOf(row)}
              class={selected === keyOf(row) ? "is-selected" : undefined}
              aria-rowindex={isLong ? from + n + 2 : undefined}
            >
              {columns.map((column, n) => (
                <td key={column.title} class={classOf(column)}>
                  {n === 0 && hrefOf ? (
                    <a href={hrefOf(row)} data-row aria-current={selected === keyOf(row) ? "true" : undefined}>
                      {column.cell(row)}
                    </a>
                  ) : (
                    column.cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
          {isLong && <Space key="below" height={below} columns={columns.length} />}
        </tbody>
      </table>
    </section>
  );
  if (!csv) return table;
  return (
    <>
      {table}
      <p class="table-foot">
        <Button
          kind="quiet"
          icon="export"
          label={`Download ${caption} as CSV`}
          onClick={() => saveTable(csv, all, rows)}
        >
          CSV
        </Button>
      </p>
    </>
  );
}

/** What a chart draws, as figures: made when it is opened, for a chart is drawn anew with each read-out. */
export function AsTable<T>(props: TableProps<T>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>As a table</summary>
      {isOpen && <Table {...props} />}
    </details>
  );
}

/** Blank space for the rows that are not in the document. */
const Space = ({ height, columns }: { height: number; columns: number }) => (
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: nothing in it takes the focus
  <tr class="blank" aria-hidden="true">
    <td colSpan={columns} style={{ height: `${height}px` }} />
  </tr>
);

/** A button for the next page. After the first press, further pages load as the end of the table comes near. */
export function More({ cursor, isLoading, load }: MoreRows) {
  const end = useRef<HTMLDivElement>(null);
  const [isFollowing, setFollowing] = useState(false);
  useEffect(() => {
    if (!isFollowing || !end.current) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!isLoading && entries.some(({ isIntersecting }) => isIntersecting)) load();
      },
      { rootMargin: AHEAD },
    );
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [isFollowing, cursor]);
  if (!cursor) return null;
  const press = () => {
    setFollowing(true);
    load();
  };
  return (
    <div class="more" ref={end}>
      <Button isBusy={isLoading} onClick={press}>
        Show more
      </Button>
    </div>
  );
}

/** Links to the pages of a numbered list; the number is in the address. */
export function Pager({ total, what }: { total: number; what: string }) {
  const { page: name, parts, query } = place.value;
  const page = pageNumber();
  if (total <= PAGE_SIZE) return null;
  const to = (n: number) => pathTo(name, parts.join("/"), { ...Object.fromEntries(query), page: String(n) });
  return (
    <nav class="more actions" aria-label="Pages">
      {page > 1 && <a href={to(page - 1)}>Newer</a>}
      <span class="dim">{plural(total, what)}</span>
      {page * PAGE_SIZE < total && <a href={to(page + 1)}>Older</a>}
    </nav>
  );
}

/** What a cell says in words; only what is for readers of screens is left out. */
function textOf(drawn: Element): string {
  const cell = drawn.cloneNode(true) as Element;
  for (const one of cell.querySelectorAll("time[datetime], data"))
    one.textContent = one.getAttribute("datetime") ?? one.getAttribute("value");
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
function saveTable<T>(name: string, columns: readonly Column<T>[], rows: readonly T[]): void {
  const shown = columns.filter(({ title }) => title !== "");
  const aside = document.createElement("div");
  const cellOf = (row: T, { cell, isNumber }: Column<T>): string => {
    render(<span>{cell(row)}</span>, aside);
    const text = textOf(aside);
    render(null, aside);
    return isNumber ? asNumber(text) : text;
  };
  const lines = rows.map((row) => csvLine(shown.map((column) => cellOf(row, column))));
  saveFile(`${name}.csv`, "text/csv;charset=utf-8", [csvLine(shown.map(({ title }) => title)), ...lines].join(""));
}
