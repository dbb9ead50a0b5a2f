// Numbers by name.

/** How often each name occurs. */
export function numberOfEach<N extends string>(names: readonly N[]): Record<N, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The sum of numbers by name; zeros are left out. */
export function addedUp(parts: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const part of parts) for (const [name, n] of Object.entries(part)) sums[name] = (sums[name] ?? 0) + n;
  return Object.fromEntries(Object.entries(sums).filter(([, n]) => n !== 0));
}
