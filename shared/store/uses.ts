// The users of a list or segment: a scheduled notification, or an experience. A row beside the group names each user,
// and counts only while the user still needs the group.
import type { Target } from "../contract/send-input.ts";
import { DAY, ttl } from "../kernel/clock.ts";
import type { StoreReader } from "./context.ts";
import { type ItemWrite, putItem, removeItem } from "./item.ts";
import { type Group, Use, type UserKind } from "./lists/items.ts";
import { groupOf } from "./lists/targets.ts";
import { findJob } from "./sends/jobs/jobs.ts";
import { Status } from "./status-index.ts";

const KEPT_MS = 7 * DAY;

export interface User {
  kind: UserKind;
  id: string;
}

/** The key of the row of a user beside the group that it targets; undefined for other targets. */
function keyOf(target: Target | null, { kind, id }: User) {
  const group = groupOf(target);
  return group && { ...group, user: kind, user_id: id };
}

/** The writes that note the list or segment which a notification or experience needs until a time. */
export function useWrites(
  target: Target | null,
  { until, ...user }: User & { until: string | undefined },
): ItemWrite<"workspace">[] {
  const key = keyOf(target, user);
  if (!key) return [];
  const expires = until === undefined ? undefined : ttl(Date.parse(until) + KEPT_MS);
  return [putItem(Use, key, { expires })];
}

/** The writes of a user that no longer needs its list or segment. */
export function endUseWrites(target: Target | null, user: User): ItemWrite<"workspace">[] {
  const key = keyOf(target, user);
  return key ? [removeItem(Use, key)] : [];
}

/** The users that still need a list or segment. */
export async function usersOf(store: StoreReader, { kind, id }: Group): Promise<User[]> {
  const rows = await store.queryAll(Use, { kind, id });
  const users = rows.map(({ sk }): User => {
    const [user, user_id = ""] = sk.split("#");
    return { kind: user === "experience" ? user : "notification", id: user_id };
  });
  const areNeeding = await Promise.all(users.map((user) => stillNeeds(store, user)));
  return users.filter((_, i) => areNeeding[i]);
}

async function stillNeeds(store: StoreReader, { kind, id }: User): Promise<boolean> {
  if (kind === "notification") return (await findJob(store, id))?.status === "scheduled";
  const row = await store.get(Status, { kind: "experience", id });
  return row?.status === "live" || row?.status === "paused";
}
