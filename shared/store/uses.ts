// Who names a thing that must stay until its time has come: rows beside it, each good only while its user still waits.

import { DAY, SECOND } from "../clock.ts";
import type { Store, StoreReader } from "../resources.ts";
import { type Kind, keys } from "./keys.ts";
import { allItems } from "./pages.ts";
import { findJob, type Target } from "./sends/jobs.ts";
import type { TransactItem } from "./table.ts";

/** Whether a user of this kind still needs what it names. */
const stillNeeds = {
  notification: async (store: StoreReader, id: string) => (await findJob(store, id))?.status === "scheduled",
  experience: async (store: StoreReader, id: string) => {
    const row = await store.get(keys.listed(store.tenant, "experience", id));
    return row?.status === "live" || row?.status === "paused";
  },
} satisfies Record<string, (store: StoreReader, id: string) => Promise<boolean>>;

type UserKind = keyof typeof stillNeeds;

interface User {
  kind: UserKind;
  id: string;
}

const KEPT_MS = 7 * DAY;

/** The steps of a transaction with which something to come notes the list that it names. */
export function useWrites(
  store: Pick<Store, "tenant">,
  target: Target | null,
  user: User & { until: string | undefined },
): TransactItem[] {
  if (target?.type !== "list") return [];
  const { until } = user;
  const expires = until === undefined ? {} : { expires: Math.ceil((Date.parse(until) + KEPT_MS) / SECOND) };
  return [{ put: { ...keyOf(store, target, user), ...expires } }];
}

/** The steps with which something that needs its list no longer says so. */
export const withoutUse = (store: Pick<Store, "tenant">, target: Target | null, user: User): TransactItem[] =>
  target?.type === "list" ? [{ remove: keyOf(store, target, user) }] : [];

const keyOf = ({ tenant }: Pick<Store, "tenant">, { list_id }: { list_id: string }, { kind, id }: User) =>
  keys.use(tenant, "list", list_id, `${kind}#${id}`);

/** Those who still need a thing, as `notification <id>`. */
export async function usersOf(store: StoreReader, kind: Kind, id: string): Promise<string[]> {
  const rows = await allItems(store, { pk: keys.uses(store.tenant, kind, id) });
  const users = rows.map(({ sk }) => sk.split("#") as [UserKind, string]);
  const needed = await Promise.all(users.map(([user, who]) => stillNeeds[user](store, who)));
  return users.filter((_, i) => needed[i]).map((user) => user.join(" "));
}
