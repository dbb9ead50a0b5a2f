// Which rows of a long table are in the document: those in sight and some around them. Blank space stands for the others.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows that are in the document at once, in a browser window of usual height. A shorter table is there as a whole. */
export const MAX_ROWS = 60;
/** Rows beyond those in sight, at each end, in a very high browser window. */
const MIN_AROUND = 6;
/** Until rows were measured, in pixels. */
const USUAL_HEIGHT = 37;

interface RowWindow {
  /** The first row in the document, and the one after the last. */
  from: number;
  to: number;
  /** The height of the rows before and after, in pixels. */
  above: number;
  below: number;
}

interface RowHeights {
  /** By row; 0 for a row that was not in the document yet. */
  heights: number[];
  /** Assumed for rows that were not measured: the mean of the first ones. A new mean would move all rows. */
  usual: number | undefined;
}

const unmeasured = (): RowHeights => ({ heights: [], usual: undefined });

/** @param body holds the rows of the window, between two rows of blank space if `count` is above `MAX_ROWS` */
export function useRowWindow(count: number, body: RefObject<HTMLTableSectionElement | null>): RowWindow {
  const measured = useRef(unmeasured());
  const look = useRef<(() => void) | undefined>(undefined);
  const [from, setFrom] = useState(0);
  const [size, setSize] = useState(MAX_ROWS);
  const isLong = count > MAX_ROWS;
  // Other rows may have taken the place of those that were measured.
  if (measured.current.heights.length > count) measured.current = unmeasured();
  const first = isLong ? Math.min(from, count - 1) : 0;
  const to = isLong ? Math.min(count, first + size) : count;

  useLayoutEffect(() => {
    if (!isLong || !body.current) return;
    const rows = [...body.current.rows].slice(1, -1).map((row) => row.offsetHeight);
    const { heights } = measured.current;
    for (let n = heights.length; n < count; n++) heights[n] = 0;
    measured.current.usual ??= rows.reduce((sum, height) => sum + height, 0) / rows.length || undefined;
    const isNews = rows.some((height, n) => heights[first + n] !== height);
    for (const [n, height] of rows.entries()) heights[first + n] = height;
    if (isNews) look.current?.();
  });

  useEffect(() => {
    if (!isLong) return;
    let frame = 0;
    const choose = () => {
      frame = 0;
      if (!body.current) return;
      const { top } = body.current.getBoundingClientRect();
      const firstSeen = rowAt(measured.current, count, -top);
      const seen = rowAt(measured.current, count, innerHeight - top) - firstSeen + 1;
      const around = Math.max(MIN_AROUND, Math.floor((MAX_ROWS - seen) / 2));
      setFrom(Math.max(0, firstSeen - around));
      setSize(seen + 2 * around);
    };
    const later = () => {
      frame ||= requestAnimationFrame(choose);
    };
    const forget = () => {
      measured.current = unmeasured();
      later();
    };
    look.current = later;
    // Whatever holds the table may be scrolled: the event does not bubble.
    document.addEventListener("scroll", later, { capture: true, passive: true });
    addEventListener("resize", forget);
    choose();
    return () => {
      look.current = undefined;
      cancelAnimationFrame(frame);
      document.removeEventListener("scroll", later, { capture: true });
      removeEventListener("resize", forget);
    };
  }, [count, isLong]);

  if (!isLong) return { from: 0, to: count, above: 0, below: 0 };
  return { from: first, to, above: heightOf(measured.current, 0, first), below: heightOf(measured.current, to, count) };
}

/** Of rows from one to before another, in pixels. */
function heightOf({ heights, usual = USUAL_HEIGHT }: RowHeights, from: number, to: number): number {
  let sum = 0;
  for (let row = from; row < to; row++) sum += heights[row] || usual;
  return sum;
}

/** The row at a distance from the top of the first one. */
function rowAt({ heights, usual = USUAL_HEIGHT }: RowHeights, count: number, distance: number): number {
  let row = 0;
  for (let end = heights[0] || usual; end <= distance && row < count - 1; end += heights[row] || usual) row++;
  return row;
}
