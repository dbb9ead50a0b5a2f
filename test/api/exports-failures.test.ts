// Exports that cannot be made, or whose worker stops (RDA-16).
import { expect, it } from "vitest";
import { HOUR, MINUTE, SECOND, timestamp } from "../../shared/kernel/clock.ts";
import { withBuyers } from "../support/conversions.ts";
import { exporting } from "../support/exports.ts";
import { addPeople } from "../support/people.ts";
import { mend, spoil } from "../support/reached.ts";
import { lostReply, requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const setting = exporting(worlds());

it.each([
  ["list", {}],
  ["segment", { rule: { attribute: { vip: { $eq: true } } } }],
])("an export of a %s that is deleted before it is made fails, and leaves no file (RDA-16)", async (kind, more) => {
  const { world, call, begin, get, objectNames } = await setting();
  const { id: group } = (await call(`POST /api/v1/${kind}s`, { name: "Readers", ...more })).body;
  const id = await begin({ kind, filter: { [`${kind}_id`]: group } });
  expect((await call(`DELETE /api/v1/${kind}s/${group}`)).status).toBe(204);
  await world.settle();

  expect(await get(id)).toMatchObject({ status: "failed", url: null, error: "what is exported was deleted" });
  expect(await objectNames()).toEqual([]);
});

it("an export whose file could not be stored for an hour is made afterwards (RDA-16)", async () => {
  const { world, upsert, begin, get, linesOf } = await setting();
  await upsert({ external_id: "ada" });
  await spoil(world, { channel: "aws:s3" });
  const id = await begin({ kind: "subscribers" });
  await world.advance(HOUR);
  expect((await get(id)).status).not.toBe("completed");

  await mend(world);
  await world.advance(HOUR);

  expect(await linesOf(id)).toHaveLength(2);
});

it("an export whose file could not be stored for a day fails, and says so (RDA-16)", async () => {
  const { world, begin, get, objectNames } = await setting();
  await spoil(world, { channel: "aws:s3" });
  const id = await begin({ kind: "subscribers" });
  await world.advance(HOUR);
  world.clock.jumpTo(world.clock.now() + 22 * HOUR);
  await world.advance(2 * HOUR);

  await mend(world);
  await world.advance(HOUR);

  expect(await get(id)).toMatchObject({ status: "failed", error: "it could not be made within a day" });
  expect(await objectNames()).toEqual([]);
});

it("a large file is made in parts, by several messages and after a crash, with each row once (ARC-15, RDA-16)", async () => {
  const seen = { pages: 0, completions: 0 };
  const found = await setting({
    hooks: (name) => ({
      before: (service, operation) => {
        if (name !== "import-rows") return;
        if (service === "dynamodb" && operation === "Query") {
          // A page takes five seconds: the worker's time is over after eight of them.
          found.world.clock.jumpTo(found.world.clock.now() + 5 * SECOND);
          seen.pages++;
        }
        if (operation === "CompleteMultipartUpload") seen.completions++;
        if (operation === "CompleteMultipartUpload" && seen.completions === 1) throw new Error("The worker stopped.");
      },
    }),
  });
  const { world, tenant, begin, get, linesOf, objectNames } = found;
  const people = 240;
  await addPeople(world, tenant, people, () => ({ attributes: { note: "x".repeat(40_000) } }));

  const id = await begin({ kind: "subscribers" });
  await world.advance(30 * MINUTE);

  expect(await get(id)).toMatchObject({ status: "completed", rows: people });
  expect(new Set((await linesOf(id)).slice(1)).size).toBe(people);
  expect(await linesOf(id)).toHaveLength(people + 1);
  expect(seen.pages).toBeGreaterThan(8);
  expect(seen.completions).toBe(2);
  expect(await objectNames()).toEqual([`${id}.csv`]);
});

it("an export whose worker stopped when its file was put together is made anew, with each row once (ARC-15, RDA-16)", async () => {
  const completing = requests({ of: "import-rows", operation: "CompleteMultipartUpload", moment: "after" });
  completing.next(() => {
    throw new Error("The worker stopped.");
  });
  const { world, tenant, begin, get, linesOf, objectNames } = await setting({ hooks: completing.hooks });
  const people = 240;
  await addPeople(world, tenant, people, () => ({ attributes: { note: "x".repeat(40_000) } }));

  const id = await begin({ kind: "subscribers" });
  await world.advance(30 * MINUTE);

  expect(await get(id)).toMatchObject({ status: "completed", rows: people });
  expect(await linesOf(id)).toHaveLength(people + 1);
  expect(new Set(await linesOf(id)).size).toBe(people + 1);
  expect(await objectNames()).toEqual([`${id}.csv`]);
  expect(completing.seen()).toBe(2);
});

it("an export whose worker stopped before it noted how far it had got has each row once (ARC-15, RDA-16)", async () => {
  const putting = requests({ of: "import-rows", operation: "PutObject", naming: ".rest", moment: "after" });
  let puts = 0;
  putting.each(() => {
    puts++;
    if (puts === 2) throw new Error("The worker stopped.");
  });
  const found = await setting({
    hooks: (name) => ({
      ...putting.hooks(name),
      before: (_, operation) => {
        // A page takes five seconds: the worker's time is over several times.
        if (name === "import-rows" && operation === "Query")
          found.world.clock.jumpTo(found.world.clock.now() + 5 * SECOND);
      },
    }),
  });
  const { world, tenant, begin, get, linesOf, objectNames } = found;
  const people = 60;
  await addPeople(world, tenant, people);

  const id = await begin({ kind: "subscribers" });
  await world.advance(30 * MINUTE);

  expect(await get(id)).toMatchObject({ status: "completed", rows: people });
  expect(new Set((await linesOf(id)).slice(1)).size).toBe(people);
  expect(await linesOf(id)).toHaveLength(people + 1);
  expect(await objectNames()).toEqual([`${id}.csv`]);
  expect(puts).toBeGreaterThan(2);
});

it("an export is begun once where the reply of the table to its beginning is lost (RDA-16)", async () => {
  const putting = requests({ of: "api-imports", operation: "PutItem", naming: '"export"', moment: "after" });
  putting.next(lostReply);
  const { world, begin, get, call } = await setting({ hooks: putting.hooks });

  const id = await begin({ kind: "suppressions" });
  await world.settle();

  expect(await get(id)).toMatchObject({ status: "completed", rows: 0 });
  expect((await call("GET /api/v1/exports")).body.items).toHaveLength(1);
  expect(putting.isAwaited()).toBe(false);
});

it("an export of the report that is made an hour late has nothing that was sent after it was asked for (RDA-16)", async () => {
  const found = await setting();
  const { world, begin, linesOf } = found;
  const { campaign } = await withBuyers(found, 2);
  await campaign([undefined, timestamp(world.clock.now() + HOUR / 2)]);
  await world.advance(MINUTE);
  await spoil(world, { channel: "aws:s3" });
  const id = await begin({ kind: "report" });
  await world.advance(HOUR);
  await mend(world);
  await world.advance(HOUR);

  expect((await linesOf(id)).slice(1).map((row) => row.split(",")[5])).toEqual(["2"]);
});
