// What is written in an editor stays in its tab until the service has accepted it: over a reload, another page, a lost session.
import { useState } from "preact/hooks";
import { place } from "./router.ts";
import { me } from "./session.ts";

interface Kept<T> {
  value: T;
  keep(next: T): void;
  set(part: Partial<T>): void;
  /** Once it is accepted: nothing is stored any more. */
  drop(): void;
  /** Gives up what was written. */
  discard(): void;
}

/** @param name unique among the editors of a workspace; @param start what the editor begins with. */
export function useKept<T extends object>(name: string, start: () => T): Kept<T> {
  const key = `draft.${place.value.tenant}.${me.value?.user.id}.${name}`;
  const [value, setValue] = useState<T>(() => ({ ...start(), ...read<T>(key) }));
  const keep = (next: T) => {
    sessionStorage.setItem(key, JSON.stringify(next));
    setValue(next);
  };
  const set = (part: Partial<T>) => keep({ ...value, ...part });
  const drop = () => sessionStorage.removeItem(key);
  const discard = () => {
    drop();
    setValue(start());
  };
  return { value, keep, set, drop, discard };
}

function read<T>(key: string): Partial<T> {
  const stored = sessionStorage.getItem(key);
  return stored ? (JSON.parse(stored) as Partial<T>) : {};
}
