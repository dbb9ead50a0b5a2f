// Who is told of what happens in the world.

/** Those who listen to one kind of thing. */
export function listening<Told extends unknown[]>() {
  const listeners: ((...told: Told) => void)[] = [];
  return {
    on: (listener: (...told: Told) => void): void => void listeners.push(listener),
    tell: (...told: Told): void => {
      for (const listener of listeners) listener(...told);
    },
  };
}
