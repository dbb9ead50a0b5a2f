// Tables of objects: columns by name, rows that `j`, `k` and Enter move through, and a button for the next page.
import type { ComponentChildren } from "preact";
import { Button } from "./button.tsx";

export interface Column<T> {
  title: string;
  /** Aligned to the right, with tabular figures. */
  isNumber?: boolean;
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
}

export function Table<T>({ caption, rows, columns, keyOf, hrefOf, selected }: TableProps<T>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than the page is scrolled by keyboard
    <section class="table-wrap" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" class={isNumber ? "num" : undefined}>
                {title || <span class="unseen">Actions</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} class={selected === keyOf(row) ? "is-selected" : undefined}>
              {columns.map(({ title, isNumber, cell }, n) => (
                <td key={title} class={isNumber ? "num" : undefined}>
                  {n === 0 && hrefOf ? (
                    <a href={hrefOf(row)} data-row aria-current={selected === keyOf(row) ? "true" : undefined}>
                      {cell(row)}
                    </a>
                  ) : (
                    cell(row)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export function More({
  cursor,
  isLoading,
  load,
}: {
  cursor: string;
  isLoading: boolean;
  load: (cursor: string) => void;
}) {
  if (!cursor) return null;
  return (
    <div class="more">
      <Button isBusy={isLoading} onClick={() => load(cursor)}>
        Show more
      </Button>
    </div>
  );
}
