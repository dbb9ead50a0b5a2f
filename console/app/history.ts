// What was changed, to be undone and done again.
import { useRef, useState } from "preact/hooks";

/** The keys of the buttons that do it. */
export const UNDO = "Control+Z";
export const REDO = "Control+Shift+Z";

const MAX = 100;
/** Typing without a pause is one change. */
const PAUSE_MS = 600;
const LONG_AGO = Number.NEGATIVE_INFINITY;

interface History<T> {
  change: (next: T) => void;
  undo: (() => void) | undefined;
  redo: (() => void) | undefined;
  /** The next change is one of its own. */
  pause: () => void;
}

export function useHistory<T>(value: T, onInput: (value: T) => void): History<T> {
  const [past, setPast] = useState<readonly T[]>([]);
  const [future, setFuture] = useState<readonly T[]>([]);
  const changedAt = useRef(LONG_AGO);
  const change = (next: T) => {
    if (performance.now() - changedAt.current > PAUSE_MS) setPast([...past.slice(1 - MAX), value]);
    changedAt.current = performance.now();
    setFuture([]);
    onInput(next);
  };
  const pause = () => {
    changedAt.current = LONG_AGO;
  };
  const [before, after] = [past.at(-1), future.at(-1)];
  const move = (to: T, back: readonly T[], ahead: readonly T[]) => {
    setPast(back);
    setFuture(ahead);
    pause();
    onInput(to);
  };
  return {
    change,
    pause,
    undo: before === undefined ? undefined : () => move(before, past.slice(0, -1), [...future, value]),
    redo: after === undefined ? undefined : () => move(after, [...past, value], future.slice(0, -1)),
  };
}
