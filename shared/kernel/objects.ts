// JSON objects: how to recognize them, drop undefined values, and write them as canonical text.
import { byText } from "./order.ts";

/** A JSON object: not null, not an array. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const withoutUndefined = <T extends object>(fields: T): Defined<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;

export const withoutNulls = <T extends object>(fields: T): NotNull<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as NotNull<T>;

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
type NotNull<T> = { [K in keyof T as null extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as null extends T[K] ? K : never]?: Exclude<T[K], null>;
};

/** The same text for values that differ only in the order of their keys. */
export const canonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(byText(([name]) => name))) : part,
  ) ?? "";
