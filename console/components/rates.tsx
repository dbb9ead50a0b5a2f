// The key figures of a report: each rate with what it is a share of, and its course by day.
import type { ComponentChildren } from "preact";
import { curveOf } from "../app/curve.ts";

interface Rate {
  label: string;
  value: ComponentChildren;
  /** What it is a share of, or what it counts. */
  base: ComponentChildren;
  /** By day. */
  course?: readonly number[] | undefined;
}

export const Rates = ({ of }: { of: readonly (Rate | false)[] }) => (
  <ul class="rates">
    {of.map(
      (rate) =>
        rate && (
          <li key={rate.label}>
            <span class="rate-label">{rate.label}</span>
            <b class="rate-value">{rate.value}</b>
            <span class="dim">{rate.base}</span>
            {rate.course && <Spark values={rate.course} />}
          </li>
        ),
    )}
  </ul>
);

interface SparkProps {
  /** By day. */
  values: readonly number[];
}

const WIDTH = 72;
const HEIGHT = 20;
const EDGE = 2;

export function Spark({ values }: SparkProps) {
  const top = Math.max(...values);
  if (values.length < 2 || top <= 0) return null;
  const x = (n: number) => EDGE + ((WIDTH - 2 * EDGE) * n) / (values.length - 1);
  const y = (value: number) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * value) / top;
  const last = values.length - 1;
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={curveOf(values.map((value, n) => [x(n), y(value)])).join("")} />
      <circle cx={x(last)} cy={y(values[last] ?? 0)} r="2" />
    </svg>
  );
}
