// A shard of the subscribers, page by page: each profile, followed by the devices of its subscriber.
import type { StoreReader } from "../context.ts";
import { keyOf, rowOf } from "../item.ts";
import { DeviceItem, type DeviceRow } from "./device-items.ts";
import { Profile, type ProfileRow } from "./items.ts";

export interface AudiencePage {
  rows: (ProfileRow | DeviceRow)[];
  /** The sort key after which the next page begins; absent on the last page. */
  next: string | undefined;
}

interface PageOptions {
  /** A sort key; it need not be that of a row. */
  after?: string | undefined;
  limit?: number;
  eventual?: boolean;
}

const ID_CHARACTERS = 36;

/** The id of the subscriber that a row of an audience page belongs to. */
export const subscriberIn = ({ sk }: { sk: string }): string => sk.slice(0, ID_CHARACTERS);

export const isProfileRow = (row: ProfileRow | DeviceRow): row is ProfileRow => row.sk.length === ID_CHARACTERS;

/** A page of a shard: up to 1 MB, or `limit` rows. A page may end between a profile and its devices. */
export async function audiencePage(
  store: StoreReader,
  shard: string,
  { after, ...options }: PageOptions,
): Promise<AudiencePage> {
  const { items, next } = await store.queryRows(
    Profile,
    { id: shard },
    {
      ...options,
      ...(after !== undefined && { after: { ...keyOf(Profile, store.tenant, { id: shard }), sk: after } }),
    },
  );
  const rows = items.map((row) => (row.sk.length === ID_CHARACTERS ? rowOf(Profile, row) : rowOf(DeviceItem, row)));
  return { rows, next: next?.sk };
}
