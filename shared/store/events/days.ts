// Which days, and which partitions of them, hold events: exports ask only there.
import type { Store, StoreReader } from "../../resources.ts";
import { keys } from "../keys.ts";
import { recent } from "../recent.ts";

const REMEMBERED = 20_000;
const PAGE = 64;

export interface DayShard {
  day: string;
  shard: string;
}

/** One per environment: notes partitions it has not noted before. Always before the events that lie in them. */
export function dayRegister() {
  const noted = recent<true>(REMEMBERED);
  return async (store: Store, places: readonly DayShard[]): Promise<void> => {
    const fresh = new Map<string, DayShard>();
    for (const place of places) {
      const name = `${store.tenant} ${place.day} ${place.shard}`;
      if (!noted.get(name)) fresh.set(name, place);
    }
    await store.writeAll(
      [...fresh.values()].map(({ day, shard }) => ({ put: { ...keys.eventDay(store.tenant, day, shard) } })),
    );
    for (const name of fresh.keys()) noted.set(name, true);
  };
}

/** The partitions from one day to another, both included, day by day. */
export async function* noted(store: StoreReader, from: string, to: string): AsyncGenerator<DayShard[]> {
  const { pk } = keys.eventDay(store.tenant, "", "");
  let ofDay: DayShard[] = [];
  let after: { pk: string; sk: string } | undefined;
  do {
    const page = await store.query({ pk, from: `${from}#`, to: `${to}#~`, limit: PAGE, after, eventual: true });
    for (const { sk } of page.items) {
      const [day = "", shard = ""] = sk.split("#");
      if (ofDay.length > 0 && ofDay[0]!.day !== day) {
        yield ofDay;
        ofDay = [];
      }
      ofDay.push({ day, shard });
    }
    after = page.next;
  } while (after);
  if (ofDay.length > 0) yield ofDay;
}
