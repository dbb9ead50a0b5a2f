// The sends of server keys in the audit trail: sealed by the quarter-hour (RDA-23, docs/decisions/0102).
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../shared/kernel/clock.ts";
import { toJson } from "../../shared/store/json-text.ts";
import { addEntries, auditOf } from "../support/audit.ts";
import { inMs } from "../support/notify.ts";
import { wholeTable } from "../support/people.ts";
import type { TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** Sends by a server key, two by default, in a quarter-hour that is settled. */
async function sealed(people = ["ada", "ben"]) {
  const { world, tenant } = await withTenant();
  const server = await tenant.backend("subscribers:write", "messages:send");
  for (const name of people) {
    await world.call("POST /v1/subscribers/upsert", { as: server, body: { external_id: name } });
    const body = { external_ids: [name], title: "Your order", body: "It is on its way." };
    expect((await world.call("POST /v1/notifications", { as: server, body })).status).toBe(201);
  }
  await world.advance(HOUR);
  const jobs = (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`T#${tenant.id}#JOB#api`));
  const keyOf = ({ pk, sk }: (typeof jobs)[number]) => ({ pk: pk.S, sk: sk!.S! });
  return { world, tenant, server, jobs: jobs.map(keyOf), ...auditOf(world, tenant) };
}

describe("the sends of a server key in the audit trail", () => {
  it("sends of a server key are one entry of the audit trail a quarter-hour, which names the key and how many (RDA-23)", async () => {
    const { list, verify } = await sealed();
    const entries = await list();

    expect(entries).toMatchObject([
      {
        action: "notifications.create",
        actor: { type: "server_key" },
        outcome: "ok",
        sends: { count: 2, from: "2026-11-20T12:00:00.000Z", to: "2026-11-20T12:15:00.000Z" },
      },
    ]);
    expect(await verify()).toMatchObject({ valid: true, verified: 1 });
  });

  it("sends of a server key are one entry of the audit trail too where a workspace makes so many that they are in several partitions (RDA-23)", async () => {
    const { world, list, verify } = await sealed(Array.from({ length: 40 }, (_, n) => `person-${n}`));
    const entries = await list();

    expect(entries.map(({ sends }) => sends?.count)).toEqual([40]);
    await world.advance(DAY);
    expect(await list()).toEqual(entries);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it("sends that were sealed get no second entry of the audit trail when their day is counted again (RDA-23)", async () => {
    const { world, list } = await sealed();
    await world.advance(DAY);

    expect(await list()).toHaveLength(1);
  });

  it("sends of a server key break the verification of the audit trail at their entry where one says something else than it said (RDA-23)", async () => {
    const { tenant, jobs, list, verify } = await sealed();
    await tenant.rows.update(jobs[0]!, { set: { title: "Pay here" } });
    const [{ id } = { id: "" }] = await list();

    expect(await verify()).toMatchObject({ valid: false, broken: { id, reason: "sends_changed" } });
  });

  it("sends of a server key break the verification of the audit trail where one is removed (RDA-23)", async () => {
    const { tenant, jobs, verify } = await sealed();
    await tenant.rows.remove(jobs[1]!);

    expect(await verify()).toMatchObject({ valid: false, broken: { reason: "sends_changed" } });
  });

  it("sends of a server key are whole in the audit trail after the erasure of a recipient (RDA-23)", async () => {
    const { world, call, verify } = await sealed();
    const { items } = (await call("GET /api/v1/subscribers?external_id=ada")).body;
    expect((await call(`DELETE /api/v1/subscribers/${items[0].id}`)).status).toBe(204);
    await world.advance(HOUR);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it.each([
    ["for later", (world: TestWorld) => ({ external_ids: ["ada"], scheduled_at: inMs(world, DAY) })],
    ["for many", () => ({ target: { type: "all" } })],
  ])("a send of a server key %s is sealed within the hour, alone (RDA-23)", async (_, to) => {
    const { world, server, list, verify } = await sealed();
    const body = { ...to(world), title: "News", body: "It is here." };
    expect((await world.call("POST /v1/notifications", { as: server, body })).status).toBe(201);
    await world.advance(HOUR);
    const counts = (await list("?action=notifications")).map(({ sends }) => sends?.count);
    expect(counts).toEqual([1, 2]);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it("a verification ends early where many entries of the audit trail seal sends, and the next call goes on (RDA-23, D2)", async () => {
    const { world, tenant } = await withTenant();
    const entry = { action: "notifications.create", actor_type: "server_key", actor: "key", request_id: "" } as const;
    const sendsOf = (quarter: number) => toJson({ quarter, count: 0, sum: "0" });
    const count = 150;
    const entries = Array.from({ length: count }, (_, quarter) => ({ ...entry, sends: sendsOf(quarter) }));
    await addEntries(world, tenant, entries);
    const { call } = auditOf(world, tenant);
    const first = (await call("POST /api/v1/audit/verify", {})).body;
    const second = (await call("POST /api/v1/audit/verify", { cursor: first.next_cursor })).body;

    expect(first).toMatchObject({ valid: true, verified: 100 });
    expect(second).toMatchObject({ valid: true, verified: count - 100, next_cursor: "" });
  });
});
