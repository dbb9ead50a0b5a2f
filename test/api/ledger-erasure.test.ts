// Erasure of the ledger: rows stay without the subscriber (SUB-10, T11): the id is left in the tombstone, and
// in the audit trail.
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { isPseudonym, packId } from "../../shared/kernel/ids.ts";
import { isHeldOut } from "../../shared/rules/split.ts";
import { ChunkItem } from "../../shared/store/sends/audience/audience-items.ts";
import { chunkOf } from "../../shared/store/sends/chunks/chunks.ts";
import { REQUEST_RANGE } from "../../shared/store/sends/chunks/range-names.ts";
import { namesNow } from "../../shared/store/subscribers/ledger-erasure.ts";
import { jobOf, post } from "../support/notify.ts";
import { addPeople, outsideAudit, send, wholeTable } from "../support/people.ts";
import { addPhone, mend, openChannels, spoil } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const erase = async (tenant: Tenant, id: string) =>
  expect((await tenant.call(`DELETE /api/v1/subscribers/${id}`)).status).toBe(204);

/** Rows that hold the id, as it is or as chunks pack it. */
const tracesOf = async (world: TestWorld, id: string): Promise<string[]> =>
  outsideAudit(await wholeTable(world))
    .map((row) => JSON.stringify(row))
    .filter((text) => text.includes(id) || text.includes(packId(id)))
    .filter((text) => !text.includes('"erased_at"'));

const rowsOf = async (tenant: Tenant, pk: string, prefix: string) =>
  (await tenant.rows.query({ pk: `T#${tenant.id}#${pk}`, prefix })).items;

/** A send of whose control group somebody is: one of a hundred leaves them out. */
async function heldOut(world: TestWorld, tenant: Tenant, id: string): Promise<Awaited<ReturnType<typeof send>>["job"]> {
  const { job } = await send(world, tenant, { target: { type: "all" }, holdout_percentage: 99 });
  return isHeldOut(job.id, id, 99) ? job : heldOut(world, tenant, id);
}

describe("what was sent to a subscriber who is erased", () => {
  /** Four sends to Ada and Bob, before Ada is erased. */
  const erased = shared(async (own) => {
    const { world, tenant, ids } = await own.withPeople(2);
    const [ada, bob] = ids as [string, string];
    const { ios } = await openChannels(world, tenant, "ios-push");
    for (const id of [ada, ada, bob]) await addPhone(world, tenant, id, "ios");
    const everybody = { target: { type: "all" } };
    const both = (await send(world, tenant, everybody)).job;
    const push = (await send(world, tenant, { ...everybody, channel_ids: [ios] })).job;
    await spoil(world, { channel: "ios", outcome: "permanent", subscriber_id: ada });
    const failed = (await send(world, tenant, { ...everybody, channel_ids: [ios] })).job;
    await mend(world);
    const held = await heldOut(world, tenant, ada);
    const tracesBefore = await tracesOf(world, ada);

    await erase(tenant, ada);
    await world.settle();
    await world.advance(5 * MINUTE);
    return { world, tenant, ada, bob, tracesBefore, jobs: { both, push, failed, held } };
  });

  it("no row names an erased subscriber, and its tombstone holds no mark (SUB-10, T11)", async () => {
    const { world, tenant, ada, tracesBefore } = await erased();

    expect(tracesBefore.length).toBeGreaterThan(6);
    expect(await tracesOf(world, ada)).toEqual([]);
    const tombstone = await tenant.rows.get({ pk: `T#${tenant.id}#S${ada[0]}`, sk: ada });
    expect(tombstone).not.toHaveProperty("mark");
  });

  it.each<[what: string, job: keyof Awaited<ReturnType<typeof erased>>["jobs"], states: string[]]>([
    ["a push and the inbox", "both", ["sent in_app", "sent ios", "sent ios"]],
    ["a push", "push", ["sent ios", "sent ios"]],
    ["a push that failed", "failed", ["failed ios", "failed ios"]],
    ["a control group", "held", ["held_out"]],
  ])(
    "the send of %s is kept as it was, with a pseudonym for who is erased (ARC-12, SUB-10, T11)",
    async (_, name, states) => {
      const { tenant, bob, jobs } = await erased();
      const job = jobs[name];

      const chunk = chunkOf((await tenant.store.get(ChunkItem, { job: job.id, range: REQUEST_RANGE, n: 0 }))!);
      const everybody = [...chunk.recipients.map(({ subscriber }) => subscriber), ...chunk.heldOut];
      const pseudonym = everybody.find(isPseudonym)!;
      const ledger = (await rowsOf(tenant, `U#${pseudonym}`, "R#")).filter((row) => row.job === job.id);

      expect(await jobOf(tenant, job.id)).toEqual(job);
      expect(everybody.filter((id) => !isPseudonym(id))).toEqual([bob]);
      expect(ledger.map(({ state, channel }) => `${state} ${channel ?? ""}`.trim()).sort()).toEqual(states);
    },
  );
});

