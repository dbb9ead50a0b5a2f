// A worker that dies while it publishes loses nothing: what it had not finished comes again, by the same ids.
import { gunzipSync } from "node:zlib";
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { ingest } from "../support/events.ts";
import { mortal } from "../support/mortal.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const Bucket = "engagement-archive";

/** The ids of everything that is in the archive. */
async function archivedIds({ depsFor }: TestWorld): Promise<Set<string>> {
  const s3 = depsFor("test").aws(S3Client);
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  const texts = await Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return gunzipSync(await Body!.transformToByteArray()).toString();
    }),
  );
  return new Set(texts.flatMap((text) => [...text.matchAll(/^\{.*"id":"([^"]+)"/gm)].map(([, id = ""]) => id)));
}

interface PublishedEvent {
  id: string;
  event_type?: string;
  event_name?: string;
  data?: { external_id: string };
}

const onBus = ({ eventbridge }: TestWorld): PublishedEvent[] =>
  eventbridge.events("default").flatMap(({ detail }) => (detail as { events: PublishedEvent[] }).events);

const cases = (["before", "after"] as const).flatMap((moment) => [1, 2, 3, 4, 5].map((n) => [moment, n] as const));

it.each(cases)("where it dies %s request %i, all is on the bus and in the archive (CLI-3, T1)", async (moment, n) => {
  const worker = mortal("publish-events");
  const env = { EVENT_BUS: "default", ARCHIVE_BUCKET: Bucket };
  const { world, tenant } = await withTenant({ env, hooks: worker.hooks });
  await world.call("POST /_local/operator", { body: { events_on_bus: { tenant_id: tenant.id, on: true } } });
  worker.dieAt(n, moment);
  const workspaces = [tenant];
  while (workspaces.length < 12) workspaces.push(await world.tenant());
  for (const { id, sdk } of workspaces)
    for (const name of ["ada", "grace"])
      await world.call("POST /api/v1/subscribers/upsert", { as: sdk, body: { external_id: `${name} of ${id}` } });
  await ingest(world, tenant, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
  await world.settle();
  worker.revive();
  await world.advance(2 * MINUTE);

  const told = onBus(world);
  const created = told.flatMap(({ id, event_type, data }) =>
    event_type === "subscriber.created" ? [{ id, name: data!.external_id }] : [],
  );
  expect(new Set(created.map(({ name }) => name)).size).toBe(24);
  expect(new Set(created.map(({ id }) => id)).size).toBe(24);
  expect(told).toContainEqual(expect.objectContaining({ event_name: "seen" }));
  // The 24 new subscribers, and the event that was received.
  expect((await archivedIds(world)).size).toBe(25);
});
