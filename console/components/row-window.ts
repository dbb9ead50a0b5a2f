// Which rows of a long table are in the document: those in sight and some around them. Others are blank room of their height.
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Rows that are in the document at once, in a window of usual height. A table of no more has all of them. */
export const MAX_ROWS = 60;
/** Beyond what is in sight, at each end, where the window is so high that there is no room for more. */
const MIN_AROUND = 6;
/** Until a row was measured. */
const USUAL_HEIGHT = 37;

export interface RowWindow {
  /** The first row in the document, and the one after the last. */
  from: number;
  to: number;
  /** The room of the rows before and after, in pixels. */
  above: number;
  below: number;
}

/** @param body holds the rows of the window, between two rows of blank room if `count` is above `MAX_ROWS` */
export function useRowWindow(count: number, body: RefObject<HTMLTableSectionElement | null>): RowWindow {
  /** By row; 0 where it was not in the document yet. */
  const heights = useRef<number[]>([]);
  const [from, setFrom] = useState(0);
  const [size, setSize] = useState(MAX_ROWS);
  const isLong = count > MAX_ROWS;
  // Other rows may have taken the place of those that were measured.
  if (heights.current.length > count) heights.current = [];
  const first = isLong ? Math.min(from, count - 1) : 0;
  const to = isLong ? Math.min(count, first + size) : count;

  useLayoutEffect(() => {
    if (!isLong) return;
    const rows = [...(body.current?.rows ?? [])].slice(1, -1);
    for (let n = heights.current.length; n < count; n++) heights.current[n] = 0;
    for (const [n, row] of rows.entries()) heights.current[first + n] = row.offsetHeight;
  });

  useEffect(() => {
    if (!isLong) return;
    let frame = 0;
    const look = () => {
      frame = 0;
      if (!body.current) return;
      const { top } = body.current.getBoundingClientRect();
      const heightOf = heightsOf(heights.current);
      const firstSeen = rowAt(heightOf, count, -top);
      const seen = rowAt(heightOf, count, innerHeight - top) - firstSeen + 1;
      const around = Math.max(MIN_AROUND, Math.floor((MAX_ROWS - seen) / 2));
      setFrom(Math.max(0, firstSeen - around));
      setSize(seen + 2 * around);
    };
    const later = () => {
      frame ||= requestAnimationFrame(look);
    };
    const forget = () => {
      heights.current = [];
      later();
    };
    // Whatever holds the table may be scrolled: the event does not bubble.
    document.addEventListener("scroll", later, { capture: true, passive: true });
    addEventListener("resize", forget);
    look();
    return () => {
      cancelAnimationFrame(frame);
      document.removeEventListener("scroll", later, { capture: true });
      removeEventListener("resize", forget);
    };
  }, [count, isLong]);

  if (!isLong) return { from: 0, to: count, above: 0, below: 0 };
  const heightOf = heightsOf(heights.current);
  return { from: first, to, above: sumOf(heightOf, 0, first), below: sumOf(heightOf, to, count) };
}

/** Rows that were not measured count as the mean of those that were. */
function heightsOf(heights: readonly number[]): (row: number) => number {
  const known = heights.filter((height) => height > 0);
  const mean = known.length > 0 ? known.reduce((sum, height) => sum + height, 0) / known.length : USUAL_HEIGHT;
  return (row) => heights[row] || mean;
}

function sumOf(heightOf: (row: number) => number, from: number, to: number): number {
  let sum = 0;
  for (let row = from; row < to; row++) sum += heightOf(row);
  return sum;
}

/** The row at a distance from the top of the first one. */
function rowAt(heightOf: (row: number) => number, count: number, distance: number): number {
  let row = 0;
  for (let below = heightOf(0); below <= distance && row < count - 1; below += heightOf(row)) row++;
  return row;
}
