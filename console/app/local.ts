// The control surface of a local service: reads that repeat, and calls with their error.
import { useCallback, useEffect, useState } from "preact/hooks";
import { local, sentenceOf } from "./session.ts";

interface LocalRead<T> {
  data: T | undefined;
  /** In one sentence. */
  error: string | undefined;
  refresh(): void;
}

/** Reads a control call, such as `clock`, and again every so many milliseconds while the page is seen. */
export function useLocal<T>(path: string, everyMs: number): LocalRead<T> {
  const [state, setState] = useState<{ data: T | undefined; error: string | undefined }>({
    data: undefined,
    error: undefined,
  });
  const refresh = useCallback(
    () =>
      // What a control call answers is documented in docs/local.md, hence the cast.
      local(path).then(
        (data) => setState({ data: data as T, error: undefined }),
        (cause: unknown) => setState((old) => ({ ...old, error: sentenceOf(cause) })),
      ),
    [path],
  );
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => !document.hidden && void refresh(), everyMs);
    return () => clearInterval(timer);
  }, [refresh, everyMs]);
  return { ...state, refresh: () => void refresh() };
}

/** Calls that change something. @returns undefined if the call was refused; `error` says why. */
export function useLocalCall() {
  const [state, setState] = useState<{ isBusy: boolean; error: string | undefined }>({
    isBusy: false,
    error: undefined,
  });
  const run = async <T>(path: string, body?: object, method?: "DELETE"): Promise<{ answer: T } | undefined> => {
    setState({ isBusy: true, error: undefined });
    try {
      const answer = (await local(path, body, method)) as T;
      setState({ isBusy: false, error: undefined });
      return { answer };
    } catch (cause) {
      setState({ isBusy: false, error: sentenceOf(cause) });
      return undefined;
    }
  };
  return { ...state, run };
}
