// A list that grows page by page: the first page is a cached read, the others are added on demand.
import { useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { type AnswerOf, type ArgumentsOf, call, type Operation } from "./api.ts";
import { type Query, useQuery } from "./query.ts";

export interface Pages<O extends Operation> {
  first: Query<AnswerOf<O>>;
  /** All pages that were read, the first one included. */
  pages: readonly AnswerOf<O>[];
  isLoading: boolean;
  error: ServiceError | undefined;
  load(cursor: string): void;
}

const cursorOf = (page: unknown): unknown =>
  typeof page === "object" && page && "next_cursor" in page ? page.next_cursor : undefined;

export function usePages<O extends Operation>(
  operation: O,
  given: (cursor?: string) => NoInfer<ArgumentsOf<O>>,
  options: { every?: number | undefined; when?: boolean } = {},
): Pages<O> {
  const [added, setAdded] = useState<readonly AnswerOf<O>[]>([]);
  // A first page that is polled may end earlier than before, and rows between it and the added pages would be missing.
  const first = useQuery(operation, given(), { ...options, every: added.length > 0 ? undefined : options.every });
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const key = JSON.stringify([given(), cursorOf(first.data)]);
  /** The list that is shown now: a page that was asked for before it changed is dropped. */
  const shown = useRef(key);
  shown.current = key;
  useEffect(() => setAdded([]), [key]);
  const load = async (cursor: string) => {
    setLoading(true);
    setError(undefined);
    try {
      const page = await call(operation, given(cursor));
      if (shown.current === key) setAdded((pages) => [...pages, page]);
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setLoading(false);
    }
  };
  const pages = first.data === undefined ? [] : [first.data, ...added];
  return { first, pages, isLoading, error, load: (cursor) => void load(cursor) };
}
