// A change signal: notifies the code that moves time of every change.
export function createChangeSignal() {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    version: () => count,
    notify: () => {
      count++;
      for (const resolveWait of [...waiting]) resolveWait();
    },
    /** Resolves at the next change, or after `ms` of real time. */
    waitForChange: (ms: number) =>
      new Promise<void>((resolve) => {
        const resolveWait = () => {
          clearTimeout(timer);
          waiting.delete(resolveWait);
          resolve();
        };
        const timer = setTimeout(resolveWait, ms);
        waiting.add(resolveWait);
      }),
  };
}
