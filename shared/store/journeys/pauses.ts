// The pauses of a journey: the time of its runs stops with it (AMB-136).

/** In milliseconds: the total, and the last pause. */
export interface Pauses {
  total: number;
  from: number;
  to: number;
}

/** The pauses of a journey, one of which has just ended. */
export const withPause = (former: Pauses | undefined, from: number, to: number): Pauses => ({
  total: (former?.total ?? 0) + Math.max(0, to - from),
  from,
  to,
});

/** The total of a journey's pauses until a time. Of pauses before the last one only the sum is known. */
export function pausedUntil(pauses: Pauses | undefined, at: number): number {
  if (!pauses) return 0;
  const { total, from, to } = pauses;
  return total - Math.max(0, to - Math.max(at, from));
}
