// Imports and journeys: people of a file enter segments, and start journeys unless the import says no (AMB-133, AMB-134).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { importing } from "../support/imports.ts";
import { delayed, journeySetting } from "../support/journeys.ts";
import { pro } from "../support/segments.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

/** A segment of those who have the plan, a journey that its change starts, and imports into a list. */
async function setting(type: "segment_entered" | "segment_exited") {
  const all = await journeySetting(await fresh());
  const { world, tenant } = all;
  const files = await importing({ withTenant: async () => ({ world, tenant }) })();
  const { body } = await all.call("POST /api/v1/segments", { name: "Pro", rule: pro, is_dynamic: true });
  await world.settle();
  const journey = await all.active(delayed("1d"), { trigger: { type, segment_id: body.id } });
  const members = async () => (await all.call(`GET /api/v1/segments/${body.id}`)).body.count;
  const started = async () => (await all.runs(journey)).length;
  const upsert = async (external_id: string, plan: string) => {
    const body = { external_id, attributes: { plan } };
    await tenant.upsert(body);
    await world.settle();
  };
  const change = async (rule: object) => {
    expect((await all.call(`PATCH /api/v1/segments/${body.id}`, { name: "Pro", rule })).status).toBe(200);
    await world.settle();
  };
  return { ...all, ...files, members, started, upsert, change };
}

const file = (plan: string) => `external_id,plan\nada,${plan}\nbob,${plan}\n`;
const QUIET = { start_journeys: "false" };

it("people of a file start journeys by the segments that they enter (AMB-133)", async () => {
  const { run, members, started } = await setting("segment_entered");
  await run(file("pro"));

  expect(await members()).toBe(2);
  expect(await started()).toBe(2);
});

it.each([
  ["new people", false],
  ["people who were there", true],
])("with start_journeys false %s enter segments and start nothing (AMB-133, AMB-134)", async (_, areThere) => {
  const { run, members, started, upsert } = await setting("segment_entered");
  if (areThere) for (const id of ["ada", "bob"]) await upsert(id, "free");

  expect((await run(file("pro"), QUIET)).status).toBe("completed");
  expect(await members()).toBe(2);
  expect(await started()).toBe(0);
});

it("with start_journeys false people start nothing through a rule that computes their segment again (AMB-133)", async () => {
  const { run, members, started, change } = await setting("segment_entered");
  await run(file("free"), QUIET);
  await change({ attribute: { plan: { $eq: "free" } } });

  expect(await members()).toBe(2);
  expect(await started()).toBe(0);
});

it("with start_journeys false people leave segments and start nothing (AMB-133, AMB-134)", async () => {
  const { run, members, started } = await setting("segment_exited");
  await run(file("pro"));
  await run(file("free"), QUIET);

  expect(await members()).toBe(0);
  expect(await started()).toBe(0);
});

it("who entered a segment by such an import and leaves it by a later change starts a journey (AMB-133)", async () => {
  const { run, started, upsert } = await setting("segment_exited");
  await run(file("pro"), QUIET);
  await upsert("ada", "free");

  expect(await started()).toBe(1);
});

it("what changes after such an import starts journeys again (AMB-133)", async () => {
  const { run, started, upsert } = await setting("segment_entered");
  await run(file("free"), QUIET);
  await upsert("ada", "pro");

  expect(await started()).toBe(1);
});

it("an event after such an import starts a journey by a static segment that is computed again (AMB-133, AMB-134)", async () => {
  const { world, call, active, runs, run, track } = await setting("segment_entered");
  const rule = { group: { op: "and", nodes: [pro, { event: { name: "bought" } }] } };
  const { id: segment_id } = (await call("POST /api/v1/segments", { name: "Buyers", rule })).body;
  await world.settle();
  const id = await active(delayed("1d"), { trigger: { type: "segment_entered", segment_id } });
  await run(file("pro"), QUIET);
  await world.advance(HOUR);
  await track("ada", "bought");
  expect((await call(`POST /api/v1/segments/${segment_id}/recompute`)).status).toBe(202);
  await world.settle();

  expect(await runs(id)).toHaveLength(1);
});

it("start_journeys is true or false (AMB-133)", async () => {
  const { post, list } = await setting("segment_entered");
  const { status, body } = await post(
    { listId: list, start_journeys: "no" },
    { filename: "people.csv", content: file("pro") },
  );

  expect(status).toBe(422);
  expect(body.fields).toEqual({ start_journeys: "must be true or false" });
});

it("who was imported with start_journeys false starts journeys by a rule that is made later (AMB-133)", async () => {
  const { world, run, members, started, change } = await setting("segment_entered");
  await run(file("free"), QUIET);
  await world.advance(HOUR);
  await change({ attribute: { plan: { $eq: "free" } } });

  expect(await members()).toBe(2);
  expect(await started()).toBe(2);
});

it("who entered a segment a moment before such an import starts a journey, where both changes are read together (AMB-133)", async () => {
  const { world, run, members, started, upsert, change } = await setting("segment_entered");
  await change({ attribute: { plan: { $in: ["pro", "team"] } } });
  const { invoke } = world.host;
  type Records = { dynamodb: { Keys: { pk: { S: string }; sk: { S: string } } } }[];
  const keyOf = ({ dynamodb: { Keys } }: Records[number]) => `${Keys.pk.S} ${Keys.sk.S}`;
  let [isHeld, held]: [boolean, Records] = [true, []];
  world.host.invoke = async (name, event) => {
    if (name !== "react") return invoke(name, event);
    const { Records } = event as { Records: Records };
    const before = new Set(held.map(keyOf));
    if (isHeld || !Records.some((record) => before.has(keyOf(record)))) {
      if (isHeld) held.push(...Records);
      return isHeld ? null : invoke(name, event);
    }
    return invoke(name, { Records: [...held.splice(0), ...Records] });
  };
  await upsert("ada", "pro");
  isHeld = false;

  await run(file("team"), QUIET);

  expect(held).toEqual([]);
  expect(await members()).toBe(2);
  expect(await started()).toBe(1);
});
