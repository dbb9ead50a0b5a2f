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

/** A workspace with a subscriber and an event, which was deleted. */
async function deleted() {
  const { world, tenant } = await setting();
  const { id } = await upsert(world, tenant, "ada");
  await ingest(world, tenant, { events: [{ subscriber_id: id, event_name: "bought" }] });
  await operate(world, tenant, { status: "deleted" });
  await world.settle();
  return { world, tenant };
}

it("the purge of a deleted workspace publishes nothing (CLI-3)", async () => {
  const { world, tenant } = await deleted();
  const eventsBefore = world.eventbridge.events(BUS).length;
  const objectsBefore = await archived(world);

  await pass30Days(world);

  expect(await rowsOf(world, tenant)).toHaveLength(1);
  expect(world.eventbridge.events(BUS)).toHaveLength(eventsBefore);
  expect(await archived(world)).toEqual(objectsBefore);
});

it("other workspaces are published after the purge of a deleted one (CLI-3)", async () => {
  const { world, tenant } = await deleted();
  const other = await world.tenant();
  await pass30Days(world);

  await upsert(world, other, "grace");
  await world.settle();

  expect(entriesOnBus(world, "subscriber.created").map(({ tenant_id }) => tenant_id)).toEqual([tenant.id, other.id]);
});

/** A sandbox that is 40 days ahead, with a subscriber who was created at `now` in real time. */
async function sandboxAhead() {
  const { world } = await setting();
  const { tenant, move, person } = await sandboxIn(world);
  await move({ advance: "40d" });
  const now = world.clock.now();
  await person("ada");
  await world.settle();
  return { world, tenant, now };
}

it("an event of a sandbox says so on the bus, with the time of the sandbox (CLI-3)", async () => {
  const { world, tenant, now } = await sandboxAhead();

  const [entry] = entriesOnBus(world, "subscriber.created");
  expect(entry).toMatchObject({ sandbox: true, tenant_id: tenant.id, events: [{ data: { external_id: "ada" } }] });
  const [event] = entry!.events as unknown as [{ timestamp: string }];
  expect(Date.parse(event.timestamp)).toBeGreaterThan(now + 39 * DAY);
});

it("an event of a sandbox is archived by the real hour of its writing (CLI-3)", async () => {
  const { world, tenant, now } = await sandboxAhead();

  const hour = timestamp(now).slice(0, 13).replace("T", "-");
  expect(await archived(world)).toEqual([expect.stringContaining(`workspace=${tenant.id}/hour=${hour}/`)]);
});
