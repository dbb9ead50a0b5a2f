// Lists that come by pages.
import { expect } from "vitest";
import type { Answer, Tenant, TestWorld } from "./world.ts";

const MOST_PAGES = 1_000;

/**
 * Follows the cursors of a list to its end.
 * @param ask of a query that begins with `?`
 * @param query of the first page, and of all others beside the cursor, such as `limit=2`
 * @returns its pages
 */
export async function pagesOf<Entry>(ask: (query: string) => Promise<Answer>, query = ""): Promise<Entry[][]> {
  const pages: Entry[][] = [];
  for (let cursor = ""; pages.length < MOST_PAGES; ) {
    const { status, body } = await ask(`?${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    expect(status).toBe(200);
    pages.push(body.items);
    cursor = body.next_cursor;
    if (cursor === "") return pages;
  }
  throw new Error(`The list has more than ${MOST_PAGES} pages.`);
}

/** The same, as one list. */
export const entriesOf = async <Entry>(ask: (query: string) => Promise<Answer>, query = ""): Promise<Entry[]> =>
  (await pagesOf<Entry>(ask, query)).flat();

export interface TimelineEntry {
  at: string;
  kind: string;
  title: string;
  state: string | null;
}

/** The timeline of a subscriber, from all its pages. */
export async function timeline(world: TestWorld, tenant: Tenant, id: string, query = ""): Promise<TimelineEntry[]> {
  const as = await tenant.dashboard("viewer");
  const ask = (page: string) => world.call(`GET /api/v1/subscribers/${id}/timeline${page}`, { as });
  const pages = await pagesOf<TimelineEntry>(ask, query);
  // A page that has a next one is not empty.
  expect(pages.slice(0, -1).map(({ length }) => length)).not.toContain(0);
  return pages.flat();
}
