// Smooth lines through figures: each piece stays between the two figures that it joins, so that no line shows what was not.

type Point = readonly [x: number, y: number];

/** How steep the curve is at each point: level at every peak and dip. */
function slopesOf(points: readonly Point[]): number[] {
  const rise = (n: number) => {
    const [from, to] = [points[n], points[n + 1]];
    return from && to ? (to[1] - from[1]) / (to[0] - from[0]) : 0;
  };
  const last = points.length - 1;
  return points.map((_, n) => {
    if (n === 0) return rise(0);
    if (n === last) return rise(last - 1);
    const [before, after] = [rise(n - 1), rise(n)];
    return before * after <= 0 ? 0 : 2 / (1 / before + 1 / after);
  });
}

/** The pieces between points whose x rise, each as the `d` of a path of its own. */
export function curveOf(points: readonly Point[]): string[] {
  const slopes = slopesOf(points);
  return points.slice(1).map(([x, y], n) => {
    const [fromX, fromY] = points[n] ?? [x, y];
    const third = (x - fromX) / 3;
    const first = [fromX + third, fromY + third * (slopes[n] ?? 0)];
    const second = [x - third, y - third * (slopes[n + 1] ?? 0)];
    return `M${[fromX, fromY].map(rounded)}C${[...first, ...second, x, y].map(rounded)}`;
  });
}

const rounded = (n: number): number => Math.round(n * 1_000) / 1_000;
