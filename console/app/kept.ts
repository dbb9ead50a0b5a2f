// Drafts: an editor's text is kept in its tab until the service has accepted it, over a reload, another page or a lost session.
import { useRef, useState } from "preact/hooks";
import { isSame } from "./merge.ts";
import { place } from "./router.ts";
import { me } from "./session.ts";
import { store, stored } from "./stored.ts";
import { say } from "./toast.ts";

interface Pair<T> {
  value: T;
  /** What the first change was made to: others may have saved since. */
  begun: T;
}

interface KeptDraft<T> extends Pair<T> {
  set(part: Partial<T>): void;
  /** Removes it from storage. */
  drop(): void;
  /** It was saved, under its new name if it is new. @returns a sentence about text written meanwhile, which is kept */
  accepted(as?: string): string;
  /** Gives up what was written. */
  discard(): void;
}

/** The person is told once that nothing can be kept. */
let isTold = false;

/** @param name unique among the editors of a workspace; @param start what the editor begins with. */
export function useKept<T extends object>(name: string, start: () => T): KeptDraft<T> {
  const keyOf = (one: string) => `kept.${place.value.tenant}.${me.value?.user.id}.${one}`;
  const key = keyOf(name);
  const [pair, setPair] = useState(() => read(key, start()));
  const latest = useRef(pair);
  const hold = (next: Pair<T>) => {
    latest.current = next;
    setPair(next);
  };
  const keep = (next: Pair<T>, at = key) => {
    const isKept = store("sessionStorage", at, JSON.stringify(next));
    if (!isKept && !isTold) say("This browser has no room left: what you write is lost if you reload the page.");
    isTold ||= !isKept;
    hold(next);
  };
  const set = (part: Partial<T>) => keep({ ...latest.current, value: { ...latest.current.value, ...part } });
  const drop = () => void store("sessionStorage", key, undefined);
  const accepted = (as = name) => {
    const { value } = latest.current;
    const isLater = !isSame(value, pair.value);
    drop();
    if (isLater) keep({ value, begun: pair.value }, keyOf(as));
    else hold({ value, begun: value });
    return isLater ? " What you wrote since is not." : "";
  };
  const discard = () => {
    const begun = start();
    drop();
    hold({ value: begun, begun });
  };
  return { ...pair, set, drop, accepted, discard };
}

function read<T extends object>(key: string, begun: T): Pair<T> {
  const text = stored("sessionStorage", key);
  if (!text) return { value: begun, begun };
  const pair = JSON.parse(text) as Pair<T>;
  const value = { ...begun, ...pair.value };
  // JSON drops undefined fields: one that is missing was made undefined.
  for (const name in pair.begun) if (!(name in pair.value)) delete value[name];
  return { ...pair, value };
}
