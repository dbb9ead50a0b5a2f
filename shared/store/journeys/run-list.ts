// The runs of a journey, newest first: of everybody from the shards of the journey, of one subscriber from its own rows.
import type { StoreReader } from "../../resources.ts";
import { keys, SHARDS } from "../keys.ts";
import type { Item, Key } from "../model.ts";
import { type RunItem, runOf } from "./runs.ts";

interface RunQuery {
  journey: string;
  status?: string | undefined;
  subscriber?: string | undefined;
  /** The id of the last run of the page before. */
  after?: string | undefined;
  limit: number;
}

/** `next` is absent on the last page; with a filter a page may be short. */
export async function listRuns(store: StoreReader, asked: RunQuery): Promise<{ runs: RunItem[]; next?: string }> {
  return asked.subscriber === undefined ? everybodys(store, asked) : ofOne(store, asked, asked.subscriber);
}

async function ofOne(
  store: StoreReader,
  { journey, status, after, limit }: RunQuery,
  subscriber: string,
): Promise<{ runs: RunItem[]; next?: string }> {
  const { pk, sk: prefix } = keys.run(store.tenant, subscriber, journey, "");
  const position: Key | undefined = after === undefined ? undefined : { pk, sk: prefix + after };
  const page = await store.query({ pk, prefix, newestFirst: true, limit, after: position });
  const runs = page.items.map(runOf).filter((run) => status === undefined || run.status === status);
  return { runs, ...(page.next && { next: page.next.sk.slice(prefix.length) }) };
}

async function everybodys(
  store: StoreReader,
  { journey, status, after, limit }: RunQuery,
): Promise<{ runs: RunItem[]; next?: string }> {
  const pages = await Promise.all(
    SHARDS.map((shard) => {
      const pk = keys.journeyRuns(store.tenant, journey, shard);
      return store.query({ pk, newestFirst: true, limit, ...(after !== undefined && { after: { pk, sk: after } }) });
    }),
  );
  // Beyond the place where a shard was read no further, others may hold newer ones.
  const unread = pages.flatMap(({ next }) => (next ? [next.sk] : [])).sort();
  const from = unread.at(-1) ?? "";
  const found = pages.flatMap(({ items }) => items).filter(({ sk }) => sk >= from);
  const rows = found.sort((a, b) => (a.sk < b.sk ? 1 : -1));
  const taken: Item[] = [];
  let last: string | undefined;
  for (const row of rows) {
    if (taken.length === limit) break;
    last = row.sk;
    if (row.subscriber !== undefined && (status === undefined || row.status === status)) taken.push(row);
  }
  const isMore = unread.length > 0 || last !== rows.at(-1)?.sk;
  const items = await store.getAll(
    taken.map(({ sk, subscriber }) => keys.run(store.tenant, String(subscriber), journey, sk)),
  );
  const runs = items.flatMap((item) => (item ? [runOf(item)] : []));
  return { runs, ...(isMore && last !== undefined && { next: last }) };
}
