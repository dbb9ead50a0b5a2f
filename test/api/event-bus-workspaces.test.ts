// The event bus and the archive with workspaces that are suspended, deleted or sandboxes.
import { ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { DAY, timestamp } from "../../shared/kernel/clock.ts";
import { BUS, entriesOnBus, onBus, upsert } from "../support/event-bus.ts";
import { ingest } from "../support/events.ts";
import { operate, pass30Days, rowsOf } from "../support/purge.ts";
import { sandboxIn } from "../support/sandboxes.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const ARCHIVE = "engagement-archive";
const setting = () => withTenant({ env: { EVENT_BUS: BUS, ARCHIVE_BUCKET: ARCHIVE } });

async function archived({ depsFor }: TestWorld): Promise<string[]> {
  const s3 = depsFor("test").aws(S3Client);
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: ARCHIVE }));
  return Contents.map(({ Key = "" }) => Key);
}

it("what a workspace wrote before it was suspended is published (CLI-3)", async () => {
  const { world, tenant } = await setting();
  await upsert(world, tenant, "ada");
  await operate(world, tenant, { status: "suspended" });
  await world.settle();

  expect(onBus(world, "subscriber.created")).toHaveLength(1);
  expect(await archived(world)).toHaveLength(1);
});

it("the purge of a deleted workspace publishes nothing, and other workspaces go on (CLI-3)", async () => {
  const { world, tenant } = await setting();
  const other = await world.tenant();
  const { id } = await upsert(world, tenant, "ada");
  await ingest(world, tenant, { events: [{ subscriber_id: id, event_name: "bought" }] });
  await operate(world, tenant, { status: "deleted" });
  await world.settle();
  const [before, objects] = [world.eventbridge.events(BUS).length, await archived(world)];
  await pass30Days(world);
  expect(await rowsOf(world, tenant)).toHaveLength(1);
  expect(world.eventbridge.events(BUS)).toHaveLength(before);
  expect(await archived(world)).toEqual(objects);

  await upsert(world, other, "grace");
  await world.settle();
  expect(entriesOnBus(world, "subscriber.created").map(({ tenant_id }) => tenant_id)).toEqual([tenant.id, other.id]);
});

it("an event of a sandbox says so and has the sandbox's time, in the archive by the hour of its writing (CLI-3)", async () => {
  const { world } = await setting();
  const { tenant, move, person } = await sandboxIn(world);
  await move({ advance: "40d" });
  const now = world.clock.now();
  await person("ada");
  await world.settle();
  const [entry] = entriesOnBus(world, "subscriber.created");
  expect(entry).toMatchObject({ sandbox: true, tenant_id: tenant.id, events: [{ data: { external_id: "ada" } }] });
  const [{ timestamp: told }] = entry!.events as unknown as [{ timestamp: string }];
  expect(Date.parse(told)).toBeGreaterThan(now + 39 * DAY);
  const hour = timestamp(now).slice(0, 13).replace("T", "-");
  expect(await archived(world)).toEqual([expect.stringContaining(`workspace=${tenant.id}/hour=${hour}/`)]);
});
