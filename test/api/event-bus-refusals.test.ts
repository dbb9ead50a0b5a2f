// What the event bus refuses: it comes later, or lies aside; and nothing else waits for it.
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";
import { describe, expect, it } from "vitest";
import type { EntryFailure } from "../../local/aws/index.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { BUS, createdOnBus, onBus, upsert } from "../support/event-bus.ts";
import { post } from "../support/notify.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = () => withTenant({ env: { EVENT_BUS: BUS } });
const REFUSED: EntryFailure = { ErrorCode: "InternalFailure", ErrorMessage: "Try again." };
const FORBIDDEN: EntryFailure = { ErrorCode: "AccessDeniedException", ErrorMessage: "A policy denies it." };

/** Refuses what is of these people, as long as the list names them. */
const refusePeople = ({ eventbridge }: TestWorld, people: readonly string[], failure: EntryFailure) =>
  eventbridge.refuse(({ Detail }) =>
    people.some((name) => String(Detail).includes(`"${name}"`)) ? failure : undefined,
  );

/** The batches that the worker set aside, as `operate redrive` would give them to it. */
async function setAside({ depsFor, env }: TestWorld): Promise<{ Records: object[] }[]> {
  const s3 = depsFor("test").aws(S3Client);
  const Bucket = env.PUBLISH_FAILURES;
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }));
  return Promise.all(
    Contents.map(async ({ Key }) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return JSON.parse(await Body!.transformToString()).payload;
    }),
  );
}

describe("what a bus may take later", () => {
  it("an event that the bus refuses in a successful answer is sent again, and only that (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const others = [await world.tenant(), await world.tenant()];
    for (const one of [tenant, ...others]) await upsert(world, one, `person of ${one.id}`);
    let failures = 2;
    world.eventbridge.refuse(({ Detail }) =>
      String(Detail).includes(tenant.id) && failures-- > 0 ? REFUSED : undefined,
    );
    await world.advance(MINUTE);

    expect(createdOnBus(world).toSorted()).toEqual([tenant, ...others].map(({ id }) => `person of ${id}`).toSorted());
    expect(world.eventbridge.meter()).toEqual({ requests: 1 + 2, entries: 3 + 2 });
  });

  /** A bus that has refused everything for an hour, in which three sends were made. */
  const refusedForAnHour = async () => {
    const { world, tenant } = await setting();
    world.eventbridge.refuse(() => REFUSED);
    const { id } = await upsert(world, tenant, "ada");
    const statuses: string[] = [];
    for (let minute = 0; minute < 60; minute += 20) {
      const { body: job } = await post(world, tenant, { subscriberIds: [id] });
      await world.advance(MINUTE);
      statuses.push((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.status);
      await world.advance(19 * MINUTE);
    }
    return { world, statuses };
  };

  it("sends go on while the bus refuses everything (CLI-3)", async () => {
    const { world, statuses } = await refusedForAnHour();

    expect(world.eventbridge.events(BUS)).toEqual([]);
    expect(statuses).toEqual(["completed", "completed", "completed"]);
  });

  it("what the bus refuses is logged with its code (CLI-3)", async () => {
    const { world } = await refusedForAnHour();

    const refusals = world.logs.filter(({ message }) => message === "the bus refuses events");
    expect(refusals[0]).toMatchObject({ code: "InternalFailure" });
  });

  it("what the bus refused for an hour is all there later (CLI-3)", async () => {
    const { world } = await refusedForAnHour();

    world.eventbridge.refuse();
    await world.advance(2 * MINUTE);

    expect(onBus(world, "subscriber.created")).toHaveLength(1);
    expect(onBus(world, "notification.dispatched")).toHaveLength(3);
    expect(onBus(world, "notification.terminal")).toHaveLength(3);
  });

  it("an event of a request that the bus throttled is put again (CLI-3)", async () => {
    const { world, tenant } = await setting();
    await world.call("POST /_local/faults", { body: { channel: "aws:eventbridge", times: 2 } });
    await upsert(world, tenant, "ada");
    await world.settle();

    expect(onBus(world, "subscriber.created")).toHaveLength(1);
    expect(world.eventbridge.meter()).toEqual({ requests: 1, entries: 1 });
  });

  it("an event that the bus refused comes again with the same id (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const waiting = ["ada"];
    refusePeople(world, waiting, REFUSED);
    await upsert(world, tenant, "ada");
    await upsert(world, await world.tenant(), "grace");
    await world.advance(5 * MINUTE);
    waiting.pop();
    await world.advance(2 * MINUTE);
    const ids = (name: string) =>
      onBus(world, "subscriber.created").flatMap(({ id, data }) => (data.external_id === name ? [id] : []));

    expect(ids("ada")).toHaveLength(1);
    expect(ids("grace").length).toBeGreaterThan(1);
    expect(new Set(ids("grace")).size).toBe(1);
  });
});

