// Names of campaigns that were made before there was a search by name: filled in by the nightly recount.

import { absent, all, present } from "../conditions.ts";
import type { Store } from "../context.ts";
import { keyOf } from "../item.ts";
import { onConditionFailed } from "../refusals.ts";
import { State } from "../status-index.ts";
import { CampaignItem } from "./items.ts";

const PAGE = 500;
const place = { kind: "campaign" } as const;

/** @param after the campaign at which the former page ended */
export async function fillNames(
  store: Store,
  after: string | undefined,
): Promise<{ repaired: number; after?: string | undefined }> {
  const last = after === undefined ? undefined : keyOf(State, store.tenant, { ...place, id: after });
  const page = await store.query(State, place, { limit: PAGE, filter: absent("name"), after: last });
  const rows = await store.getAll(
    CampaignItem,
    page.items.map(({ sk }) => ({ id: sk })),
  );
  for (const row of rows)
    if (row)
      await store
        .change(State, { ...place, id: row.id }, { set: { name: row.name } }, all(present(), absent("name")))
        .catch(onConditionFailed(() => undefined));
  return { repaired: 0, after: page.next?.sk };
}
