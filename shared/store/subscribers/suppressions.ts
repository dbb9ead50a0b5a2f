// Suppressed addresses as operators see them: listed, made, lifted with a reason, and read from files (AMB-128, AMB-129).
import * as v from "valibot";
import { cursorsOf } from "../../contract/paging.ts";
import { personal } from "../../contract/personal.ts";
import { said, Timestamp, titled } from "../../contract/schemas.ts";
import { timestamp } from "../../kernel/clock.ts";
import { addressKinds, normalizedAddress, type SuppressionReason, suppressionReasons } from "../../rules/addresses.ts";
import { oneOf, present } from "../conditions.ts";
import type { Store, StoreReader } from "../context.ts";
import { changeItem, fieldsOrNull, type ItemWrite } from "../item.ts";
import { transacted } from "../refusals.ts";
import type { RootSecrets } from "../secrets.ts";
import { newestOfShards, wantedPage } from "../sorted.ts";
import { AddressItem, addressId, SuppressionsByTime } from "./address-items.ts";
import { type AddressRow, type NewSuppression, suppressAddress } from "./addresses.ts";

export const Suppression = titled("Suppression", {
  id: v.string(),
  kind: said("What kind of address it is", v.picklist(addressKinds)),
  address: personal(
    said("In lower case, its domain in ASCII; `null` once a subscriber with it was erased", v.nullable(v.string())),
  ),
  reason: said(
    "`bounce`: it does not exist. `complaint`: its owner called a message spam. Else who said so",
    v.picklist(suppressionReasons),
  ),
  source: said("Where it comes from: the provider, an operator, a file", v.nullable(v.string())),
  note: personal(said("What was said about it", v.nullable(v.string()))),
  suppressed_at: said("Since when it gets nothing; of a file, as the file says", Timestamp),
});
export type Suppression = v.InferOutput<typeof Suppression>;

type SuppressedAddress = AddressRow & { reason: SuppressionReason; suppressed_at: string };
const isSuppressed = (row: AddressRow | undefined): row is SuppressedAddress =>
  row?.reason !== undefined && row.suppressed_at !== undefined;

const shown = (row: SuppressedAddress): Suppression => fieldsOrNull(Suppression.entries, row);

interface SuppressionQuery {
  limit: number;
  cursor?: string | undefined;
  address?: string | undefined;
  reason?: SuppressionReason | undefined;
  source?: string | undefined;
}

/** An address of either kind in its normalized form; undefined if it is none. */
export function readAddress(text: string): Pick<NewSuppression, "kind" | "address"> | undefined {
  for (const kind of addressKinds) {
    const address = normalizedAddress(kind, text.trim());
    if (address !== undefined) return { kind, address };
  }
  return undefined;
}

/** Rows that a page looks at, where a filter leaves most out. */
const MAX_EXAMINED = 2_000;

const Position = v.pipe(v.string(), v.regex(/^[0-9T:.Z-]{24}#[0-9a-f-]{36}$/));
const positionOf = ({ suppressed_at = "", id }: AddressRow) => `${suppressed_at}#${id}`;

/** Newest first. A selective filter gives a short page and a cursor. */
export async function listSuppressions(
  store: StoreReader,
  secrets: RootSecrets,
  query: SuppressionQuery,
): Promise<{ items: Suppression[]; next_cursor: string }> {
  const isWanted = ({ reason, source }: AddressRow) =>
    (query.reason === undefined || reason === query.reason) && (query.source === undefined || source === query.source);
  if (query.address !== undefined) {
    const address = readAddress(query.address);
    const row = address && (await store.get(AddressItem, { id: addressId(address.kind, address.address) }));
    return { items: isSuppressed(row) && isWanted(row) ? [shown(row)] : [], next_cursor: "" };
  }
  const cursors = cursorsOf(secrets, `suppressions:${store.tenant}`, Position);
  const next = newestOfShards<AddressRow>(
    { query: (shard, range) => store.query(SuppressionsByTime, { shard }, range), positionOf },
    cursors.open(query.cursor),
    query.limit,
  );
  return wantedPage({ cursors, limit: query.limit, max: MAX_EXAMINED }, async (count) => {
    const rows = await next(count);
    return rows.map((row) => ({
      place: positionOf(row),
      found: isSuppressed(row) && isWanted(row) ? shown(row) : undefined,
    }));
  });
}

/** A page of one shard, for an export. */
export async function suppressionsOfShard(
  store: StoreReader,
  shard: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ items: Suppression[]; next: string | undefined }> {
  const from = after === undefined ? undefined : `${after}~`;
  const { items, next } = await store.query(SuppressionsByTime, { shard }, { limit, ...(from && { from }) });
  const last = items.at(-1);
  return { items: items.filter(isSuppressed).map(shown), next: next && last && positionOf(last) };
}

/** Finds the suppression of an address. @returns undefined if it is not suppressed */
export async function findSuppression(store: StoreReader, id: string): Promise<Suppression | undefined> {
  const row = await store.get(AddressItem, { id });
  return isSuppressed(row) ? shown(row) : undefined;
}

/** Suppresses an address. @returns the suppression that holds then, and whether it is new */
export async function suppress(
  store: Store,
  suppressing: NewSuppression,
): Promise<{ suppression: Suppression; isNew: boolean }> {
  const { row, isNew } = await suppressAddress(store, suppressing);
  if (!isSuppressed(row)) throw new Error("A suppressed address has no reason.");
  return { suppression: shown(row), isNew };
}

/** Ends a suppression; who did and why stays at the address. @returns false if there is none. */
export const lift = (store: Store, id: string, because: string): Promise<boolean> =>
  transacted(store, [changeItem(AddressItem, { id }, lifting(store, because), present("reason"))]);

/** The same as a part of a transaction, for these reasons alone. */
export const liftWrite = (
  store: Store,
  id: string,
  because: string,
  reasons: readonly SuppressionReason[],
): ItemWrite<"workspace"> => changeItem(AddressItem, { id }, lifting(store, because), oneOf("reason", reasons));

const lifting = (store: Store, because: string) => ({
  set: { lifted_at: timestamp(store.clock.now()), lifted_because: because },
  remove: ["reason", "suppressed_at", "source", "note", "i1pk", "i1sk"] as const,
});
