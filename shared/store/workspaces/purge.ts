// The end of a workspace (D-TENANT): its data is removed 30 days after its deletion, and a tombstone stays.
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../kernel/clock.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { absent, all, any, asRead, atMost, below, is, present } from "../conditions.ts";
import type { Platform, Store } from "../context.ts";
import { AssetItem } from "../experiences/asset-items.ts";
import { changeItem, removeItem } from "../item.ts";
import { fromJson, toJson } from "../json-text.ts";
import type { Key } from "../model.ts";
import { happened, whereItHolds } from "../refusals.ts";
import type { Timer, Timers } from "../timers.ts";
import { membershipsOf } from "./identity.ts";
import { MemberItem, MembershipItem, UserItem } from "./identity-items.ts";
import { ClientItem, clientKeyOf, WorkspaceItem } from "./items.ts";
import { listMembers, type Member } from "./members.ts";
import type { WorkspaceRows } from "./rows.ts";
import { usageRecord } from "./usage.ts";
import type { WorkspaceRow } from "./workspaces.ts";

const KEPT_MS = 30 * DAY;
/** How long one worker has a purge to itself: longer than it can run. */
const LEASE_MS = 90 * SECOND;
/** Between two passes: a function that still wrote during the first has ended by the second. */
const PAUSE_MS = 15 * MINUTE;
const ASSETS_PER_PAGE = 100;

/** The timer of a deletion, to be set before it. */
export const purgeTimer = (tenant: string, deletedAt: number): Timer => ({
  kind: "purge",
  id: tenant,
  at: deletedAt + KEPT_MS,
});

/** Changes the status; a deletion stores its time, and any other status removes it. @returns false once the purge has begun. */
export async function changeStatus(
  platform: Platform,
  tenant: TenantId,
  status: WorkspaceRow["status"],
  now: number,
): Promise<boolean> {
  const change =
    status === "deleted"
      ? { set: { status }, initial: { deleted_at: timestamp(now) } }
      : { set: { status }, remove: ["deleted_at"] as const };
  return happened(platform.change(WorkspaceItem, { tenant }, change, all(present(), absent("purging_at"))));
}

interface PurgeContext {
  store: Store;
  platform: Platform;
  timers: Timers;
  workspaceRows: WorkspaceRows;
  /** Objects of S3: an image by its name; those of imports and mails, a page at a time. */
  assetFiles: { remove(name: string): Promise<void> };
  importFiles: { removeSome(): Promise<number> };
  mailFiles: { removeSome(): Promise<number> };
}

type PurgeStep =
  | { kind: "unfinished"; retryInMs: number }
  /** It is done, or not this worker's. */
  | { kind: "ended" };

/**
 * Continues a purge until `isTimeUp`: members and their users, objects, then every row of the table, in passes until one
 * finds none. A call that is too early, too late or concurrent with another worker's does nothing.
 */
export async function purgeStep(context: PurgeContext, isTimeUp: () => boolean): Promise<PurgeStep> {
  const { store, timers, importFiles, mailFiles } = context;
  const isDue = await isOpen(context);
  // Before the claim: its reply may be lost, and a worker that dies leaves a lease that outlives its message.
  if (isDue) await timers.set([watchdog(store)]);
  const claimed = isDue && (await claim(context));
  if (!claimed) {
    store.log({ level: "info", message: "no purge is due, or another worker has it", tenant: store.tenant });
    return { kind: "ended" };
  }
  for (let team = await members(context); team.length > 0; team = await members(context))
    for (const member of team) {
      if (isTimeUp()) return releasePurge(context, claimed, 0);
      await removeMember(context.platform, store.tenant, member);
    }
  for (const removeSome of [() => removeSomeAssets(context), importFiles.removeSome, mailFiles.removeSome])
    for (let removed = await removeSome(); removed > 0; removed = await removeSome())
      if (isTimeUp()) return releasePurge(context, claimed, 0);
  return removeRows(context, claimed, isTimeUp);
}

const members = ({ platform, store }: PurgeContext) => listMembers(platform, store.tenant);

/** Continues the purge if its worker dies. */
const watchdog = ({ tenant, clock }: Store): Timer => ({
  kind: "purge",
  id: tenant,
  at: (Math.floor(clock.now() / HOUR) + 2) * HOUR,
});

/** Whether the workspace was deleted so long ago that its purge is due, and not purged yet. */
async function isOpen({ platform, store: { tenant, clock } }: PurgeContext): Promise<boolean> {
  const { status, deleted_at, purged_at } = (await platform.get(WorkspaceItem, { tenant })) ?? {};
  if (status !== "deleted" || deleted_at === undefined || purged_at !== undefined) return false;
  return Date.parse(deleted_at) <= clock.now() - KEPT_MS;
}

