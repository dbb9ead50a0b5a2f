// The end of a workspace (D-TENANT): 30 days after its deletion everything of it goes, and a tombstone stays.
import { DAY, HOUR, MINUTE, SECOND, timestamp } from "../../clock.ts";
import type { Platform, Store } from "../../resources.ts";
import type { WorkspaceRows } from "../../workspace-rows.ts";
import { absent, all, any, atMost, below, is, present } from "../conditions.ts";
import { keys, platformKeys } from "../keys.ts";
import type { Item, Key, TenantId } from "../model.ts";
import { onConditionFailed, onTransactionCanceled } from "../refusals.ts";
import type { Timer, Timers } from "../timers.ts";
import { membershipsOf } from "./identity.ts";
import { listMembers, type Member } from "./members.ts";
import { usageRecord } from "./usage.ts";
import type { WorkspaceRecord } from "./workspaces.ts";

const KEPT_MS = 30 * DAY;
/** Nobody else goes on with a purge for so long: longer than a worker lives. */
const LEASE_MS = 90 * SECOND;
/** Between two passes: whoever was still writing in the first has ended by the second. */
const PAUSE_MS = 15 * MINUTE;
const ASSETS_A_PAGE = 100;

/** The timer of a deletion, to be set before it. */
export const purgeTimer = (tenant: string, deletedAt: number): Timer => ({
  ...{ kind: "purge", id: tenant },
  at: deletedAt + KEPT_MS,
});

/** Changes the status; a deletion notes its time, and whatever takes it back forgets it. @returns false if it is too late. */
export async function changeStatus(
  platform: Platform,
  tenant: TenantId,
  status: WorkspaceRecord["status"],
  now: number,
): Promise<boolean> {
  const change =
    status === "deleted"
      ? { set: { status }, initial: { deleted_at: timestamp(now) } }
      : { set: { status }, remove: ["deleted_at"] };
  return platform.update(platformKeys.tenant(tenant), change, all(present(), absent("purging_at"))).then(
    () => true,
    onConditionFailed(() => false),
  );
}

interface PurgeContext {
  store: Store;
  platform: Platform;
  timers: Timers;
  workspaceRows: WorkspaceRows;
  /** Objects of S3: an image by its name; whatever there is of imports, a page at a time. */
  assetFiles: { remove(name: string): Promise<void> };
  importFiles: { removeSome(): Promise<boolean> };
}

/** What a step came to: to be taken up again after so many milliseconds, or nothing more to do. */
export type PurgeStep = { retryInMs: number } | "done";

/**
 * Goes on with a purge until `isTimeUp`: members and their users, objects, then every row of the table, in passes until
 * one finds nothing. Whoever comes too early, too late or while somebody else is at it does nothing.
 */
export async function purgeStep(context: PurgeContext, isTimeUp: () => boolean): Promise<PurgeStep> {
  const { store, timers, importFiles } = context;
  const claimed = await claim(context);
  if (!claimed) return "done";
  await timers.set([watchdog(store)]);
  for (let team = await members(context); team.length > 0; team = await members(context))
    for (const member of team) {
      if (isTimeUp()) return releasePurge(context, claimed, 0);
      await release(context.platform, store.tenant, member);
    }
  while (await removeSomeAssets(context)) if (isTimeUp()) return releasePurge(context, claimed, 0);
  while (await importFiles.removeSome()) if (isTimeUp()) return releasePurge(context, claimed, 0);
  return removeRows(context, claimed, isTimeUp);
}

const members = ({ platform, store }: PurgeContext) => listMembers(platform, store.tenant);

/** Looks again should everybody who goes on with it fall. */
const watchdog = ({ tenant, clock }: Store): Timer => ({
  ...{ kind: "purge", id: tenant },
  at: (Math.floor(clock.now() / HOUR) + 2) * HOUR,
});

/** Takes hold of a purge whose time has come, in one conditional write: from the first on there is no way back. */
async function claim({ platform, store }: PurgeContext): Promise<Item | undefined> {
  const { tenant, clock } = store;
  const now = clock.now();
  const isDue = all(is("status", "deleted"), atMost("deleted_at", timestamp(now - KEPT_MS)));
  const isFree = any(absent("purge_until"), below("purge_until", now));
  const isOver = any(absent("purge_not_before"), atMost("purge_not_before", now));
  const workspace = await platform
    .update(
      platformKeys.tenant(tenant),
      { set: { purge_until: now + LEASE_MS }, initial: { purging_at: timestamp(now) } },
      all(isDue, absent("purged_at"), isFree, isOver),
    )
    .catch(onConditionFailed(() => undefined));
  if (!workspace || workspace.usage_record) return workspace;
  const usage_record = await usageRecord(store);
  return platform.update(platformKeys.tenant(tenant), { initial: { usage_record } }, present());
}