describe("what a bus never takes", () => {
  it.each([
    "NotAuthorizedForSourceException",
    "NotAuthorizedForDetailTypeException",
    "InvalidArgument",
    "ValidationException",
  ])("what the bus refuses by %s delays no other workspace (CLI-3)", async (ErrorCode) => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    refusePeople(world, ["ada"], { ErrorCode, ErrorMessage: "No." });
    await upsert(world, tenant, "ada");
    await upsert(world, other, "grace");
    await world.settle();
    await upsert(world, other, "lin");
    await world.settle();

    expect(createdOnBus(world)).toEqual(["grace", "lin"]);
    expect(await setAside(world)).toHaveLength(1);
  });

  it("what the bus refused for good is published by a redrive (CLI-3)", async () => {
    const { world, tenant } = await setting();
    refusePeople(world, ["ada"], { ErrorCode: "InvalidArgument", ErrorMessage: "No." });
    await upsert(world, tenant, "ada");
    await upsert(world, await world.tenant(), "grace");
    await world.settle();
    world.eventbridge.refuse();

    const [batch, ...more] = await setAside(world);
    expect(batch?.Records).toHaveLength(1);
    expect(more).toEqual([]);
    await world.host.invoke("publish-events", batch!);

    expect(createdOnBus(world)).toEqual(["grace", "ada"]);
  });

  it("an event for which a request to the bus is refused as a whole costs no other event of the request (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    refusePeople(world, ["ada"], { ...FORBIDDEN, ofRequest: true });
    await upsert(world, tenant, "ada");
    await upsert(world, other, "grace");
    await world.settle();

    expect(createdOnBus(world)).toEqual(["grace"]);
    expect(await setAside(world)).toHaveLength(1);
  });

  it("what a bus refuses to everybody is not set aside, and comes when its policy is mended (CLI-3)", async () => {
    const { world, tenant } = await setting();
    world.eventbridge.refuse(() => ({ ...FORBIDDEN, ofRequest: true }));
    for (const name of ["ada", "grace"]) await upsert(world, tenant, name);
    await world.advance(60 * MINUTE);
    world.eventbridge.refuse();
    await world.advance(5 * MINUTE);

    expect(createdOnBus(world)).toEqual(["ada", "grace"]);
    expect(await setAside(world)).toEqual([]);
  });

  it("an event that is set aside is so once, while something before it is tried again (CLI-3)", async () => {
    const { world, tenant } = await setting();
    const other = await world.tenant();
    const waiting = ["ada"];
    world.eventbridge.refuse(({ Detail }) => {
      if (String(Detail).includes('"grace"')) return { ErrorCode: "InvalidArgument", ErrorMessage: "No." };
      return waiting.some((name) => String(Detail).includes(`"${name}"`)) ? REFUSED : undefined;
    });
    await upsert(world, tenant, "ada");
    await upsert(world, other, "grace");
    await world.advance(20 * MINUTE);
    waiting.pop();
    await world.advance(5 * MINUTE);

    expect(createdOnBus(world)).toEqual(["ada"]);
    expect((await setAside(world)).map(({ Records }) => Records.length)).toEqual([1]);
  });
});
