// The parts of every stored item.
export interface Key {
  pk: string;
  sk: string;
}

export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** An item as stored: `react` triggers the react worker, `expires` (seconds) lets the table drop it. */
export type Item = Key & { react?: string; expires?: number } & { [name: string]: Value | undefined };
