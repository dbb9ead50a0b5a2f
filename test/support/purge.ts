// A deleted workspace: its rows and objects, and the time until its purge.
import { DAY, HOUR, timestamp } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { quickDeps, wholeTable } from "./people.ts";
import type { Tenant, TestWorld } from "./world.ts";

export const operate = (world: TestWorld, tenant: Tenant, change: object) =>
  world.host.invoke("operator", { tenant_id: tenant.id, ...change });

/** Every row that names the workspace, without the operator's list, in which it stays as its tombstone does. */
export const rowsOf = async (world: TestWorld, { id }: Tenant) =>
  (await wholeTable(world)).filter((item) => item.pk.S !== "WORKSPACES" && JSON.stringify(item).includes(id));

export const objectsOf = async (world: TestWorld) => {
  const found = [];
  for (const Bucket of [world.env.ASSETS_BUCKET, world.env.IMPORTS_BUCKET]) {
    const { Contents = [] } = await world.s3.operate("ListObjectsV2", { Bucket });
    found.push(...(Contents as { key: string }[]).map(({ key }) => key));
  }
  return found;
};

/** Deleted just so long ago that the purge may begin. */
export async function deletedLongAgo(world: TestWorld, tenant: Tenant): Promise<void> {
  await operate(world, tenant, { status: "deleted" });
  const platform = platformWrite.open(quickDeps(world))("" as TenantId);
  const deleted_at = timestamp(world.clock.now() - 30 * DAY);
  await platform.change(WorkspaceItem, { tenant: tenant.id }, { set: { deleted_at } });
}

export const wake = (world: TestWorld, { id }: Tenant) =>
  world.host.invoke("purge", {
    Records: [{ messageId: "1", body: JSON.stringify({ tenant: id }), attributes: {}, messageAttributes: {} }],
  }) as Promise<{ batchItemFailures: unknown[] }>;

/** To the end: the passes, the pause between them, the watchdog. */
export const pass30Days = async (world: TestWorld) => {
  await world.advance(30 * DAY + 1);
  await world.advance(3 * HOUR);
};
