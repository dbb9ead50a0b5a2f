// The partitions of an export, each read in the order of (occurred_at, id): events that are stored alone, and blocks,
// whose periods overlap.
import { timestamp } from "../../kernel/clock.ts";
import { byText } from "../../kernel/order.ts";
import type { StoreReader } from "../context.ts";
import { rowOf } from "../item.ts";
import { type SortedSource, sorted } from "../sorted.ts";
import { spanOf } from "./block-keys.ts";
import type { DayShard } from "./days.ts";
import { eventOf, packedEventOf, type StoredEvent } from "./events.ts";
import { EventBlock, EventsByTime } from "./items.ts";
import { unpackEvents } from "./packing.ts";

export type Source = SortedSource<StoredEvent>;

interface Window {
  /** Places, as `placeOf` gives them: included, and not included. */
  from: string;
  to: string;
}

/** The place of an event in the order of exports (EXP-7). */
export const placeOf = ({ occurred_at, id }: StoredEvent): string => `${occurred_at}#${id}`;

/** Appended to a place, it sorts directly after that place: ids are of one length. */
export const AFTER = "!";

const TIME_CHARACTERS = "2026-11-20T12:00:00.000Z".length;

export function openSource(store: StoreReader, partition: DayShard, window: Window): Source {
  const span = spanOf(partition.shard);
  return span === undefined ? openAlone(store, partition, window) : openBlocks(store, partition, window, span);
}

const openAlone = (store: StoreReader, partition: DayShard, { from, to }: Window): Source =>
  sorted(async (after, limit) => {
    const { items, next } = await store.query(EventsByTime, partition, { from, to, limit, after, eventual: true });
    return { items: items.map(eventOf), next };
  });

const FIRST_BLOCKS = 8;
const MAX_BLOCKS = 64;
const SEAL = "#s";

/**
 * Reads a partition of blocks. An event may be returned when no unread block can begin before it. A block counts when
 * it has its seal.
 */
function openBlocks(store: StoreReader, partition: DayShard, { from, to }: Window, span: number): Source {
  const fromTime = from.slice(0, TIME_CHARACTERS);
  const start = Date.parse(fromTime) - span;
  let next = Number.isNaN(start) || start < 0 ? "0" : timestamp(start);
  const events: StoredEvent[] = [];
  /** No unread block begins before this time. */
  let horizon = "";
  let isAtEnd = false;
  let blocks = 0;
  let found = 0;
  let waiting: ReturnType<typeof rowOf<typeof EventBlock>> | undefined;
  const isFirstKnown = () => {
    const [first] = events;
    return first !== undefined && (isAtEnd || first.occurred_at < horizon);
  };
  const add = (block: NonNullable<typeof waiting>) => {
    const packed = unpackEvents(block.events).map((event) => packedEventOf(event, block));
    blocks++;
    found += packed.length;
    for (const event of packed) {
      const place = placeOf(event);
      if (place >= from && place < to) events.push(event);
    }
  };
  return {
    head: () => events[0],
    shift: () => events.shift(),
    fill: async (count) => {
      while (!isFirstKnown() && !isAtEnd) {
        const perBlock = blocks > 0 ? Math.max(1, found / blocks) : count / FIRST_BLOCKS;
        const wanted = Math.min(MAX_BLOCKS, Math.ceil(count / perBlock) + 1);
        const page = await store.queryRows(EventBlock, partition, {
          from: next,
          to,
          limit: 2 * wanted,
          eventual: true,
        });
        for (const row of page.items) {
          if (!row.sk.endsWith(SEAL)) waiting = rowOf(EventBlock, row);
          else if (waiting && row.sk === waiting.sk + SEAL) add(waiting);
          horizon = row.sk.slice(0, TIME_CHARACTERS);
          next = row.sk + AFTER;
        }
        isAtEnd = page.next === undefined;
        events.sort(byText(placeOf));
      }
    },
  };
}
