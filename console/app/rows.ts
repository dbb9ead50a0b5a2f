// The rows of a list: all in one answer, page by page, or by the number of a page.
import { useEffect, useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { type AnswerOf, type ArgumentsOf, call, type Operation } from "./api.ts";
import { type Query, type ReadOptions, useQuery } from "./query.ts";
import { place, setQuery } from "./router.ts";

export interface Rows<T> {
  first: Query<unknown>;
  /** The rows of all pages that were read. */
  items: readonly T[];
  /** The further rows, if the list grows page by page. */
  more?: MoreRows;
  /** Of a numbered list: how many there are on all its pages. */
  total?: number | undefined;
}

export interface MoreRows {
  /** Empty at the end. */
  cursor: string;
  isLoading: boolean;
  error: ServiceError | undefined;
  load(): void;
}

type RowsOf<O extends Operation, T> = (answer: AnswerOf<O>) => readonly T[];

/** A list that one answer holds. */
export function useRows<O extends Operation, T>(
  operation: O,
  given: NoInfer<ArgumentsOf<O>>,
  rowsOf: RowsOf<O, T>,
  options?: ReadOptions<AnswerOf<O>>,
): Rows<T> {
  const first = useQuery(operation, given, options);
  return { first, items: first.data === undefined ? [] : rowsOf(first.data) };
}

/** Rows on a page of a numbered list. */
export const PAGE_SIZE = 50;
/** As the address says. */
export const pageNumber = (): number => Math.max(1, Number(place.value.query.get("page") ?? 1) || 1);

export function useNumbered<O extends Operation, T>(
  operation: O,
  given: NoInfer<ArgumentsOf<O>>,
  rowsOf: RowsOf<O, T>,
  options?: ReadOptions<AnswerOf<O>>,
): Rows<T> {
  const rows = useRows(operation, given, rowsOf, options);
  const total = Number(partOf(rows.first.data, "total") ?? 0);
  const last = Math.ceil(total / PAGE_SIZE);
  // What stood on the last page alone is gone.
  useEffect(() => {
    if (last > 0 && rows.items.length === 0) setQuery({ page: last > 1 ? String(last) : undefined });
  }, [rows.first.data]);
  return { ...rows, total };
}

const partOf = (answer: unknown, name: string): unknown => (Object(answer) as Record<string, unknown>)[name];
/** Whether a list goes on after its first page. @param count on that page */
export const goesOn = (first: unknown, count: number): boolean =>
  cursorOf(first) !== "" || Number(partOf(first, "total") ?? 0) > count;

const cursorOf = (page: unknown): string => String(partOf(page, "next_cursor") ?? "");

/** The query of a list is the last argument of its operation, hence the cast. */
const after = <O extends Operation>(given: ArgumentsOf<O>, cursor: string): ArgumentsOf<O> => {
  const all: readonly unknown[] = given;
  return [...all.slice(0, -1), { ...(all.at(-1) as object), cursor }] as ArgumentsOf<O>;
};

/**
 * A list that grows page by page: the first page is a cached read, the others are added on demand.
 * @param given with the query of the list, also where it is empty
 */
export function usePages<O extends Operation, T>(
  operation: O,
  given: NoInfer<ArgumentsOf<O>>,
  rowsOf: RowsOf<O, T>,
  { every, ...options }: ReadOptions<AnswerOf<O>> = {},
): Rows<T> & { first: Query<AnswerOf<O>>; more: MoreRows } {
  const key = JSON.stringify(given);
  const [added, setAdded] = useState({ key, pages: [] as readonly AnswerOf<O>[] });
  const further = added.key === key ? added.pages : [];
  // A first page that is polled may end earlier than before, and rows between it and the further pages would be missing.
  const first = useQuery(operation, given, { ...options, every: further.length > 0 ? undefined : every });
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const pages = first.data === undefined ? [] : [first.data, ...further];
  /** Reads so many pages that follow these. */
  const read = async (known: readonly AnswerOf<O>[], count: number) => {
    setLoading(true);
    setError(undefined);
    try {
      const all = [...known];
      for (let n = 0; n < count && cursorOf(all.at(-1)); n++)
        all.push(await call(operation, after<O>(given, cursorOf(all.at(-1)))));
      setAdded({ key, pages: all.slice(1) });
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setLoading(false);
    }
  };
  // What was changed or removed may stand on any of them.
  useEffect(() => {
    if (further.length > 0) void read(pages.slice(0, 1), further.length);
  }, [first.at]);
  const more = { cursor: cursorOf(pages.at(-1)), isLoading, error, load: () => void read(pages, 1) };
  return { first, items: pages.flatMap(rowsOf), more };
}
