// What happens is stored in the archive of the account: at least once, with ids, by workspace and hour, for Athena.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { GetObjectCommand, GetObjectTaggingCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import type { ArchiveRecord } from "../../functions/workers/publish-events/records.ts";
import { awsFailure, type EntryFailure, type Hooks } from "../../local/aws/index.ts";
import { HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import { ingest } from "../support/events.ts";
import { mailing } from "../support/mails.ts";
import { post } from "../support/notify.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const BUCKET = "engagement-archive";
const setting = (hooks: (name: string) => Hooks = () => ({}), more: Record<string, string> = {}) =>
  withTenant({ env: { ARCHIVE_BUCKET: BUCKET, ...more }, hooks });

const s3 = (world: TestWorld) => world.depsFor("test").aws(S3Client);

async function keysOf(world: TestWorld): Promise<string[]> {
  const { Contents = [] } = await s3(world).send(new ListObjectsV2Command({ Bucket: BUCKET }));
  return Contents.map(({ Key = "" }) => Key);
}

async function linesOf(world: TestWorld, key: string): Promise<ArchiveRecord[]> {
  const { Body } = await s3(world).send(new GetObjectCommand({ Bucket: BUCKET, Key: key }));
  const text = gunzipSync(await Body!.transformToByteArray()).toString();
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

async function archived(world: TestWorld, kind?: string): Promise<ArchiveRecord[]> {
  const all = await Promise.all((await keysOf(world)).map((key) => linesOf(world, key)));
  return all.flat().filter((record) => kind === undefined || record.kind === kind);
}

const upsert = async (world: TestWorld, tenant: Tenant, external_id: string) =>
  (
    await world.call("POST /api/v1/subscribers/upsert", {
      as: tenant.sdk,
      body: { external_id, email: `${external_id}@example.com` },
    })
  ).body;

describe("what is in the archive", () => {
  it("the archive has events as they were received, in one object for the workspace and the hour (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    const events = Array.from({ length: 30 }, (_, n) => ({
      anonymous_id: "visitor",
      event_name: "seen",
      properties: { n },
    }));
    await ingest(world, tenant, { events });
    await ingest(world, other, { events: [{ anonymous_id: "visitor", event_name: "seen" }] });
    await world.settle();
    const keys = (await keysOf(world)).toSorted();
    expect(keys.map((key) => key.split("/").slice(0, -1))).toEqual(
      [tenant.id, other.id].toSorted().map((id) => ["records", `workspace=${id}`, "hour=2026-11-20-12"]),
    );
    const own = keys.find((key) => key.includes(tenant.id))!;
    expect(own).toMatch(/\/[0-9a-f]{32}\.jsonl\.gz$/);
    const lines = await linesOf(world, own);
    expect(new Set(lines.map(({ id }) => id)).size).toBe(30);
    expect(lines[7]).toMatchObject({ kind: "event", type: "seen", anonymous_id: "visitor", subscriber_id: null });
    expect(JSON.parse(lines[7]!.data)).toMatchObject({ properties: { n: 7 }, source: "server" });
  });

  it("the archive has events that are large unpacked in objects that fit into the memory of the worker (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const properties = { said: Array.from({ length: 110 }, () => "a".repeat(256)) };
    for (let request = 0; request < 24; request++) {
      const events = Array.from({ length: 15 }, () => ({ anonymous_id: "visitor", event_name: "seen", properties }));
      await ingest(world, tenant, { events });
    }
    await world.settle();
    const objects = await Promise.all((await keysOf(world)).map((key) => linesOf(world, key)));
    expect(objects.length).toBe(2);
    expect(new Set(objects.flat().map(({ id }) => id)).size).toBe(24 * 15);
    const sizes = objects.map((lines) => Buffer.byteLength(JSON.stringify(lines)));
    expect(Math.max(...sizes)).toBeLessThan(10 * 1_024 * 1_024);
  });

  it("the archive has the outcome of each message (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const { id } = await upsert(world, tenant, "ada");

    const { body: job } = await post(world, tenant, { subscriberIds: [id] });
    await world.settle();

    expect(await archived(world, "outcome")).toMatchObject([
      { type: "sent", channel: "in_app", subscriber_id: id, job_id: job.id, occurred_at: expect.any(String) },
    ]);
  });

  it("the archive has a mail that was tried again at the time of the try that sent it (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const { ada, channel } = await mailing(world, tenant);
    await world.call("POST /_local/faults", { body: { channel: "email", outcome: "transient", times: 1 } });

    const { body: job } = await post(world, tenant, { subscriberIds: [ada], channel_ids: [channel] });
    await world.advance(HOUR);

    const { items } = (await tenant.call(`GET /api/v1/notifications/${job.id}/recipients`)).body;
    const sent = (await archived(world, "outcome")).filter(({ type }) => type === "sent");
    expect(sent.map(({ occurred_at }) => occurred_at)).toEqual([items[0].at]);
  });

  it("the archive has what became of a mail later (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const { ada, mail } = await mailing(world, tenant, "complaint@simulator.amazonses.com");

    const { job } = await mail();
    await world.advance(MINUTE);

    const outcomes = (await archived(world, "outcome")).toSorted((a, b) => a.type.localeCompare(b.type));
    const ofMail = { channel: "email", subscriber_id: ada, job_id: job.id };
    expect(outcomes).toMatchObject([
      { ...ofMail, type: "complained" },
      { ...ofMail, type: "sent" },
    ]);
  });

  it("the archive has outbound events, without the address and attributes of a new subscriber (CLI-3, SUB-10)", async () => {
    const { world, tenant } = await setting();
    const { id } = await upsert(world, tenant, "ada");
    await world.settle();
    const [created, ...others] = await archived(world);

    expect([created, others]).toMatchObject([
      { kind: "outbound", type: "subscriber.created", subscriber_id: id, data: "{}" },
      [],
    ]);
  });

  it("the archive has nothing of what an erasure writes (CLI-3, SUB-10)", async () => {
    const { world, tenant } = await setting();
    const { id } = await upsert(world, tenant, "ada");
    await post(world, tenant, { subscriberIds: [id] });
    await ingest(world, tenant, { events: [{ subscriber_id: id, event_name: "seen" }] });
    await world.advance(MINUTE);
    const before = await archived(world);
    await tenant.call(`DELETE /api/v1/subscribers/${id}`);
    await world.advance(HOUR);

    expect(await archived(world)).toHaveLength(before.length);
  });
});

