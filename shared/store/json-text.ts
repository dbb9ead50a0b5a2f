// Attributes that hold JSON text, typed by its content.
import * as v from "valibot";

export type JsonText<T> = string & { readonly [holds]: T };

declare const holds: unique symbol;
export const toJson = <T>(value: T): JsonText<T> => JSON.stringify(value) as JsonText<T>;
export const fromJson = <T>(text: JsonText<T>): T => JSON.parse(text);

/** An attribute that holds JSON text. */
/* @__NO_SIDE_EFFECTS__ */
export function json<T>() {
  return v.custom<JsonText<T>>((value) => typeof value === "string");
}
