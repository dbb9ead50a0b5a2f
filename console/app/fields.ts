// Inputs by the names of what they change: each has its value, its change, and what the API says is wrong at its path.
import { useState } from "preact/hooks";
import type { RunningAction } from "./action.ts";

interface Field<V> {
  value: V;
  onInput: (value: V) => void;
  fault: string | undefined;
}

export interface Fields<T> {
  values: T;
  set(part: Partial<T>): void;
  /** The props of an input; the API calls what it changes by the path, where it has another name there. */
  field<K extends keyof T & string>(name: K, path?: string): Field<T[K]>;
  faultAt(path: string): string | undefined;
  /** Paths with an input, which says what is wrong at them. */
  placed: ReadonlySet<string>;
}

/** @param values kept elsewhere; @param faults what the API says is wrong, by path */
export function fieldsOf<T extends object>(
  values: T,
  set: (part: Partial<T>) => void,
  faults: Readonly<Record<string, string>> = {},
): Fields<T> {
  const placed = new Set<string>();
  const faultAt = (path: string) => {
    placed.add(path);
    return faults[path];
  };
  const field = <K extends keyof T & string>(name: K, path: string = name): Field<T[K]> => ({
    value: values[name],
    // A name of a part with its value is a part, hence the cast.
    onInput: (value) => set({ [name]: value } as unknown as Partial<T>),
    fault: faultAt(path),
  });
  return { values, set, field, faultAt, placed };
}

/** What a form asks for, from what it begins with. */
export function useFields<T extends object>(
  start: T | (() => T),
  action: RunningAction,
): Fields<T> & { action: RunningAction } {
  const [values, setValues] = useState<T>(start);
  // Browsers fill several inputs at once.
  const set = (part: Partial<T>) => setValues((old) => ({ ...old, ...part }));
  return { ...fieldsOf(values, set, action.error?.fields), action };
}