describe("its objects", () => {
  it("objects of the archive have a tag with their workspace (CLI-3)", async () => {
    const { world, tenant } = await setting();
    await upsert(world, tenant, "ada");
    await world.settle();
    const [Key] = await keysOf(world);
    const { TagSet } = await s3(world).send(new GetObjectTaggingCommand({ Bucket: BUCKET, Key }));

    expect(TagSet).toEqual([{ Key: "workspace", Value: tenant.id }]);
  });

  it("objects of the archive are there once a bucket that refused takes them again, and messages went on (CLI-3)", async () => {
    const storing = requests({ of: "publish-events", service: "s3" });
    storing.fail(awsFailure("SlowDown", "Please reduce your request rate.", { status: 503 }));
    const { world, tenant } = await setting(storing.hooks);
    const { id } = await upsert(world, tenant, "ada");
    const { body: job } = await post(world, tenant, { subscriberIds: [id] });
    await world.advance(30 * MINUTE);
    expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.status).toBe("completed");
    expect(await keysOf(world)).toEqual([]);
    storing.pass();
    await world.advance(5 * MINUTE);
    expect((await archived(world, "outcome")).map(({ job_id }) => job_id)).toEqual([job.id]);
    // By the hour of the writing, whenever they are stored.
    expect(new Set((await keysOf(world)).map((key) => key.split("/")[2]))).toEqual(new Set(["hour=2026-11-20-12"]));
  });

  it("objects of the archive do not wait for a bus that refuses, and come again under the same name (CLI-3)", async () => {
    const storing = requests({ of: "publish-events", service: "s3" });
    const { world, tenant } = await setting(storing.hooks, { EVENT_BUS: "default" });
    const refused: EntryFailure = { ErrorCode: "InternalFailure", ErrorMessage: "Try again." };
    world.eventbridge.refuse(() => refused);
    await upsert(world, tenant, "ada");
    await world.advance(10 * MINUTE);

    expect(storing.seen()).toBeGreaterThan(1);
    expect(await archived(world)).toHaveLength(1);
  });

  it("the archive of a thousand events takes few requests (CLI-3)", async () => {
    const { world, tenant } = await setting();
    for (let n = 0; n < 10; n++)
      await ingest(world, tenant, {
        events: Array.from({ length: 100 }, (_, i) => ({ anonymous_id: `visitor-${i}`, event_name: "seen" })),
      });
    world.s3.resetMeter();
    await world.settle();

    expect(world.s3.meter().requests).toBeLessThanOrEqual(10);
    expect(await archived(world, "event")).toHaveLength(1_000);
  });
});

it("the table of Athena in the guide has the fields of a record (CLI-3)", async () => {
  const { world, tenant } = await setting();
  await upsert(world, tenant, "ada");
  await world.settle();
  const [record] = await archived(world);
  const guide = readFileSync(new URL("../../docs/guides/archive.md", import.meta.url), "utf8");
  const [, columns = ""] = /CREATE EXTERNAL TABLE \w+ \(\n([\s\S]+?)\n\)/.exec(guide) ?? [];
  const named = columns.split(",").map((column) => column.trim().split(" ")[0]);

  expect(named.toSorted()).toEqual(Object.keys(record!).toSorted());
});