/** Claims a purge that is due, in one conditional write: from the first claim on the workspace cannot be restored. */
async function claim({ platform, store }: PurgeContext): Promise<WorkspaceRow | undefined> {
  const { tenant, clock } = store;
  const now = clock.now();
  const isDue = all(is("status", "deleted"), atMost("deleted_at", timestamp(now - KEPT_MS)));
  const isFree = any(absent("purge_until"), below("purge_until", now));
  const isOver = any(absent("purge_not_before"), atMost("purge_not_before", now));
  const claiming = { set: { purge_until: now + LEASE_MS }, initial: { purging_at: timestamp(now) } };
  const isClaimable = all(isDue, absent("purged_at"), isFree, isOver);
  const workspace = await whereItHolds(platform.change(WorkspaceItem, { tenant }, claiming, isClaimable));
  if (!workspace || workspace.usage_record) return workspace;
  const usage_record = await usageRecord(store);
  return platform.change(WorkspaceItem, { tenant }, { initial: { usage_record } }, present());
}

/** A claimed row always has `purge_until`. */
const isOurs = ({ purge_until = 0 }: WorkspaceRow) => is("purge_until", purge_until);

/** Lets another worker continue, no sooner than after a pause. */
async function releasePurge(
  { platform, store: { tenant, clock } }: PurgeContext,
  claimed: WorkspaceRow,
  pauseMs: number,
  found = 0,
): Promise<PurgeStep> {
  const set = { purge_found: found, purge_not_before: clock.now() + pauseMs };
  await whereItHolds(platform.change(WorkspaceItem, { tenant }, { set, remove: ["purge_until"] }, isOurs(claimed)));
  return { kind: "unfinished", retryInMs: pauseMs };
}

/**
 * Removes a member, and the user with the last membership; a user who joins another workspace meanwhile stays. The
 * member's row is removed last, so that a crash before it repeats the rest.
 */
async function removeMember(platform: Platform, tenant: TenantId, { user_id, email }: Member): Promise<void> {
  const user = await platform.get(UserItem, { email });
  const others = (await membershipsOf(platform, user_id)).filter((other) => other.tenant !== tenant);
  if (user?.id === user_id && others.length === 0) {
    const hasNotJoined = asRead("joined", user.joined);
    await whereItHolds(platform.remove(UserItem, { email }, hasNotJoined));
  }
  await platform.remove(MembershipItem, { user: user_id, tenant });
  await platform.remove(MemberItem, { tenant, user: user_id });
}

/** Objects before their rows, which alone know their names. @returns how many there were */
async function removeSomeAssets({ store, assetFiles }: PurgeContext): Promise<number> {
  const { items } = await store.query(AssetItem, {}, { limit: ASSETS_PER_PAGE });
  for (const { name } of items) await assetFiles.remove(name);
  await store.removeRows(items);
  return items.length;
}

async function removeRows(context: PurgeContext, claimed: WorkspaceRow, isTimeUp: () => boolean): Promise<PurgeStep> {
  const { platform, store, workspaceRows } = context;
  const { tenant } = store;
  let found = claimed.purge_found ?? 0;
  let from = claimed.purge_from && fromJson(claimed.purge_from);
  do {
    const page = await workspaceRows.find(from);
    await leaveAgency(context, page.found);
    await workspaceRows.remove(page.found);
    found += page.found.length;
    from = page.next;
    const position = from ? { set: { purge_from: toJson(from) } } : { remove: ["purge_from"] as const };
    const isStillOurs = await happened(platform.change(WorkspaceItem, { tenant }, position, isOurs(claimed)));
    if (!isStillOurs) {
      store.log({ level: "info", message: "another worker continues a purge", tenant });
      return { kind: "ended" };
    }
    if (from && isTimeUp()) return releasePurge(context, claimed, 0, found);
  } while (from);
  if (found > 0) return releasePurge(context, claimed, PAUSE_MS);
  await bury(context, claimed);
  return { kind: "ended" };
}

/** An agency counts its clients: the count falls once, in the transaction that removes the row of the client. */
async function leaveAgency({ platform, store }: PurgeContext, found: readonly Key[]): Promise<void> {
  for (const client of found.flatMap((row) => clientKeyOf(row, store.tenant) ?? []))
    await whereItHolds(
      platform.transact([
        removeItem(ClientItem, client, present()),
        changeItem(WorkspaceItem, { tenant: client.agency }, { add: { clients: -1 } }, present("clients")),
      ]),
    );
}

/** Replaces the row by a tombstone: the id, the plan, the times and the usage; no names, no addresses. */
async function bury({ platform, store }: PurgeContext, claimed: WorkspaceRow): Promise<void> {
  const { tenant, clock, log } = store;
  const { id, status, plan, kind, created_at, deleted_at, purging_at, usage_record } = claimed;
  const kept = { id, status, plan, kind, created_at, deleted_at, purging_at, usage_record };
  const tombstone = { ...kept, purged_at: timestamp(clock.now()) };
  const isBuried = await happened(platform.put(WorkspaceItem, { tenant }, tombstone, isOurs(claimed)));
  if (isBuried) log({ level: "info", message: "a workspace was purged", tenant });
}
