// What uses a list: a scheduled notification, or an experience. A row beside the list names each user, and counts only
// while the user still needs the list.
import { DAY, SECOND } from "../clock.ts";
import type { Target } from "../http/send-input.ts";
import type { StoreReader } from "../resources.ts";
import { type ItemWrite, putItem, removeItem } from "./item.ts";
import { type Group, Use, type UserKind } from "./lists/items.ts";
import { findJob } from "./sends/jobs.ts";
import { Status } from "./status-index.ts";

const KEPT_MS = 7 * DAY;

interface User {
  kind: UserKind;
  id: string;
}

const keyOf = (list: string, { kind, id }: User) => ({ kind: "list", id: list, user: kind, user_id: id }) as const;

/** The writes that note the list which a notification or experience needs until a time. */
export function useWrites(
  target: Target | null,
  { until, ...user }: User & { until: string | undefined },
): ItemWrite<"workspace">[] {
  if (target?.type !== "list") return [];
  const expires = until === undefined ? undefined : Math.ceil((Date.parse(until) + KEPT_MS) / SECOND);
  return [putItem(Use, keyOf(target.list_id, user), { expires })];
}

/** The writes of a user that no longer needs its list. */
export const endUseWrites = (target: Target | null, user: User): ItemWrite<"workspace">[] =>
  target?.type === "list" ? [removeItem(Use, keyOf(target.list_id, user))] : [];

/** The users that still need a list, as `notification <id>`. */
export async function usersOf(store: StoreReader, { kind, id }: Group): Promise<string[]> {
  const rows = await store.queryAll(Use, { kind, id });
  const users = rows.map(({ sk }) => {
    const [user = "", user_id = ""] = sk.split("#");
    return { user, user_id };
  });
  const areNeeding = await Promise.all(users.map(({ user, user_id }) => stillNeeds(store, user, user_id)));
  return users.flatMap(({ user, user_id }, i) => (areNeeding[i] ? [`${user} ${user_id}`] : []));
}

async function stillNeeds(store: StoreReader, user: string, id: string): Promise<boolean> {
  if (user === "notification") return (await findJob(store, id))?.status === "scheduled";
  const row = await store.get(Status, { kind: "experience", id });
  return row?.status === "live" || row?.status === "paused";
}
