// A bell: how the one who moves time hears that something has happened.
export function createBell() {
  const waiting = new Set<() => void>();
  let rings = 0;
  return {
    rings: () => rings,
    ring: () => {
      rings++;
      for (const wake of [...waiting]) wake();
    },
    /** Resolves at the next ring, or after `ms` of real time. */
    heard: (ms: number) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        waiting.add(wake);
      }),
  };
}
