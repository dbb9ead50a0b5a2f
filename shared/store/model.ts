// What every stored item is made of.
declare const brand: unique symbol;

/** A workspace id that came from a verified credential, or from a message that is reloaded under it. */
export type TenantId = string & { readonly [brand]: "tenant" };

export interface Key {
  pk: string;
  sk: string;
}

export type Value = string | number | boolean | null | Value[] | { [name: string]: Value };

/** An item as stored: `react` triggers the react worker, `expires` (seconds) lets the table drop it. */
export type Item = Key & { react?: string; expires?: number } & { [name: string]: Value | undefined };

export const MINUTE_MS = 60_000;