it("a worker that read a chunk before an erasure writes under the pseudonym that the chunk holds since (SUB-10)", async () => {
  const { world, tenant } = await withTenant();
  const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
  const { job } = await send(world, tenant, { subscriberIds: [ada, bob] });
  const chunkRef = { job: job.id, range: REQUEST_RANGE, n: 0 };
  const plannedAt = world.clock.now();
  await erase(tenant, ada);
  await world.settle();
  await world.advance(MINUTE);
  const names = await namesNow(tenant.store, chunkRef, plannedAt, [ada, bob]);
  const chunk = chunkOf((await tenant.store.get(ChunkItem, chunkRef))!);
  const held = chunk.recipients.map(({ subscriber }) => subscriber).find(isPseudonym);

  expect(Object.fromEntries(names)).toEqual({ [ada]: held, [bob]: bob });
});

it("a subscriber erased between the plan and a late delivery is in no chunk either (SUB-10)", async () => {
  const claim = requests({ of: "deliver", operation: "UpdateItem" });
  claim.fail();
  const { world, tenant } = await withTenant({ hooks: claim.hooks });
  const { ios } = await openChannels(world, tenant, "ios-push");
  const [ada, bob] = (await addPeople(world, tenant, 2)) as [string, string];
  for (const id of [ada, bob]) await addPhone(world, tenant, id, "ios");
  const { id } = (await post(world, tenant, { subscriberIds: [ada, bob], channel_ids: [ios] })).body;
  await world.settle();
  await erase(tenant, ada);
  await world.advance(5 * MINUTE);
  claim.pass();
  await world.advance(9 * MINUTE);

  expect(await jobOf(tenant, id)).toMatchObject({
    status: "completed",
    counts: { sent: 2, delivered: 1, failed: 1 },
    fail_reasons: { erased: 1 },
  });
  expect(await tracesOf(world, ada)).toEqual([]);
});

it("an inbox send counts erased subscribers as erased if it did not reach them, and as delivered if it did (SUB-10, AMB-95)", async () => {
  const broken = { deliver: "UpdateItem", erase: "" };
  const { world, tenant } = await withTenant({
    hooks: (name) => ({
      before: (_, operation) => {
        if (broken[name as keyof typeof broken] === operation) throw new Error("the worker died");
      },
    }),
  });
  const [ada, ...others] = (await addPeople(world, tenant, 4)) as [string, ...string[]];
  const { id } = (await post(world, tenant, { subscriberIds: [ada, ...others] })).body;
  // Nothing is claimed yet.
  await world.settle();
  await erase(tenant, ada);
  await world.advance(5 * MINUTE);
  // The messages are written, their chunk is not closed.
  broken.deliver = "TransactWriteItems";
  await world.advance(7 * MINUTE);
  broken.erase = "Query";
  for (const reached of others.slice(0, 2)) await erase(tenant, reached);
  await world.settle();
  broken.deliver = "";
  await world.advance(9 * MINUTE);
  broken.erase = "";
  await world.advance(30 * MINUTE);

  expect(await jobOf(tenant, id)).toMatchObject({
    status: "completed",
    counts: { total: 4, sent: 4, delivered: 3, failed: 1 },
    fail_reasons: { erased: 1 },
  });
});