const isOurs = ({ purge_until }: Item) => is("purge_until", Number(purge_until));

/** Lets somebody else go on, no sooner than after a pause. */
async function releasePurge(
  { platform, store }: PurgeContext,
  claimed: Item,
  pauseMs: number,
  found = 0,
): Promise<PurgeStep> {
  const set = { purge_found: found, purge_not_before: store.clock.now() + pauseMs };
  await platform
    .update(platformKeys.tenant(store.tenant), { set, remove: ["purge_until"] }, isOurs(claimed))
    .catch(onConditionFailed(() => undefined));
  return { retryInMs: pauseMs };
}

/** The user goes with the last workspace; one who joins another at this moment stays. The member's row is the last. */
async function release(platform: Platform, tenant: TenantId, { user_id, email }: Member): Promise<void> {
  const key = platformKeys.user(email);
  const user = await platform.get(key);
  const others = (await membershipsOf(platform, user_id)).filter((other) => other.tenant !== tenant);
  if (user?.id === user_id && others.length === 0) {
    const hasNotJoined = user.joined === undefined ? absent("joined") : is("joined", user.joined);
    await platform.remove(key, hasNotJoined).catch(onConditionFailed(() => undefined));
  }
  await platform.remove(platformKeys.membership(user_id, tenant));
  await platform.remove(platformKeys.member(tenant, user_id));
}

/** Objects first: a row that is gone could not tell their names. @returns whether there were any. */
async function removeSomeAssets({ store, assetFiles }: PurgeContext): Promise<boolean> {
  const { items } = await store.query({ pk: keys.entities(store.tenant, "asset"), limit: ASSETS_A_PAGE });
  for (const { name } of items) await assetFiles.remove(String(name));
  await store.writeAll(items.map(({ pk, sk }) => ({ remove: { pk, sk } })));
  return items.length > 0;
}

async function removeRows(context: PurgeContext, claimed: Item, isTimeUp: () => boolean): Promise<PurgeStep> {
  const { platform, store, workspaceRows } = context;
  let found = Number(claimed.purge_found ?? 0);
  let from = claimed.purge_from ? (JSON.parse(String(claimed.purge_from)) as Key) : undefined;
  do {
    const page = await workspaceRows.find(from);
    await leaveAgency(context, page.found);
    await workspaceRows.remove(page.found);
    found += page.found.length;
    from = page.next;
    const place = from ? { set: { purge_from: JSON.stringify(from) } } : { remove: ["purge_from"] };
    const isStillOurs = await platform.update(platformKeys.tenant(store.tenant), place, isOurs(claimed)).then(
      () => true,
      onConditionFailed(() => false),
    );
    if (!isStillOurs) return "done";
    if (from && isTimeUp()) return releasePurge(context, claimed, 0, found);
  } while (from);
  if (found > 0) return releasePurge(context, claimed, PAUSE_MS);
  await bury(context, claimed);
  return "done";
}

/** An agency counts its clients: one less, once, with the row that says so. */
async function leaveAgency({ platform, store }: PurgeContext, found: readonly Key[]): Promise<void> {
  const { sk } = platformKeys.client("", store.tenant);
  for (const { pk } of found.filter((row) => row.sk === sk))
    await platform
      .transact([
        { remove: { pk, sk }, when: present() },
        { update: { pk, sk: pk }, change: { add: { clients: -1 } }, when: present("clients") },
      ])
      .catch(onTransactionCanceled(() => undefined));
}

/** What stays: that the id was used, when, and what was used of which plan. Nobody's name, nobody's address. */
async function bury({ platform, store }: PurgeContext, claimed: Item): Promise<void> {
  const { id, status, plan, kind, created_at, deleted_at, purging_at, usage_record } = claimed;
  const kept = { id, status, plan, kind, created_at, deleted_at, purging_at, usage_record };
  const tombstone = { ...platformKeys.tenant(store.tenant), ...kept, purged_at: timestamp(store.clock.now()) };
  await platform.put(tombstone, isOurs(claimed)).then(
    () => store.log({ level: "info", message: "a workspace was purged", tenant: store.tenant }),
    onConditionFailed(() => undefined),
  );
}
