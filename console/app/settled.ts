// A debounced value: a request follows when the typing ends.
import { useEffect, useMemo, useState } from "preact/hooks";

/** The value after it has not changed for a while. */
export function useSettled<T>(value: T | undefined, ms: number): T | undefined {
  const text = JSON.stringify(value);
  const [settled, setSettled] = useState<string | undefined>(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), ms);
    return () => clearTimeout(timer);
  }, [text]);
  return useMemo(() => (settled === undefined ? undefined : (JSON.parse(settled) as T)), [settled]);
}
