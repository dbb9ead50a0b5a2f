// The shape of what clients send, as far as the specification names it.
import { ok } from "./access.ts";
import { type Answer, type Body, instant, invalid, isRecord, type Request } from "./kit.ts";

/** AMB-91: an empty string for a required field is 422. AMB-22: the field is named. */
export function requiredText(body: Body, field: string, max = Number.POSITIVE_INFINITY): string {
  const value = body?.[field];
  if (typeof value !== "string" || value.length === 0 || value.length > max) invalid(field);
  return value;
}

export function optionalOneOf(body: Body, field: string, values: readonly string[]): void {
  if (body[field] !== undefined && !values.includes(body[field])) invalid(field);
}

export function optionalWhole(body: Body, field: string, from: number, to: number): void {
  const value = body[field];
  if (value !== undefined && !(Number.isInteger(value) && value >= from && value <= to)) invalid(field);
}

export function optionalInstant(body: Body, field: string): number | null {
  if (body[field] === undefined || body[field] === null) return null;
  return instant(body[field]) ?? invalid(field);
}

/** SUB-12, AMB-36: 1 to 1,000 ids; repeats count once. */
export function idList(body: Body, field: string): string[] {
  const ids = body?.[field];
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > 1000) invalid(field);
  return [...new Set<string>(ids)];
}

/** AMB-84. */
export function checkEmail(value: unknown): void {
  if (
    value !== undefined &&
    value !== null &&
    !(typeof value === "string" && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(value))
  )
    invalid("email");
}

export function optionalRecord(body: Body, field: string): void {
  if (body[field] !== undefined && !isRecord(body[field])) invalid(field);
}

/** AMB-29: below 1 or not a number is 422, over the maximum is the maximum. */
export function pageNumber(query: Record<string, string>, field: string, fallback: number, max: number): number {
  const text = query[field];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1) invalid(field);
  return Math.min(value, max);
}

/**
 * A page list. The whole list is answered in its order; the harness reads all pages of the product, checks their sizes
 * and compares what they hold together.
 */
export interface PageListing {
  key: string;
  items: Body;
  size: number;
  total?: number;
}

export const listing = (key: string, items: Body, size: number, total?: number): Answer =>
  ok({ listing: { key, items, size, ...(total !== undefined && { total }) } satisfies PageListing });

export const limitOf = ({ query }: Request, fallback: number, max: number) => pageNumber(query, "limit", fallback, max);
