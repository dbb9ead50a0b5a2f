// Conditions of a write, composed from small parts and compiled to DynamoDB expressions.
import type { Value } from "./model.ts";

export interface Names {
  name(attribute: string): string;
  value(value: Value): string;
}

export type Condition = (names: Names) => string;

export const absent =
  (attribute = "pk"): Condition =>
  (n) =>
    `attribute_not_exists(${n.name(attribute)})`;
export const present =
  (attribute = "pk"): Condition =>
  (n) =>
    `attribute_exists(${n.name(attribute)})`;
export const is =
  (attribute: string, value: Value): Condition =>
  (n) =>
    `${n.name(attribute)} = ${n.value(value)}`;
export const below =
  (attribute: string, value: Value): Condition =>
  (n) =>
    `${n.name(attribute)} < ${n.value(value)}`;
/** One attribute is there and below another one. */
export const lessThan =
  (attribute: string, other: string): Condition =>
  (n) =>
    `${n.name(attribute)} < ${n.name(other)}`;
export const atMost =
  (attribute: string, value: Value): Condition =>
  (n) =>
    `${n.name(attribute)} <= ${n.value(value)}`;
export const oneOf =
  (attribute: string, values: readonly Value[]): Condition =>
  (n) =>
    `${n.name(attribute)} IN (${values.map((value) => n.value(value)).join(", ")})`;
export const all =
  (...parts: Condition[]): Condition =>
  (n) =>
    parts.map((part) => `(${part(n)})`).join(" AND ");
export const any =
  (...parts: Condition[]): Condition =>
  (n) =>
    parts.map((part) => `(${part(n)})`).join(" OR ");
