// Conditions of a write, composed from small parts and compiled to DynamoDB expressions. The type of a condition names
// the attributes that it mentions, so that a misspelt one does not compile where the condition meets its item.
import type { Value } from "./model.ts";

export interface Names<A extends string = string> {
  name: (attribute: A) => string;
  value: (value: Value) => string;
}

export type Condition<A extends string = string> = (names: Names<A>) => string;

export function absent(): Condition<"pk">;
export function absent<A extends string>(attribute: A): Condition<A>;
export function absent(attribute = "pk"): Condition {
  return (n) => `attribute_not_exists(${n.name(attribute)})`;
}

export function present(): Condition<"pk">;
export function present<A extends string>(attribute: A): Condition<A>;
export function present(attribute = "pk"): Condition {
  return (n) => `attribute_exists(${n.name(attribute)})`;
}

export const is =
  <A extends string>(attribute: A, value: Value): Condition<A> =>
  (n) =>
    `${n.name(attribute)} = ${n.value(value)}`;
/** The attribute is as it was read: it has this value, or is absent. */
export const asRead = <A extends string>(attribute: A, value: Value | undefined): Condition<A> =>
  value === undefined ? absent(attribute) : is(attribute, value);
export const below =
  <A extends string>(attribute: A, value: Value): Condition<A> =>
  (n) =>
    `${n.name(attribute)} < ${n.value(value)}`;
/** One attribute exists and is below another one. */
export const lessThan =
  <A extends string>(attribute: A, other: A): Condition<A> =>
  (n) =>
    `${n.name(attribute)} < ${n.name(other)}`;
export const above =
  <A extends string>(attribute: A, value: Value): Condition<A> =>
  (n) =>
    `${n.name(attribute)} > ${n.value(value)}`;
export const atMost =
  <A extends string>(attribute: A, value: Value): Condition<A> =>
  (n) =>
    `${n.name(attribute)} <= ${n.value(value)}`;
export const oneOf =
  <A extends string>(attribute: A, values: readonly Value[]): Condition<A> =>
  (n) =>
    `${n.name(attribute)} IN (${values.map((value) => n.value(value)).join(", ")})`;

export const all =
  <A extends string>(...parts: Condition<A>[]): Condition<A> =>
  (n) =>
    parts.map((part) => `(${part(n)})`).join(" AND ");
export const any =
  <A extends string>(...parts: Condition<A>[]): Condition<A> =>
  (n) =>
    parts.map((part) => `(${part(n)})`).join(" OR ");
