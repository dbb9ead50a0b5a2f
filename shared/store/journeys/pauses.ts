// How long a journey stood still: the time of its runs stops with it (AMB-136).

/** In milliseconds: in all, and the last pause. */
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

/** For how long a journey had been paused in all until a time. Of earlier pauses than the last one only the sum is known. */
export function pausedUntil(pauses: Pauses | undefined, at: number): number {
  if (!pauses) return 0;
  const { total, from, to } = pauses;
  return total - Math.max(0, to - Math.max(at, from));
}
