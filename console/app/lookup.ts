// A search by name that ignores case and accents, which the API does not: `muller` and `mueller` find Müller. It reads page by page.
import { folded, spelledOut } from "../../shared/rules/folded.ts";

/** Templates come with their content: 100 designed emails may be too large for one answer. */
export const PAGE = 50;
/** Pages that a search in one kind reads: 1,000 entries. */
const MAX_PAGES = 20;

interface NamedItem {
  name: string;
}

interface Page<T> {
  items: readonly T[];
  /** Empty on the last page. */
  next_cursor: string;
}

export interface Found<T> {
  all: readonly T[];
  /** There are older ones, at which nobody looked. */
  isPart?: boolean;
}

type ReadPage<T> = (cursor?: string) => Promise<Page<T>>;

/** Each page is read once, until `forget`. @param enough results end a search */
export function createLookup<T extends NamedItem>(enough: number) {
  const known = new Map<string, Promise<Page<T>>[]>();
  return {
    /**
     * Entries with the text in their name, in the order of the pages.
     * @param most pages that are read
     * @throws what `read` throws: the next search reads again
     */
    find: async (kind: string, text: string, read: ReadPage<T>, most = MAX_PAGES): Promise<Found<T>> => {
      const pages = known.get(kind) ?? [];
      known.set(kind, pages);
      const [wanted, spelled] = [folded(text), spelledOut(text)];
      const hasIt = (name: string) => folded(name).includes(wanted) || spelledOut(name).includes(spelled);
      const found: T[] = [];
      let cursor: string | undefined;
      for (let n = 0; n < most; n++) {
        const page = pages[n] ?? read(cursor);
        pages[n] = page;
        const { items, next_cursor } = await page.catch((cause) => {
          pages.length = n;
          throw cause;
        });
        found.push(...items.filter(({ name }) => hasIt(name)));
        if (next_cursor === "" || found.length >= enough) return { all: found };
        cursor = next_cursor;
      }
      return { all: found, isPart: true };
    },
    forget: () => known.clear(),
  };
}

/** The reader of pages that have numbers. @param size of a full page */
export const numbered =
  <T>(read: (page: number) => Promise<readonly T[]>, size: number): ReadPage<T> =>
  async (cursor = "1") => {
    const items = await read(Number(cursor));
    return { items, next_cursor: items.length < size ? "" : String(Number(cursor) + 1) };
  };
