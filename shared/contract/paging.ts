// Paging by page number, by limit and by cursor. Cursors are signed.
import { timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { invalid } from "../kernel/errors.ts";
import { hmacUnder } from "../kernel/hmac.ts";

export const MAX_PER_PAGE = 100;
const DEFAULT_PER_PAGE = 20;

/** A page ends at this size, even below the requested limit (docs/decisions/0021#page-size). */
const MAX_PAGE_BYTES = 4 * 1_048_576;

/** Of the 6 MB that Lambda returns, the part for items, beside the headers and the rest of the answer. */
const MAX_NUMBERED_BYTES = 6 * 1_048_576 - 65_536;

/** Measured as Lambda carries it: JSON in a JSON string, where a quote in a text has four bytes. */
const carriedBytes = (said: unknown): number => Buffer.byteLength(JSON.stringify(JSON.stringify(said)));

/** Tells for one entry after another whether the page has room for it. The first one always fits. */
export function pageRoom(): (entry: unknown) => boolean {
  let used = 0;
  return (entry) => {
    const bytes = carriedBytes(entry);
    const fits = used === 0 || used + bytes <= MAX_PAGE_BYTES;
    if (fits) used += bytes;
    return fits;
  };
}

/** What may be in the rows of a page and is not shown, all rows together. */
const UNSHOWN_BYTES = 2 * 1_048_576;

export const pageTooLarge = () => invalid({ page: "is too large: ask for fewer entries" });

/**
 * Told of the rows of a numbered page while they are read: the rest of one that is too large is not (docs/decisions/0112).
 * @throws 422 as soon as what they hold is larger than an answer may be
 */
export function numberedRoom(): (rows: readonly unknown[]) => void {
  let used = 0;
  return (rows) => {
    used += Buffer.byteLength(JSON.stringify(rows));
    if (used > MAX_NUMBERED_BYTES + UNSHOWN_BYTES) throw pageTooLarge();
  };
}

/**
 * The entries of a numbered page. It cannot end early, because the next page would skip the omitted ones. @throws 422
 * if they are together larger than an answer may be
 */
export function inOneAnswer<T>(entries: T[]): T[] {
  if (carriedBytes(entries) <= MAX_NUMBERED_BYTES) return entries;
  throw pageTooLarge();
}

export interface PageQuery {
  page: number;
  size: number;
}

const count = (fallback: number) =>
  v.optional(
    v.pipe(v.string(), v.regex(/^[0-9]{1,9}$/, "must be a whole number"), v.transform(Number), v.minValue(1)),
    String(fallback),
  );

/** A number of items: below 1 is refused, and above `max` is taken as `max`. */
export const limit = (fallback: number, max: number) =>
  v.pipe(
    count(fallback),
    v.description(`At most ${max}: a larger one is taken as ${max}`),
    v.transform((wanted) => Math.min(wanted, max)),
  );

/** `page` and `per_page` (or `page_size`): below 1 is refused, above the maximum is clamped (AMB-29). */
export const pageFields = <Name extends "per_page" | "page_size">(name: Name) =>
  ({
    page: count(1),
    [name]: limit(DEFAULT_PER_PAGE, MAX_PER_PAGE),
  }) as { page: ReturnType<typeof count> } & Record<Name, ReturnType<typeof limit>>;

const NO_CURSOR = "is not a cursor of this list";

/** The parameter of a cursor. The longest that is issued has a quarter of this. */
export const cursor = v.optional(v.pipe(v.string(), v.maxLength(4_096, NO_CURSOR)));

/* @__NO_SIDE_EFFECTS__ */
export const numberedPage = <S extends v.GenericSchema>(item: S) =>
  v.object({ items: v.array(item), total: v.number(), page: v.number(), page_size: v.number() });

/** The answer of a list that is read by cursors; `next_cursor` is empty on the last page. */
/* @__NO_SIDE_EFFECTS__ */
export const cursorPage = <S extends v.GenericSchema>(item: S) =>
  v.object({ items: v.array(item), next_cursor: v.string() });

export const offsetOf = ({ page, size }: PageQuery): { from: number; to: number } => ({
  from: (page - 1) * size,
  to: page * size,
});

type CursorKey = { cursorKey: Buffer };

/** An opaque cursor, valid for one tenant and one list only. `position` is any JSON value. */
export function sealCursor({ cursorKey }: CursorKey, scope: string, position: unknown): string {
  const text = Buffer.from(JSON.stringify(position)).toString("base64url");
  return sealed({ cursorKey }, scope, text);
}

const sealed = ({ cursorKey }: CursorKey, scope: string, text: string) =>
  `${text}.${sign(cursorKey, scope, text).toString("base64url")}`;

/** Opens a cursor. @throws 422 on the parameter unless this exact cursor was issued for this scope */
export function openCursor(
  { cursorKey }: CursorKey,
  scope: string,
  cursor: string,
  parameter = "cursor",
  reason = NO_CURSOR,
): unknown {
  const [text = ""] = cursor.split(".");
  const presented = Buffer.from(cursor);
  const expected = Buffer.from(sealed({ cursorKey }, scope, text));
  if (presented.length !== expected.length || !timingSafeEqual(presented, expected))
    throw invalid({ [parameter]: reason });
  return JSON.parse(Buffer.from(text, "base64url").toString());
}

/** The cursors of one list. The last page, without a `next` position, has an empty one. */
export const cursorsOf = <P>(
  root: CursorKey,
  scope: string,
  position: v.GenericSchema<unknown, P>,
  parameter?: string,
): { open(cursor: string | undefined): P | undefined; seal(next: P | undefined): string } => ({
  open: (cursor) => (cursor === undefined ? undefined : v.parse(position, openCursor(root, scope, cursor, parameter))),
  seal: (next) => (next === undefined ? "" : sealCursor(root, scope, next)),
});

const sign = (key: Buffer, scope: string, text: string) =>
  hmacUnder(key).update(`cursor:v1:${scope}:${text}`).digest().subarray(0, 16);
