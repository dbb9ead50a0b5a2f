// A list that grows page by page: the first page is a cached read, the others are added on demand.
import { useEffect, useState } from "preact/hooks";
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

export function usePages<O extends Operation>(
  operation: O,
  given: (cursor?: string) => NoInfer<ArgumentsOf<O>>,
  options: { every?: number | undefined; when?: boolean } = {},
): Pages<O> {
  const first = useQuery(operation, given(), options);
  const [more, setMore] = useState<readonly AnswerOf<O>[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const key = JSON.stringify(given());
  useEffect(() => setMore([]), [key]);
  const load = async (cursor: string) => {
    setLoading(true);
    setError(undefined);
    try {
      const page = await call(operation, given(cursor));
      setMore((known) => [...known, page]);
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setLoading(false);
    }
  };
  const pages = first.data === undefined ? [] : [first.data, ...more];
  return { first, pages, isLoading, error, load: (cursor) => void load(cursor) };
}
