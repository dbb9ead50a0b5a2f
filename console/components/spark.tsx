// The course of one figure over days, as a small line beside it. The chart and its table say the same in numbers.
import { curveOf } from "../app/curve.ts";

interface SparkProps {
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
